import CLullSQLite
import Foundation
import TestSupport
import Testing

@testable import LullCommand

/// `--combine merge-json`: JSON Merge Patch, RFC 7396.
@Suite("Merging JSON", .ownThreads)
struct MergeJSONTests {
    private func fold(_ values: String...) throws -> String {
        String(decoding: try JSONMergePatch.fold(values.map { Array($0.utf8) }), as: UTF8.self)
    }

    // MARK: - Folding

    @Test(arguments: [
        (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
        (#"{"a":"b"}"#, #"{"a":null}"#, #"{}"#), (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
        (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
        (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
        (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#), (#"["a","b"]"#, #"["c","d"]"#, #"["c","d"]"#),
        (#"{"a":"b"}"#, #"["c"]"#, #"["c"]"#), (#"{"a":"foo"}"#, "null", "null"),
        (#"{"a":"foo"}"#, #""bar""#, #""bar""#),
        (#"{"e":null}"#, #"{"a":1}"#, #"{"e":null,"a":1}"#), (#"[1,2]"#, #"{"a":"b","c":null}"#, #"{"a":"b"}"#),
        (#"{}"#, #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
    ])
    func `the vectors of RFC 7396, appendix A`(_ original: String, _ patch: String, _ result: String) throws {
        #expect(try fold(original, patch) == result)
    }

    @Test func `what is no object keeps its bytes, and a single value is as it stands`() throws {
        #expect(try fold(#" {"a" : 1 } "#) == #" {"a" : 1 } "#)
        #expect(try fold("{}", #" [ 1.50, "\u00e9" ] "#) == #" [ 1.50, "\u00e9" ] "#)
        #expect(
            try fold(#"{"n": 12345678901234567890.1230e+005, "l": [ 1, null ], "s":"\u00e9"}"#, #"{"m" : 0.10 }"#)
                == #"{"n":12345678901234567890.1230e+005,"l":[ 1, null ],"s":"\u00e9","m":0.10}"#)
        let bytes: [UInt8] = Array(#"{"a":""#.utf8) + [0xFF] + Array(#""}"#.utf8)
        #expect(try JSONMergePatch.fold([Array("{}".utf8), bytes]) == bytes)
    }

    @Test func `members keep the place and the spelling of their first appearance`() throws {
        #expect(try fold(#"{"b":1,"a":2}"#, #"{"a":3,"c":4}"#, #"{"b":5}"#) == #"{"b":5,"a":3,"c":4}"#)
        #expect(try fold(#"{"b":1,"a":2}"#, #"{"b":null}"#, #"{"b":3}"#) == #"{"b":3,"a":2}"#)
        #expect(try fold(#"{"\u0061":1}"#, #"{"a":2}"#) == #"{"\u0061":2}"#)
        #expect(try fold(#"{"a/":1}"#, #"{"a\/":null}"#) == #"{}"#)
        #expect(try fold(#"{"\ud800":1}"#, #"{"\ud801":2}"#) == #"{"\ud800":1,"\ud801":2}"#)
    }

    @Test func `of a name that occurs twice the last member counts`() throws {
        #expect(
            try fold(#"{"a":{"x":1},"a":{"y":2}}"#, #"{"a":{"z":3},"b":1,"a":{"w":4}}"#)
                == #"{"a":{"y":2,"w":4},"b":1}"#)
    }

    @Test func `objects may be as deep as in any record, and no deeper`() throws {
        func nested(_ depth: Int, _ leaf: String) -> String {
            String(repeating: #"{"a":"#, count: depth) + leaf + String(repeating: "}", count: depth)
        }
        #expect(try fold(nested(512, "1"), nested(512, "2")) == nested(512, "2"))
        #expect(throws: JSONScanner.Fault(column: 2561, reason: .tooDeep)) {
            try fold("{}", nested(513, "1"))
        }
        #expect(throws: JSONScanner.Fault(column: 1, reason: .expectedValue)) { try fold("{}", "on") }
    }

    @Test func `any grouping of updates of one state has the same result`() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            let values = (0..<6).map { _ in
                let members = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                    #""\#(["a", "b", "c"].randomElement(using: &random)!)":\#(Int.random(in: 0...9, using: &random))"#
                }
                return Array("{\(members.joined(separator: ","))}".utf8)
            }
            let whole = try JSONMergePatch.fold(values)
            let cut = Int.random(in: 1...5, using: &random)
            let front = try JSONMergePatch.fold(Array(values[..<cut]))
            #expect(try JSONMergePatch.fold([front] + values[cut...]) == whole)
        }
    }

    // MARK: - Without a store

    private static let input = #"""
        {"id":"lamp","state":"ON"}
        {"id":"plug","power":1.50}
        {"id":"lamp","color":{"x":0.10,"y":0.2}}
        {"id":"lamp","color":{"x":0.11},"state":null}

        """#

    @Test func `the parts of a device's state become one record`() throws {
        let outcome = try lull(
            "filter", "--wait", "1h", "--key-json", "/id", "--combine", "merge-json", input: Self.input)
        #expect(outcome.ending == 0 && outcome.errors == "")
        #expect(outcome.lines == [#"{"id":"lamp","color":{"x":0.11,"y":0.2}}"#, #"{"id":"plug","power":1.50}"#])
    }

    @Test func `a command gets the merged record`() throws {
        let outcome = try lull(
            [
                "run", "--wait", "1h", "--combine", "merge-json", "--", "sh", "-c", "echo \"$LULL_COUNT $1\"; cat", "-",
                "{value}",
            ],
            input: Array("{\"a\":1}\n{\"b\":2}\n".utf8))
        #expect(outcome.lines == [#"2 {"a":1,"b":2}"#, #"{"a":1,"b":2}"#])
    }

    @Test func `a record that is not JSON is skipped, or ends the input`() throws {
        let input = "{\"a\":1}\n{a:2}\n\n{\"b\":2}\n"
        let arguments = ["filter", "--wait", "1h", "--combine", "merge-json"]
        let outcome = try lull(arguments, input: Array(input.utf8))
        #expect(outcome.ending == 0)
        #expect(outcome.lines == [#"{"a":1,"b":2}"#])
        #expect(outcome.errors.contains("line 2"), "\(outcome.errors)")
        #expect(
            outcome.errors.contains("it is not JSON: the name of a member is missing at column 2"), "\(outcome.errors)")
        let strict = try lull(arguments + ["--strict"], input: Array(input.utf8))
        #expect(strict.ending == 65)
        #expect(strict.lines == [#"{"a":1}"#])
    }

    @Test func `a simulation shows the merged value, also of what was recorded`() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).jsonl").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let arguments = ["--wait", "1h", "--key-json", "/id", "--combine", "merge-json"]
        _ = try lull(
            ["filter"] + arguments + ["--record", path, "--record-values"], input: Array(Self.input.utf8))
        let outcome = try lull(
            ["simulate", "--wait", "1h", "--combine", "merge-json", "--format", "jsonl", path], input: [])
        #expect(outcome.ending == 0 && outcome.errors == "")
        let values = [
            #""value":{"id":"plug","power":1.50},"count":1"#,
            #""value":{"id":"lamp","color":{"x":0.11,"y":0.2}},"count":3"#,
        ]
        #expect(outcome.lines.count == 2)
        for value in values { #expect(outcome.lines.contains { $0.contains(value) }, "\(outcome.output)") }
    }

    @Test func `an execution that is cancelled would lose values`() throws {
        let outcome = try lull(
            "run", "--wait", "1s", "--combine", "merge-json", "--while-running", "cancel", "--", "true", input: "")
        #expect(outcome.ending == 64)
        #expect(outcome.errors.contains("would lose values of --combine merge-json"), "\(outcome.errors)")
    }

    // MARK: - With a store

    @Test func `a store keeps the values, and who handles them merges them`() throws {
        let store = try TestStore()
        for value in [#"{"a":{"x":1}}"#, #"{"b":2.0}"#, #"{"a":{"y":3}}"#] {
            let outcome = try store.run("submit --wait 1h --combine merge-json lamp", [value])
            #expect(outcome.ending == 0, "\(outcome.errors)")
        }
        // The namespace remembers it: neither the check nor the folding needs the option.
        let bad = try store.run("submit lamp", ["on"])
        #expect(bad.ending == 65)
        #expect(
            bad.errors.contains("the value is not JSON, and was not submitted: a value is missing"), "\(bad.errors)")
        _ = try store.run("flush lamp")
        let worker = try store.start("work", ["--", "sh", "-c", "echo \"$LULL_COUNT $(cat)\""])
        #expect(try worker.line() == #"3 {"a":{"x":1,"y":3},"b":2.0}"#)
        worker.signal(SIGTERM)
        _ = try worker.finish()
    }

    @Test func `a dead run shows the values as they were submitted`() throws {
        let store = try TestStore()
        _ = try store.run(
            "run --wait 0 --combine merge-json --attempts 1 --at-end flush", ["--", "false"],
            input: "{\"a\":1}\n{\"b\":2}\n")
        let dead = try store.run("dead list --json").output
        #expect(dead.contains(#"a\":1"#) || dead.contains(#""a":1"#), "\(dead)")
    }

    @Test func `a namespace that merges does not collect`() throws {
        let store = try TestStore()
        _ = try store.run("submit --wait 1h --combine merge-json k", ["{}"])
        let collecting = try store.run("submit --combine collect k", ["{}"])
        #expect(collecting.ending == 64)
        #expect(
            collecting.errors.contains("--combine merge-json, not --wait 1h --combine collect: its kind"),
            "\(collecting.errors)")
    }

    @Test func `what another program submitted and is not JSON fails, and says so`() throws {
        let store = try TestStore(.file)
        _ = try store.run("submit --wait 1h --combine merge-json k", [#"{"a":1}"#])
        var file: OpaquePointer?
        defer { sqlite3_close_v2(file) }
        #expect(sqlite3_open_v2(store.path + "/store.db", &file, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
        #expect(sqlite3_exec(file, "UPDATE collected SET value = CAST('on' AS BLOB)", nil, nil, nil) == SQLITE_OK)
        _ = try store.run("flush k")
        let worker = try store.start("work --attempts 1", ["--", "cat"])
        #expect(try worker.errorLine().hasSuffix("a value is not JSON: a value is missing at column 1"))
        try eventually("it is dead") { (try? store.status()) == ["dead": 1] }
        worker.signal(SIGTERM)
        _ = try worker.finish()
        #expect(try store.run("dead list").output.contains("a value is not JSON"))
    }
}
