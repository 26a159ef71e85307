import TestSupport
import Testing

@testable import LullCommand

/// `--limit` and `--burst`: how often executions start, of all keys together.
@Suite("--limit", .ownThreads)
struct LimitTests {
    /// Six keys at once.
    private static let trace = (0..<6).map { #"{"at":0,"key":"\#($0)","value":\#($0)}"# }.joined(separator: "\n") + "\n"

    private func simulate(_ options: String...) throws -> ToolProcess.Outcome {
        try lull(["simulate", "--wait", "1s"] + options + ["-"], input: Array(Self.trace.utf8))
    }

    @Test
    func `a simulation shows when executions start`() throws {
        let outcome = try simulate("--limit", "3/10s", "--burst", "2", "--format", "jsonl")
        let starts = outcome.lines.map { $0.firstMatch(of: #/"started":([0-9.]+)/#).map { String($0.1) } ?? $0 }
        #expect(starts == ["1", "1", "6", "11", "16", "21"])
        #expect(outcome.lines.allSatisfy { $0.contains(#""at":1,"#) }, "all of them were due at once")
    }

    @Test
    func `the summary has the delay until the start`() throws {
        #expect(try simulate("--limit", "3/10s").output.contains("delay from due to the start  p50 6.67s"))
    }

    @Test
    func `a flush at the end waits for it`() throws {
        let outcome = try simulate("--limit", "1/1m", "--at-end", "flush", "--format", "jsonl")
        #expect(outcome.lines.count == 6)
        #expect(outcome.lines.last?.contains(#""started":300"#) == true)
    }

    @Test
    func `lull tune counts what starts under it`() throws {
        let calls = (0..<40).map { #"{"at":\#($0 / 2),"key":"\#($0 % 2)","value":1}"# }.joined(separator: "\n")
        func executions(_ options: String...) throws -> String {
            let outcome = try lull(
                ["tune", "--waits", "100ms", "--format", "json"] + options + ["-"], input: Array(calls.utf8))
            return outcome.output.firstMatch(of: #/"executions":([0-9]+)/#).map { String($0.1) } ?? outcome.errors
        }
        #expect(try executions() == "40")
        // Two keys share a start every five seconds: what waits is joined.
        #expect(try executions("--limit", "1/5s") == "6")
    }

    @Test
    func `lull filter writes no faster, and all of it`() throws {
        let outcome = try lull(
            "filter", "--wait", "1ms", "--key-field", "1", "--limit", "2/100ms", "--format", "jsonl",
            input: "a\nb\nc\nd\n")
        #expect(outcome.lines.count == 4)
    }

    @Test(arguments: [
        (["--limit", "3"], "give a number of starts and a time, such as 40/1m, not \"3\""),
        (["--limit", "0/1m"], "give a number of starts and a time"), (["--limit", "3/10"], "\"10\" has no unit"),
        (["--limit", "3/0"], "the time must be more than zero"), (["--burst", "2"], "--burst needs --limit"),
        (["--limit", "3/10s", "--burst", "4"], "--burst is 4, but must be from 1 to the --limit of 3"),
    ])
    func `wrong values are explained`(_ options: [String], _ message: String) throws {
        for subcommand in ["filter", "simulate", "tune"] {
            let wait = subcommand == "tune" ? [] : ["--wait", "1s"]
            let outcome = try lull([subcommand] + wait + options + (subcommand == "filter" ? [] : ["-"]), input: [])
            #expect(outcome.ending == 64)
            #expect(outcome.errors.contains(message), "\(subcommand): \(outcome.errors)")
        }
    }
}
