import CLullCommand
import Foundation
import TestSupport
import Testing

/// What users of other programs have reported, tried with the command: docs/faults.md has the reports.
@Suite("Faults of others, with the command", .ownThreads)
struct KnownFaultTests {
    private static let keys = ["9007199254740992", "9007199254740993"]

    private func work(on store: TestStore) throws -> ToolProcess {
        try store.start("work", ["--", "sh", "-c", "echo $LULL_KEY $LULL_COUNT $(cat)"])
    }

    private func end(_ process: ToolProcess) throws {
        process.signal(SIGTERM)
        #expect(try process.finish().ending == -SIGTERM)
    }

    // MARK: - watchdog#997

    /// The flood goes on until the line of the other key has been read.
    @Test(arguments: ["filter", "run", "filter with a store"])
    func `a quiet key runs beside a flood that never pauses`(_ name: String) throws {
        let store = try TestStore()
        let words = name.split(separator: " ").map(String.init)
        let options = (words.count > 1 ? store.option : []) + ["--wait", "100ms", "--key-field", "1"]
        let process = try ToolProcess([words[0]] + options + (words[0] == "run" ? ["--", "cat"] : []))
        process.send("quiet 1\n")
        process.keepSending(String(repeating: "noisy 1\n", count: 100))
        // A machine so busy that the flood itself pauses for 100 ms may execute that before.
        var line = try process.line()
        while line == "noisy 1" { line = try process.line() }
        #expect(line == "quiet 1")
        process.signal(SIGKILL)
        _ = try process.end()
    }

    // MARK: - kubernetes#126027

    @Test func `no delay replaces a long one, and a long one during the run is a run of its own`() throws {
        let store = try TestStore()
        #expect(try store.run("submit --wait 1s --after 5h k far").ending == 0)
        #expect(try store.run("submit --after 0 k now").ending == 0)
        let gate = try Gate()
        let worker = try store.start("work", ["--", "sh", "-c", "echo $LULL_COUNT $(cat); \(gate.wait); echo end"])
        #expect(try worker.line() == "2 now")
        #expect(try store.run("submit --after 5h k later").ending == 0)
        try gate.open()
        #expect(try worker.line() == "end")
        try eventually("the run has ended") { (try? store.status()) == ["pending": 1] }
        let listed = try store.object("list --json")
        let dueIn = try #require(listed["dueIn"] as? Double)
        #expect((17_900...18_000).contains(dueIn) && listed["pending"] as? Int == 1)
        try end(worker)
    }

    @Test func `no delay replaces a long one in a record, too`() throws {
        let filter = try ToolProcess(
            ["filter", "--wait", "1s", "--key-field", "2", "--after-field", "1", "--format", "jsonl"])
        filter.send("5h k far\n0 k now\n")
        #expect(try filter.line().contains(#""value":"0 k now","count":2,"edge":"trailing""#))
        let outcome = try filter.finish()
        #expect(outcome.ending == 0 && outcome.output == "")
    }

    // MARK: - home-assistant#37739

    @Test func `what a killed worker has left is run once, when it is due, by the next one`() throws {
        let store = try TestStore()
        let first = try store.start("filter --wait 2s --key-field 1 --format jsonl")
        let sent = Date()
        first.send("light on\n")
        try eventually("the record is in the store") { (try? store.status()) == ["pending": 1] }
        first.signal(SIGKILL)
        _ = try first.end()
        let next = try store.start("filter --format jsonl")
        let line = try next.line()
        #expect(Date().timeIntervalSince(sent) >= 2)
        let run = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(run["value"] as? String == "light on" && run["count"] as? Int == 1)
        let (at, begin) = (try #require(run["at"] as? Double), try #require(run["first"] as? Double))
        #expect(abs(at - begin - 2) < 0.001, "\(line)")
        let outcome = try next.finish()
        #expect(outcome.ending == 0 && outcome.output == "")
        #expect(try store.status() == [:])
    }

    // MARK: - restate#5017

    @Test func `a delay of 289 years is listed, waits, and is replaced`() throws {
        let store = try TestStore()
        #expect(try store.run("submit --wait 1s --after 2540000h far 1").ending == 0)
        #expect(try store.run("submit --after 0 near 1").ending == 0)
        let worker = try work(on: store)
        #expect(try worker.line() == "near 1 1")
        try eventually("only the far one is left") { (try? store.status()) == ["pending": 1] }
        let dueIn = try #require(try store.object("list --json")["dueIn"] as? Double)
        #expect((2_539_999 * 3600.0...2_540_000 * 3600).contains(dueIn))
        let table = try store.run("list").lines
        #expect(table.last?.wholeMatch(of: /far +pending +105833d +1 +-/) != nil, "\(table)")
        #expect(try store.run("submit --after 0 far 2").ending == 0)
        #expect(try worker.line() == "far 2 2")
        try end(worker)
    }

    // MARK: - riverui#593

    /// As floating-point numbers they are equal.
    @Test func `two large numbers are two keys and stay as they are, taken from JSON by its pointer`() throws {
        let records = Self.keys.map { #"{"id":\#($0),"n":1\#($0)}"# }
        let input = records.map { $0 + "\n" }.joined()
        for command in [["filter"], ["run", "--jobs", "1"]] {
            let rest = command[0] == "run" ? ["--", "cat"] : []
            let outcome = try lull(command + ["--wait", "1h", "--key-json", "/id"] + rest, input: Array(input.utf8))
            #expect(outcome.lines == records, "\(command)")
        }
        let lines = try lull("filter", "--wait", "1h", "--key-json", "/id", "--format", "jsonl", input: input).lines
        for (line, key) in zip(lines, Self.keys) { #expect(line.contains(#""key":\#(key),"#), "\(line)") }
        let trace = Self.keys.map { #"{"at":0,"key":\#($0),"value":\#($0)}"# + "\n" }.joined()
        let simulated = try lull("simulate", "--wait", "1s", "--format", "jsonl", "-", input: trace)
        #expect(
            simulated.lines
                == Self.keys.map { #"{"at":1,"key":\#($0),"value":\#($0),"count":1,"edge":"trailing","first":0}"# })
    }

    @Test func `two large numbers are two keys of a store, too`() throws {
        let store = try TestStore()
        let input = Self.keys.map { #"{"id":\#($0)}"# + "\n" }.joined()
        #expect(try store.run("filter --wait 1h --key-json /id", input: input).ending == 0)
        #expect(try store.run("submit \(Self.keys[1]) last").ending == 0)
        let table = try store.run("list").lines
        #expect(table.dropFirst().map { String($0.prefix(16)) } == Self.keys)
        let listed = try store.run("list --json").lines
        for (line, (key, count)) in zip(listed, zip(Self.keys, [1, 2])) {
            #expect(line.hasPrefix(#"{"key":"\#(key)","pending":\#(count),"#), "\(line)")
        }
        _ = try store.run("flush \(Self.keys[1])")
        let worker = try work(on: store)
        #expect(try worker.line() == "\(Self.keys[1]) 2 last")
        try end(worker)
        #expect(try store.status() == ["pending": 1])
    }
}
