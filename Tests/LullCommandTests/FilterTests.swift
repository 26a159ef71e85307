import CLullCommand
import Foundation
import TestSupport
import Testing

@Suite("lull filter", .ownThreads)
struct FilterTests {
    private let counters = [
        "submitted", "executed", "superseded", "absorbed", "cancelled", "rejected", "failed", "pending", "running",
    ]

    private func count(_ name: String, in errors: String) -> Int? {
        let pieces = errors.split(whereSeparator: { $0 == "," || $0 == "\n" })
        return pieces.first { $0.contains("\(name) ") }.flatMap { $0.split(separator: " ").last }.flatMap { Int($0) }
    }

    // MARK: - Records

    @Test func `the last record of each burst is written`() throws {
        let outcome = try lull(
            "filter", "--wait", "1h", "--key-field", "1", "--stats", input: "a 1\nb 2\na 3\nb 4\nc 5\n")
        #expect(outcome.ending == 0)
        #expect(outcome.lines == ["a 3", "b 4", "c 5"])
        for (name, expected) in zip(counters, [5, 3, 2, 0, 0, 0, 0, 0, 0]) {
            #expect(count(name, in: outcome.errors) == expected, "\(name)")
        }
        #expect(outcome.errorLines.count == 1 && outcome.errors.hasPrefix("lull: "))
    }

    @Test(arguments: [
        ("latest", "a3\n", 2, 0), ("first", "a1\n", 0, 2), ("collect", "a1\na2\na3\n", 0, 0),
    ])
    func `records are combined`(_ rule: String, _ output: String, _ superseded: Int, _ absorbed: Int) throws {
        let outcome = try lull("filter", "--wait", "1h", "--combine", rule, "--stats", input: "a1\na2\na3\n")
        #expect(outcome.output == output)
        #expect(count("superseded", in: outcome.errors) == superseded)
        #expect(count("absorbed", in: outcome.errors) == absorbed)
    }

