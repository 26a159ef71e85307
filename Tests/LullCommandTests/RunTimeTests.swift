import TestSupport
import Testing

@testable import LullCommand

/// `lull simulate --run-time`: what becomes of values that fall due while an execution is running.
@Suite("lull simulate --run-time", .ownThreads)
struct RunTimeTests {
    /// Two messages, a pause, a third one while the answer is being made, and a last one much later.
    static let conversation = #"""
        {"at":0,"key":"a","value":1}
        {"at":1,"key":"a","value":2}
        {"at":5,"key":"a","value":3}
        {"at":30,"key":"a","value":4}
        """#

    private func simulate(_ options: String, _ trace: String = conversation) throws -> ToolProcess.Outcome {
        try lull(["simulate"] + options.split(separator: " ").map(String.init) + ["-"], input: Array(trace.utf8))
    }

    /// The values, the start and the end, and the outcome of each execution.
    private func story(_ options: String, _ trace: String = conversation) throws -> [String] {
        let outcome = try simulate("--format jsonl --wait 2s --run-time 10s " + options, trace)
        #expect(outcome.ending == 0 && outcome.errors == "")
        return outcome.lines.map { line in
            let parts = line.firstMatch(
                of: #/"value":(?<value>.*),"count".*"started":(?<from>.*),"ended":(?<to>.*),"outcome":"(?<how>.*)"}/#)
            return parts.map { "\($0.value) \($0.from)-\($0.to) \($0.how)" } ?? line
        }
    }

    @Test
    func `a line has when the execution started and ended, and how`() throws {
        let lines = try simulate("--wait 2s --run-time 10s --format jsonl").lines
        #expect(
            lines.first
                == #"{"at":3,"key":"a","value":2,"count":2,"edge":"trailing","first":0,"#
                + #""started":3,"ended":13,"outcome":"executed"}"#
        )
    }

    @Test
    func `under queue it waits, under cancel the running one ends, under skip it is dropped, and concurrent runs both`()
        throws
    {
        #expect(try story("") == ["2 3-13 executed", "3 13-23 executed", "4 32-42 executed"])
        #expect(
            try story("--while-running cancel") == ["2 3-7 cancelled", "3 7-17 executed", "4 32-42 executed"])
        #expect(try story("--while-running skip") == ["2 3-13 executed", "4 32-42 executed"])
        #expect(
            try story("--while-running concurrent") == ["2 3-13 executed", "3 7-17 executed", "4 32-42 executed"])
    }

    @Test
    func `what takes longer than the time limit ends at the limit, and has failed`() throws {
        #expect(try story("--time-limit 4s") == ["2 3-7 failed", "3 7-11 failed", "4 32-36 failed"])
        // One that takes as long as that has run its time.
        #expect(try story("--time-limit 10s") == ["2 3-13 executed", "3 13-23 executed", "4 32-42 executed"])
        #expect(
            try story("--while-running cancel --time-limit 4s")
                == ["2 3-7 cancelled", "3 7-11 failed", "4 32-36 failed"])
        let summary = try simulate("--wait 2s --run-time 10s --time-limit 4s --format json").output
        #expect(summary.contains(#""executions":0,"#) && summary.contains(#""failed":3,"#), "\(summary)")
        #expect(try simulate("--wait 2s --time-limit 4s").errors.contains("--time-limit needs --run-time"))
    }

    @Test
    func `what is due before the end of the trace starts when it is due, whatever the end does`() throws {
        // Nothing is known of the key of the last line, which only tells the time.
        let late = #"{"at":0,"key":"a","value":1}"# + "\n" + #"{"at":9,"op":"cancel","key":"b"}"#
        // The second value is due at once, takes the place of the first, and has started before the end.
        let equal = #"{"at":0,"key":"a","value":1,"wait":"2s"}"# + "\n" + #"{"at":0,"key":"a","value":2,"wait":"0s"}"#
        for end in ["wait", "flush", "drop"] {
            #expect(try story("--at-end \(end)", late) == ["1 2-12 executed"])
            #expect(
                try story("--at-end \(end) --edges both --while-running cancel", equal)
                    == ["1 0-0 cancelled", "2 0-10 executed"])
        }
    }

    @Test
    func `under restart the values of the running one start again with the new one`() throws {
        let options = "--combine collect --while-running restart"
        #expect(
            try story(options) == ["[1,2] 3-7 interrupted", "[1,2,3] 7-17 executed", "[4] 32-42 executed"])
        #expect(
            try story(options + " --interrupt submit") == [
                "[1,2] 3-5 interrupted", "[1,2,3] 7-17 executed", "[4] 32-42 executed",
            ])
        let summary = try simulate("--wait 2s --run-time 10s --format json \(options)").output
        #expect(summary.contains(#""submits":4,"executions":2,"#))
        #expect(summary.contains(#""interrupted":1,"cancelled":0,"failed":0,"skipped":0,"joinedWhileWaiting":0,"#))
    }

    @Test
    func `a touch keeps what is pending waiting, and has no meaning for a key without a submit`() throws {
        let trace = #"""
            {"at":0,"key":"a","op":"touch"}
            {"at":1,"key":"a","value":1}
            {"at":2,"key":"a","op":"touch"}
            {"at":3,"key":"a","op":"touch","wait":"5s"}
            """#
        #expect(try story("", trace) == ["1 8-18 executed"])
    }

    @Test
    func `with --jobs 1 the executions of all keys follow each other, and the delay until the start is shown`() throws {
        let trace = #"""
            {"at":0,"key":"a","value":1}
            {"at":1,"key":"b","value":2}
            """#
        #expect(try story("--jobs 1", trace) == ["1 2-12 executed", "2 12-22 executed"])
        let summary = try simulate("--wait 2s --run-time 10s --jobs 1", trace).output
        #expect(summary.contains("delay from due to the start  p50 0ns, p90 9s, p99 9s, max 9s"))
    }

    @Test
    func `an end comes after what is due at that instant, and before a call at it`() throws {
        let trace = #"""
            {"at":0,"value":1}
            {"at":10,"value":2}
            {"at":12,"value":3}
            """#
        // 2 is due at 12, when 1 ends: it still finds it running. 3 comes after both.
        #expect(
            try story("--while-running skip", trace) == ["1 2-12 executed", "3 14-24 executed"])
    }

    @Test
    func `options without a meaning are refused`() throws {
        for (options, message) in [
            ("--while-running skip", "--while-running needs --run-time"), ("--jobs 2", "--jobs needs --run-time"),
            (
                "--run-time 1s --while-running queue --interrupt due",
                "--interrupt needs --while-running cancel or restart"
            ),
            ("--run-time 1s --combine collect --while-running cancel", "use --while-running restart"),
        ] {
            let outcome = try simulate("--wait 2s \(options)")
            #expect(outcome.ending == 64)
            #expect(outcome.errors.contains(message), "\(outcome.errors)")
        }
    }

    @Test
    func `a command that is stopped for a newer record begins again with all of them`() throws {
        let outcome = try lull(
            [
                "run", "--wait", "20ms", "--combine", "collect", "--while-running", "restart", "--at-end", "wait",
                "--after-field", "2", "--stats", "--", "sh", "-c", "cut -c1; [ $LULL_COUNT = 2 ] || sleep 600",
            ], input: Array("a 20ms\nb 1500ms\n".utf8))
        #expect(outcome.errors.contains("executed 2"), "\(outcome.errors)")
        #expect(outcome.ending == 0)
    }
}
