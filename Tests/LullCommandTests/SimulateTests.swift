import Foundation
import TestSupport
import Testing

@testable import LullCommand

@Suite("lull simulate", .ownThreads)
struct SimulateTests {
    private func simulate(_ options: String, _ trace: String) throws -> ToolProcess.Outcome {
        try lull(["simulate"] + options.split(separator: " ").map(String.init) + ["-"], input: Array(trace.utf8))
    }

    private func executions(_ options: String, _ trace: String) throws -> [String] {
        let outcome = try simulate("--format jsonl " + options, trace)
        #expect(outcome.ending == 0)
        #expect(outcome.errors == "")
        return outcome.lines
    }

    @Test func `each execution is a line`() throws {
        let trace = #"""
            {"at":12.5,"key":"lamp","value":5}
            {"at":12.6,"key":"lamp","value":6}
            {"at":12.8,"key":"lamp","value":7}
            """#
        #expect(
            try executions("--wait 500ms", trace) == [
                #"{"at":13.3,"key":"lamp","value":7,"count":3,"edge":"trailing","first":12.5}"#
            ])
        #expect(
            try executions("--wait 500ms --combine collect", trace) == [
                #"{"at":13.3,"key":"lamp","value":[5,6,7],"count":3,"edge":"trailing","first":12.5}"#
            ])
        #expect(
            try executions("--wait 500ms --combine first", trace) == [
                #"{"at":13.3,"key":"lamp","value":5,"count":3,"edge":"trailing","first":12.5}"#
            ])
    }

    @Test func `the parts of a key follow each other at one instant`() throws {
        let trace = (1...5).map {
            #"{"at":1,"key":"x","value":\#($0)}"# + "\n" + #"{"at":1,"key":"y","value":-\#($0)}"#
        }
        let options = "--wait 1s --combine collect --max-batch 2"
        let expected = [
            ("x", "[1,2]"), ("x", "[3,4]"), ("x", "[5]"), ("y", "[-1,-2]"), ("y", "[-3,-4]"), ("y", "[-5]"),
        ]
        #expect(
            try executions(options, trace.joined(separator: "\n"))
                == expected.map { key, values in
                    let count = values.split(separator: ",").count
                    return #"{"at":2,"key":"\#(key)","value":\#(values),"count":\#(count),"edge":"trailing","first":1}"#
                })
        let summary = try simulate("--format json " + options, trace.joined(separator: "\n"))
        #expect(summary.output.contains(#""submits":10,"executions":6,"#), "\(summary.output)")
    }

    @Test func `many parts of one key do not recurse`() throws {
        let trace = String(repeating: "{\"at\":1}\n", count: 10_000)
        let summary = try simulate("--format json --wait 1s --combine collect --max-batch 1", trace)
        #expect(summary.output.contains(#""submits":10000,"executions":10000,"#), "\(summary.output)")
    }

    @Test func `values pass through unchanged`() throws {
        let value = #"{ "a" : [1.0, 1e2 ,"\u0041\/"] , "b":null }"#
        let lines = try executions(
            "--wait 0", "{\"value\" : \(value) , \"at\" : 1 }\r\n\n  \n{\"at\":2}\n{\"at\":3,\"value\":null}")
        #expect(
            lines == [
                #"{"at":1,"key":null,"value":\#(value),"count":1,"edge":"trailing","first":1}"#,
                #"{"at":2,"key":null,"value":null,"count":1,"edge":"trailing","first":2}"#,
                #"{"at":3,"key":null,"value":null,"count":1,"edge":"trailing","first":3}"#,
            ])
    }

    @Test func `keys are compared by their text`() throws {
        let keys = [
            #""A""#, #""\u0041""#, #"{"k":[1, 2]}"#, #"{ "k" : [1,2] }"#, "1", "1.0", "null", #""null""#, #""a b""#,
            #""ab""#,
        ]
        let trace =
            keys.enumerated().map { #"{"at":0,"key":\#($1),"value":\#($0)}"# }.joined(separator: "\n")
            + "\n{\"at\":0,\"value\":99}"
        let found = try executions("--wait 1s", trace).map { line in
            String(line.dropFirst(#"{"at":1,"key":"#.count).prefix { _ in true }).components(separatedBy: ",\"count\"")[
                0]
        }
        #expect(
            found == [
                #""A","value":1"#, #"{"k":[1,2]},"value":3"#, #"1,"value":4"#, #"1.0,"value":5"#, #"null,"value":99"#,
                #""null","value":7"#, #""a b","value":8"#, #""ab","value":9"#,
            ])
    }

    @Test func `instants are exact`() throws {
        let trace = #"""
            {"at":1714560000.123456789}
            {"at":1714560001.1234567899}
            {"at":17145600021e-1}
            {"at":"2024-05-01T12:40:05.5+02:00"}
            """#
        let ats = try executions("--wait 0", trace).map { $0.components(separatedBy: ",")[0].dropFirst(6) }
        #expect(ats == ["1714560000.123456789", "1714560001.123456789", "1714560002.1", "1714560005.5"])
        #expect(try executions("--wait 500ms", #"{"at":-0.75}"#).first?.hasPrefix(#"{"at":-0.25,"#) == true)
        #expect(
            try executions("--wait 1h", #"{"at":9223372036}"#).first?.hasPrefix(#"{"at":9223372036.854775807,"#) == true
        )
    }

    @Test func `a call may have its own delay`() throws {
        let trace = #"{"at":0,"value":1,"wait":"5s"}"# + "\n" + #"{"at":1,"value":2}"#
        #expect(try executions("--wait 1s", trace).first?.hasPrefix(#"{"at":2,"#) == true)
        #expect(try executions("--wait 1s --delay-rule extend", trace).first?.hasPrefix(#"{"at":5,"#) == true)
        #expect(try executions("--throttle 1s --edges trailing", trace).count == 2)
    }

    @Test func `calls may flush and cancel`() throws {
        let trace = #"""
            {"at":0,"key":"a","value":1}
            {"at":0,"key":"b","value":2}
            {"at":0,"key":"c","value":3}
            {"at":0,"value":4}
            {"at":1,"op":"flush","key":"b"}
            {"at":1,"op":"flush","key":"unknown"}
            {"at":2,"op":"cancel","key":"a"}
            {"at":3,"op":"flush","key":null}
            {"at":3,"key":"d","value":5}
            {"at":4,"op":"cancel"}
            {"at":5,"op":"submit","key":"e","value":6}
            """#
        let lines = try executions("--wait 10s", trace)
        #expect(
            lines == [
                #"{"at":1,"key":"b","value":2,"count":1,"edge":"flush","first":0}"#,
                #"{"at":3,"key":"c","value":3,"count":1,"edge":"flush","first":0}"#,
                #"{"at":3,"key":null,"value":4,"count":1,"edge":"flush","first":0}"#,
                #"{"at":15,"key":"e","value":6,"count":1,"edge":"trailing","first":5}"#,
            ])
    }

    @Test func `--at-end decides about pending values`() throws {
        let trace = #"{"at":1,"value":1}"# + "\n" + #"{"at":2,"value":2}"#
        #expect(
            try executions("--wait 10s --at-end flush", trace) == [
                #"{"at":2,"key":null,"value":2,"count":2,"edge":"flush","first":1}"#
            ])
        #expect(try executions("--wait 10s --at-end drop", trace) == [])
        #expect(try executions("--wait 10s", trace).first?.hasPrefix(#"{"at":12,"#) == true)
        #expect(try executions("--wait 10s", "") == [])
    }

    @Test func `the summary counts and measures`() throws {
        let trace = (0..<10).map { #"{"at":\#(Double($0) / 10),"key":"k\#($0 % 2)"}"# }.joined(separator: "\n")
        let outcome = try simulate("--wait 1s --format json", trace)
        #expect(outcome.lines.count == 1)
        #expect(
            outcome.output
                == #"{"submits":10,"executions":2,"saved":0.8,"delayFromLast":{"p50":1,"p90":1,"p99":1,"max":1},"#
                + #""delayFromFirst":{"p50":1.8,"p90":1.8,"p99":1.8,"max":1.8},"#
                + #""edges":{"leading":0,"trailing":2,"maxWait":0,"maxCount":0,"flush":0},"#
                + #""keys":2,"longestBacklog":2,"span":0.9}"#
                + "\n")
        let table = try simulate("--wait 1s", trace)
        #expect(table.output.contains("executions                   2 (80.0 % saved)"))
        #expect(table.output.contains("delay from the first submit  p50 1.8s, p90 1.8s, p99 1.8s, max 1.8s"))
        let empty = try simulate("--wait 1s --format json", "\n")
        #expect(empty.output.contains(#""submits":0,"executions":0,"saved":0.0,"delayFromLast":null"#))
        #expect(try simulate("--wait 1s", "").output.contains("none"))
    }

    @Test func `durations in the table have three digits`() throws {
        let trace = #"{"at":0}"# + "\n" + #"{"at":0.1234567}"# + "\n" + #"{"at":7.654321}"#
        let table = try simulate("--wait 333333us", trace).output
        #expect(table.contains("delay from the last submit   p50 333ms, p90 333ms, p99 333ms, max 333ms\n"))
        #expect(table.contains("delay from the first submit  p50 333ms, p90 457ms, p99 457ms, max 457ms\n"))
        #expect(table.contains("span of the trace            7.65s\n"))
        let object = try simulate("--wait 333333us --format json", trace).output
        #expect(object.contains(#""delayFromFirst":{"p50":0.333333,"p90":0.4567897,"#))
    }

    @Test func `the delay from the last submit is right under every rule`() throws {
        let trace = #"{"at":0,"value":1}"# + "\n" + #"{"at":0.9,"value":2}"#
        for rule in ["latest", "first", "collect"] {
            let output = try simulate("--wait 1s --format json --combine \(rule)", trace).output
            #expect(output.contains(#""delayFromLast":{"p50":1,"#), "\(rule)")
            #expect(output.contains(#""delayFromFirst":{"p50":1.9,"#), "\(rule)")
            #expect(output.contains(#""longestBacklog":1"#), "\(rule)")
        }
    }

    @Test(arguments: [
        (#"{"at":1}"# + "\n" + #"{"at":0.5}"#, 2, "time runs backwards, from 1 to 0.5"), ("{}", 1, "\"at\" is missing"),
        (#"{"at":null}"#, 1, "\"at\" must be a number of seconds or an RFC 3339 time, not null"),
        (#"{"at":"12.5"}"#, 1, "RFC 3339"),
        (#"{"at":1e10}"#, 1, "292 years"), (#"{"at":9223372036.854775807}"#, 1, "292 years"),
        (#"{"at":"2262-04-11T23:47:16.854775807Z"}"#, 1, "292 years"),
        (#"{"at":"2500-01-01T00:00:00Z"}"#, 1, "292 years"),
        ("\n\n5", 3, "an object is missing"),
        ("{\"at\":1}\n{\"at\":", 2, "a value is missing at column 7"), (#"{"at":1,"op":"frob"}"#, 1, #"not "frob""#),
        (#"{"at":1,"wait":5}"#, 1, "\"wait\" must be a string"),
        (#"{"at":1,"wait":"5"}"#, 1, "has no unit: write 5s or 5ms"),
        (#"{"at":1,"wait":"-5s"}"#, 1, "is negative"), (#"{"at":1} {"at":2}"#, 1, "more text after the value"),
        ("{\"at\":1}\n\0", 2, "an object is missing"),
    ])
    func `bad data is reported with its line`(_ trace: String, _ line: Int, _ message: String) throws {
        let outcome = try simulate("--wait 100ms --format jsonl", trace)
        #expect(outcome.ending == 65)
        #expect(outcome.errorLines.count == 1)
        #expect(outcome.errors.hasPrefix("lull: standard input, line \(line): "), "\(outcome.errors)")
        #expect(outcome.errors.contains(message), "\(outcome.errors)")
    }

    @Test func `bad bytes are bad data`() throws {
        let outcome = try lull(
            ["simulate", "--wait", "1s", "-"],
            input: Array("{\"at\":1,\"value\":\"".utf8) + [0xFF] + Array("\"}\n".utf8))
        #expect(outcome.ending == 65)
        #expect(
            outcome.errors == "lull: standard input, line 1: not a JSON object: a string is not UTF-8 at column 18\n")
        let long = try lull(["simulate", "--wait", "1s", "-"], input: [UInt8](repeating: 32, count: 16 << 20 + 1))
        #expect(long.ending == 65)
        #expect(long.errors.contains("line 1: it is longer than 16 MiB"))
    }

    @Test func `executions before a bad line are written`() throws {
        let outcome = try simulate(
            "--wait 1s --format jsonl", #"{"at":0,"value":1}"# + "\n" + #"{"at":5}"# + "\nnonsense\n")
        #expect(outcome.ending == 65)
        #expect(outcome.lines == [#"{"at":1,"key":null,"value":1,"count":1,"edge":"trailing","first":0}"#])
        #expect(outcome.errors.contains("line 3"))
    }

    @Test func `a bad line changes nothing before it`() throws {
        let lines = (0..<100).map { #"{"at":\#($0),"key":\#($0 % 40),"value":\#($0)}"# }
        let whole = try simulate("--wait 500ms --format jsonl --at-end drop", lines.joined(separator: "\n"))
        let broken = try simulate(
            "--wait 500ms --format jsonl", (lines + ["nonsense"] + lines).joined(separator: "\n"))
        #expect(whole.lines.count == 99)
        #expect(broken.lines == whole.lines)
        #expect(broken.errors.contains("line 101"))
    }

    @Test func `a key exists from its first submit on`() throws {
        let trace = #"""
            {"at":0,"key":"a"}
            {"at":1,"op":"flush","key":"b"}
            {"at":2,"op":"cancel","key":"c"}
            {"at":3,"key":"b"}
            {"at":4,"op":"flush","key":"b"}
            """#
        let executions = try executions("--wait 10s", trace)
        #expect(executions.map { $0.contains(#""key":"b""#) } == [true, false])
        let summary = try simulate("--wait 10s --format json", trace).output
        #expect(summary.contains(#""executions":2,"#))
        #expect(summary.contains(#""keys":2,"#))
    }

    @Test func `output does not wait for the end of the input`() throws {
        let process = try ToolProcess(["simulate", "--throttle", "1s", "--format", "jsonl", "-"])
        process.send("{\"at\":0}\n")
        #expect(try process.line().hasPrefix(#"{"at":0,"#))
        process.closeOutput()
        process.send("{\"at\":10}\n")
        #expect(try process.end().ending == 0)
    }

    @Test func `a trace may be a file`() throws {
        let trace = try TemporaryFile("{\"at\":0}\n{\"at\":1\n")
        let outcome = try lull("simulate", trace.path, "--wait", "1s")
        #expect(outcome.ending == 65)
        #expect(outcome.errors.hasPrefix("lull: \(trace.path), line 2: "))
    }
}