    @Test func `an execution has at most maxBatch records`() throws {
        let outcome = try lull(
            "filter", "--wait", "1h", "--combine", "collect", "--max-batch", "2", "--format", "jsonl", "--stats",
            input: "a\nb\nc\nd\ne\n")
        #expect(outcome.lines.count == 3, "\(outcome.output)")
        for (line, value) in zip(
            outcome.lines, [#"["a","b"],"count":2"#, #"["c","d"],"count":2"#, #"["e"],"count":1"#])
        {
            #expect(line.contains(#""value":\#(value),"edge":"flush""#), "\(line)")
        }
        #expect(count("submitted", in: outcome.errors) == 5 && count("executed", in: outcome.errors) == 5)
    }

    @Test func `empty records and carriage returns are kept`() throws {
        #expect(try lull("filter", "--wait", "0", input: "\n\na\r\n\n").output == "\n\na\r\n\n")
        #expect(try lull("filter", "--wait", "0", input: "").output == "")
        #expect(try lull("filter", "--wait", "0", input: "a\nb").output == "a\nb\n")
    }

    @Test func `NUL mode ends records in NUL`() throws {
        #expect(try lull("filter", "--wait", "0", "--null", input: "a\nb\0c\0d").output == "a\nb\0c\0d\0")
    }

    @Test func `invalid UTF-8 passes through`() throws {
        let bytes: [UInt8] = [0xFF, 0xFE, 0x00, 0x80, 10, 0xC3, 10]
        #expect(try lull(["filter", "--wait", "0"], input: bytes).outputBytes == bytes)
        let outcome = try lull(["filter", "--wait", "0", "--format", "jsonl", "--key-field", "1"], input: bytes)
        #expect(outcome.lines.first?.contains(#""key":{"base64":"//4AgA=="},"value":{"base64":"//4AgA=="}"#) == true)
    }

    @Test func `keys come from JSON`() throws {
        let input = #"""
            {"d":{"id":"a"},"v":1}
            {"d":{"id":"\u0061"},"v":2}
            {"d":{"id":1},"v":3}
            {"d":{"id":null},"v":4}
            """#
        let outcome = try lull("filter", "--wait", "1h", "--key-json", "/d/id", "--format", "jsonl", input: input)
        #expect(outcome.ending == 0)
        #expect(outcome.lines.count == 3)
        #expect(
            outcome.lines[0].contains(#""key":"a","value":"{\"d\":{\"id\":\"\\u0061\"},\"v\":2}","count":2"#),
            "\(outcome.lines[0])")
        #expect(outcome.lines[1].contains(#""key":1,"#))
        #expect(outcome.lines[2].contains(#""key":null,"#))
    }

    @Test func `records without their key are reported and skipped`() throws {
        let outcome = try lull("filter", "--wait", "1h", "--key-field", "2", input: "a 1\nb\nc 1\n")
        #expect(outcome.ending == 0)
        #expect(outcome.output == "c 1\n")
        #expect(outcome.errors == "lull: line 2 skipped: it has no field 2 (the first is 1)\n")
        let json = try lull("filter", "--wait", "1h", "--key-json", "/k", input: "{\"k\":1}\n{\"k\":\n{}\n")
        #expect(json.ending == 0)
        #expect(json.output == "{\"k\":1}\n")
        #expect(
            json.errorLines == [
                "lull: line 2 skipped: it is not JSON: a value is missing at column 6",
                "lull: line 3 skipped: it has no value at the pointer",
            ])
    }

    @Test func `a record may have a delay of its own`() throws {
        let input = "a 40ms\nb 20ms\nc 30ms\nd 0\n"
        let fields = ["filter", "--wait", "1h", "--at-end", "wait", "--key-field", "1", "--after-field", "2"]
        #expect(try lull(fields, input: Array(input.utf8)).output == "d 0\nb 20ms\nc 30ms\na 40ms\n")
        let delimited = Array("a,,20ms\nb,,0\n".utf8)
        #expect(
            try lull(
                [
                    "filter", "--wait", "1h", "--at-end", "wait", "--key-field", "1", "--after-field", "3",
                    "--delimiter", ",",
                ],
                input: delimited
            ).output == "b,,0\na,,20ms\n")
        let json = "{\"k\":1,\"d\":\"20ms\"}\n{\"k\":2,\"d\":\"\\u0031ms\"}\n"
        let outcome = try lull(
            "filter", "--wait", "1h", "--at-end", "wait", "--key-json", "/k", "--after-json", "/d", input: json)
        #expect(outcome.ending == 0)
        #expect(outcome.lines == ["{\"k\":2,\"d\":\"\\u0031ms\"}", "{\"k\":1,\"d\":\"20ms\"}"])
    }

    @Test func `records without their delay are reported and skipped`() throws {
        let fields = try lull(
            "filter", "--wait", "0", "--after-field", "2", "--stats", input: "a 1ms\nb\nc soon\nd 5\ne -1s\n")
        #expect(fields.ending == 0)
        #expect(fields.output == "a 1ms\n")
        #expect(
            fields.errorLines.dropLast() == [
                "lull: line 2 skipped: it has no field 2 (the first is 1)",
                "lull: line 3 skipped: its delay \"soon\" is not a duration: write a number with one of the units "
                    + "ns, us, ms, s, m, h, d, w, such as 300ms",
                "lull: 3 records skipped: unreadable delay",
            ])
        #expect(count("skipped", in: fields.errors) == 4)
        let json = try lull("filter", "--wait", "0", "--after-json", "/d", input: "{\"d\":5}\n{}\nx\n")
        #expect(json.output == "")
        #expect(json.errorLines.first == "lull: line 1 skipped: its delay must be a string such as \"500ms\", not 5")
        #expect(json.errorLines.count == 3)
        // A throttle ignores delays, but no record goes unread.
        let throttled = try lull("filter", "--throttle", "1h", "--after-field", "1", input: "1ms\n5\n1h\n")
        #expect(throttled.output == "1ms\n1h\n")
        let strict = try lull("filter", "--wait", "0", "--after-field", "1", "--strict", input: "0\nsoon\n0\n")
        #expect(strict.ending == 65)
        #expect(strict.output == "0\n")
        #expect(strict.errors.hasPrefix("lull: line 2: its delay \"soon\" is not a duration"))
    }

    @Test func `a spacing holds back what is not flushed`() throws {
        let outcome = try lull(
            ["filter", "--wait", "0", "--spacing", "50ms", "--at-end", "wait", "--format", "jsonl"],
            input: Array("a\nb\nc\n".utf8))
        #expect(outcome.lines.count == 2)
        #expect(outcome.lines.last?.contains(#""value":"c","count":2,"edge":"trailing""#) == true, "\(outcome.output)")
        #expect(try lull("filter", "--wait", "0", "--spacing", "1h", input: "a\nb\nc\n").output == "a\nc\n")
    }

    @Test(arguments: [("flush", "a 1\n", 0), ("drop", "", 1), ("wait", "a 1\n", 0)])
    func `strict mode ends at a bad record`(_ rule: String, _ output: String, _ cancelled: Int) throws {
        let outcome = try lull(
            "filter", "--wait", "50ms", "--key-field", "2", "--strict", "--at-end", rule, "--stats",
            input: "a 1\nb\nc 1\n")
        #expect(outcome.ending == 65)
        #expect(outcome.output == output)
        #expect(outcome.errorLines.first == "lull: line 2: it has no field 2 (the first is 1)")
        #expect(count("cancelled", in: outcome.errors) == cancelled)
    }

    @Test func `a record that is too long is reported and skipped`() throws {
        let long = [UInt8](repeating: 120, count: 16 << 20)
        let input = Array("before\n".utf8) + long + Array("\n".utf8) + long + Array("x\nafter\n".utf8)
        let outcome = try lull(["filter", "--wait", "0"], input: input)
        #expect(outcome.ending == 65)
        #expect(outcome.outputBytes.count == 7 + long.count + 1 + 6)
        #expect(outcome.errors == "lull: line 3 skipped: it is longer than 16 MiB\n")
    }

    @Test func `open keys are bounded`() throws {
        let outcome = try lull(
            "filter", "--wait", "1h", "--key-field", "1", "--max-keys", "2", "--stats", input: "a 1\nb 1\nc 1\na 2\n")
        #expect(outcome.ending == 0)
        #expect(outcome.lines == ["a 2", "b 1"])
        #expect(outcome.errorLines.first == "lull: line 3 skipped: 2 keys are in memory already")
        #expect(count("rejected", in: outcome.errors) == 1)
    }

    // MARK: - Policies

    @Test func `executions are on the given edges`() throws {
        let input = "1\n2\n3\n4\n5\n"
        #expect(try lull("filter", "--wait", "1h", "--edges", "leading", input: input).output == "1\n")
        #expect(try lull("filter", "--wait", "1h", "--edges", "leading,trailing", input: input).output == "1\n5\n")
        #expect(try lull("filter", "--throttle", "1h", input: input).output == "1\n5\n")
        #expect(try lull("filter", "--throttle", "1h", "--edges", "trailing", input: input).output == "5\n")
        #expect(try lull("filter", "--wait", "1h", "--max-count", "2", input: input).output == "2\n4\n5\n")
        let jsonl = try lull(
            "filter", "--wait", "1h", "--max-count", "2", "--combine", "collect", "--format", "jsonl", input: input)
        #expect(jsonl.lines.map { $0.contains("maxCount") } == [true, true, false])
        #expect(jsonl.lines.first?.contains(#""value":["1","2"],"count":2,"edge":"maxCount""#) == true)
        #expect(jsonl.lines.last?.contains(#""value":["5"],"count":1,"edge":"flush""#) == true)
    }

    @Test func `output is written when it is due`() throws {
        let process = try ToolProcess(["filter", "--wait", "100ms", "--format", "jsonl"])
        for round in 1...3 {
            process.send("a\nb \(round)\n")
            // The input stays open: nothing but the quiet period releases this line.
            let line = try process.line()
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            #expect(object["value"] as? String == "b \(round)")
            #expect(object["edge"] as? String == "trailing")
            let at = try #require(object["at"] as? Double)
            let first = try #require(object["first"] as? Double)
            #expect(at - first > 0.0999)
        }
        #expect(try process.finish().output == "")
    }

    @Test func `a stream that never pauses is executed after maxWait`() throws {
        let process = try ToolProcess(["filter", "--wait", "300ms", "--max-wait", "400ms", "--format", "jsonl"])
        // On a busy machine a pause may exceed the quiet period; sooner or later none does.
        while !(try process.line(sending: "x\n")).contains(#""edge":"maxWait""#) {}
        process.signal(SIGKILL)
        _ = try process.end()
    }

    @Test func `values due while the process was stopped are written promptly and once`() throws {
        let process = try ToolProcess(["filter", "--wait", "200ms", "--key-field", "1", "--format", "jsonl"])
        process.send("b 1\na 1\n")
        try process.waitUntilRead(2)
        process.signal(SIGSTOP)
        // As long as another one waits.
        #expect(try lull("filter", "--wait", "250ms", "--at-end", "wait", input: "c 1\n").output == "c 1\n")
        process.signal(SIGCONT)
        #expect(try process.line().contains(#""value":"b 1","count":1,"edge":"trailing""#))
        #expect(try process.line().contains(#""value":"a 1","count":1,"edge":"trailing""#))
        #expect(try process.finish().output == "")
    }

    @Test func `keys are independent and ordered by instant`() throws {
        let process = try ToolProcess(["filter", "--wait", "300ms", "--key-field", "1"])
        process.send("b 1\n")
        try process.waitUntilRead(1)
        process.send("a 1\n")
        #expect(try process.line() == "b 1")
        #expect(try process.line() == "a 1")
        _ = try process.finish()
    }

    @Test func `pending values are awaited or dropped at the end`() throws {
        let start = Date()
        #expect(try lull("filter", "--wait", "300ms", "--at-end", "wait", input: "a\n").output == "a\n")
        #expect(Date().timeIntervalSince(start) >= 0.3)
        let dropped = try lull("filter", "--wait", "300ms", "--at-end", "drop", "--stats", input: "a\nb\n")
        #expect(dropped.output == "")
        #expect(count("cancelled", in: dropped.errors) == 1)
    }

    // MARK: - Signals and pipes

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `a signal ends the input`(_ number: Int32) throws {
        let process = try ToolProcess(["filter", "--wait", "1h", "--edges", "leading,trailing", "--stats"])
        process.send("first\nsecond\n")
        #expect(try process.line() == "first")
        process.signal(number)
        #expect(try process.line() == "second")
        #expect(try process.errorLine().contains("executed 2"))
        #expect(try process.end().ending == -number)
    }

    @Test func `a second signal ends at once`() throws {
        let process = try ToolProcess(["filter", "--wait", "1h", "--edges", "leading,trailing", "--at-end", "wait"])
        process.send("first\nsecond\n")
        #expect(try process.line() == "first")
        process.signal(SIGINT)
        // A program that has handled the first signal still answers SIGUSR1.
        process.signal(SIGUSR1)
        #expect(try process.errorLine().contains("pending 1"))
        process.signal(SIGTERM)
        let outcome = try process.finish()
        #expect(outcome.ending == -SIGTERM)
        #expect(outcome.output == "")
    }

    @Test func `counters are printed at any time`() throws {
        let process = try ToolProcess(["filter", "--wait", "1h", "--edges", "leading,trailing"])
        process.send("a\nb\nc\n")
        #expect(try process.line() == "a")
        process.signal(SIGUSR1)
        let line = try process.errorLine()
        for (name, expected) in zip(counters, [3, 1, 1, 0, 0, 0, 0, 1, 0]) {
            #expect(count(name, in: line) == expected, "\(name)")
        }
        #expect(try process.finish().output == "c\n")
    }

    @Test func `a closed pipe ends the program quietly`() throws {
        let waiting = try ToolProcess(["filter", "--wait", "1h"])
        waiting.send("a\n")
        waiting.closeOutput()
        let outcome = try waiting.end()
        #expect(outcome.ending == 0)
        #expect(outcome.errors == "")
        let writing = try ToolProcess(["filter", "--wait", "0"])
        writing.send("a\n")
        #expect(try writing.line() == "a")
        writing.closeOutput()
        writing.send("b\n")
        #expect(try writing.end().ending == 0)
    }

    @Test func `a slow reader blocks the output but not signals`() throws {
        // Not a pipe of the process, of which each look at the errors reads a part.
        let pipe = try FullPipe()
        let process = try ToolProcess(["filter", "--wait", "0"], output: .file(pipe.path, O_WRONLY))
        process.keepSending(String(repeating: "x", count: 999) + "\n")
        var counts = ("", "all")
        while counts.0 != counts.1 {
            process.signal(SIGUSR1)
            counts = (counts.1, try process.errorLine())
        }
        process.signal(SIGUSR1)
        #expect(try process.errorLine().contains("submitted"))
        process.signal(SIGINT)
        process.signal(SIGUSR1)
        _ = try process.errorLine()
        process.signal(SIGINT)
        #expect(try process.end().ending == -SIGINT)
    }

    @Test func `large input goes through whole`() throws {
        let line = String(repeating: "x", count: 99)
        let input = (0..<50_000).map { "\($0) \(line)\n" }.joined()
        #expect(try lull("filter", "--wait", "0", input: input).output == input)
        #expect(try lull("filter", "--wait", "1h", "--combine", "collect", input: input).output == input)
    }
}
