import CLullCommand
import CLullSockets
import Foundation
import Lull
import LullCore
import TestSupport
import Testing

@testable import LullCommand
@testable import LullInspection

/// `lull top` as a process, on another process.
@Suite("lull top", .ownThreads)
struct TopTests {
    private let socket = ProgramSocket()

    private func errors(of path: String) throws -> String {
        let outcome = try lull("top", path)
        #expect(outcome.ending == 1)
        #expect(outcome.output.isEmpty)
        return outcome.errors
    }

    // MARK: - What it shows

    @Test func `the debouncers of a program are shown by file and line, with their rates, until it ends`() throws {
        let program = try socket.startProgram()
        let top = try ToolProcess(["top", socket.path], environment: ["COLUMNS": "80"])
        // The program makes them one after the other.
        var heads: [String] = []
        while heads.last?.hasSuffix(": 3 debouncers") != true, heads.count < 100 { heads.append(try top.line()) }
        #expect(heads.last == "InspectionChild, process \(program.group): 3 debouncers")
        var lines = try (0..<4).map { _ in try top.line() }
        #expect(
            lines[0].split(separator: " ") == [
                "where", "keys", "pend", "due", "run", "in/s", "out/s", "save", "fail", "policy",
            ])
        func cells(_ line: String) -> [String] { line.split(separator: " ", maxSplits: 9).map(String.init) }
        #expect(lines.dropFirst().allSatisfy { cells($0)[0].wholeMatch(of: /….*d\.swift:\d+/) != nil }, "\(lines)")
        #expect(lines.allSatisfy { $0.count <= 80 }, "\(lines)")
        // Of what was there in the table before, the rates are known.
        _ = try top.line()
        lines = try (0..<4).map { _ in try top.line() }
        for line in lines[1...2] { #expect((Double(cells(line)[5]) ?? 0) > 0, "\(lines)") }
        // The one that gets nothing comes last.
        #expect(lines[3].hasSuffix("  --wait 1h"))
        #expect(cells(lines[3])[1...2] == ["1", "1"] && cells(lines[3])[3] != "-" && cells(lines[3])[5] == "0")
        // It has saved nothing yet: its first execution may be of all submits.
        #expect(cells(lines[3])[7] == "-", "\(lines)")
        program.signal(SIGKILL)
        let outcome = try top.finish()
        #expect(outcome.ending == 0)
        #expect(outcome.errors == "lull: \(socket.path): the program has ended, or lets nobody look any more\n")
        #expect(
            try errors(of: socket.path) == "lull: \(socket.path): nobody listens: the program has ended\n")
    }

    @Test func `a terminal shows one table in place, with as many rows as it has lines for`() throws {
        let program = try socket.startProgram()
        let terminal = try PseudoTerminal()
        let top = try ToolProcess(
            ["top", socket.path], environment: ["LINES": "6", "NO_COLOR": "1"],
            output: .file(terminal.path, O_RDWR))
        func tables() -> [[Substring]] {
            terminal.shown().split(separator: "\u{1B}[H\u{1B}[J").map { $0.split(separator: "\n") }
        }
        try eventually("two tables of three debouncers") {
            tables().dropLast().count { $0[0].hasSuffix(": 3 debouncers") } >= 2
        }
        let full = tables().dropLast().filter { $0[0].hasSuffix(": 3 debouncers") }
        #expect(full.allSatisfy { $0.count == 5 && $0[4] == "and 1 more" }, "\(full)")
        top.signal(SIGINT)
        #expect(try top.finish().ending == -SIGINT)
        withExtendedLifetime(program) {}
    }

    @Test func `a narrow terminal shows no more than it has lines for`() throws {
        let program = try socket.startProgram()
        let terminal = try PseudoTerminal()
        let top = try ToolProcess(
            ["top", socket.path], environment: ["LINES": "6", "COLUMNS": "20", "NO_COLOR": "1"],
            output: .file(terminal.path, O_RDWR))
        func tables() -> [[Substring]] {
            terminal.shown().split(separator: "\u{1B}[H\u{1B}[J")
                .map { $0.split(separator: "\n", omittingEmptySubsequences: false).dropLast() }
        }
        try eventually("two tables") { tables().count > 2 }
        let whole = tables().dropLast()
        #expect(whole.allSatisfy { $0.count <= 5 } && whole.contains { $0.count == 5 }, "\(whole)")
        top.signal(SIGTERM)
        #expect(try top.finish().ending == -SIGTERM)
        withExtendedLifetime(program) {}
    }

    @Test func `a signal ends it also while nobody reads its output`() throws {
        let listener = try socket.startAnswering(
            #"{"lull":1,"process":1,"name":"a","time":1,"left":0,"debouncers":[]}"# + "\n", staysOpen: true,
            repeating: #"{"lull":1,"process":1,"name":"a","time":1,"left":0,"debouncers":[]}"#
                + String(repeating: " ", count: 60_000) + "\n")
        defer { shutdown(listener, Int32(SHUT_RDWR)) }
        let pipe = ProgramSocket().path
        mkfifo(pipe, 0o600)
        defer { unlink(pipe) }
        let end = open(pipe, O_RDWR)
        defer { close(end) }
        let top = try ToolProcess(["top", "--json", socket.path], output: .file(pipe, O_WRONLY))
        var interest = pollfd(descriptor: end, Int32(POLLOUT))
        try eventually("its output is full") { poll(&interest, 1, 0) == 0 }
        top.signal(SIGTERM)
        #expect(try top.end().ending == -SIGTERM)
    }

    @Test func `objects are what the program sends`() throws {
        let program = try socket.startProgram()
        let top = try ToolProcess(["top", "--json", socket.path])
        for _ in 0..<3 {
            let object = try JSONSerialization.jsonObject(with: Data(top.line().utf8)) as? [String: Any]
            #expect(object?["process"] as? Int == Int(program.group))
        }
        top.closeOutput()
        #expect(try top.finish().ending == 0)
    }

    // MARK: - What it says of other paths

    @Test func `a path where no program can be looked into is named, with the reason`() throws {
        let path = socket.path
        #expect(
            try errors(of: path) == "lull: \(path): there is nothing. Start the program with LULL_INSPECT=\(path)\n")
        let file = try TemporaryFile("text")
        #expect(try errors(of: file.path) == "lull: \(file.path): it is no socket of a program\n")
        #expect(try errors(of: "/tmp").hasSuffix("/tmp: it is no socket of a program\n"))
        #expect(
            try errors(of: "/tmp/" + String(repeating: "x", count: 200)).hasSuffix(
                "the path is too long for a socket\n"))
        #expect(try lull("top").ending == 64)
        #expect(try lull("top", path, path).ending == 64)
        #expect(try lull("top", "").errors.contains("PATH is empty"))
    }

    @Test(arguments: [
        "HTTP/1.1 400 Bad Request\r\n\r\n", "\n", "{}\n", "{\"lull\":1}\n", "[1]\n", "no line",
        String(repeating: "[", count: 5000),
        #"{"lull":1,"process":-1,"name":"a","time":1.0,"left":0,"debouncers":[]}"# + "\n",
        #"{"lull":1,"process":1,"name":"a","time":1.0,"left":0,"debouncers":[{"id":1}]}"# + "\n",
    ])
    func `another program is recognised by what it answers`(_ answer: String) throws {
        let listener = try socket.startAnswering(answer)
        defer { shutdown(listener, Int32(SHUT_RDWR)) }
        #expect(
            try errors(of: socket.path)
                == "lull: \(socket.path): the program there is none with LullInspection: it answers something else\n")
    }

    @Test func `a refusal, a newer program, and one that says nothing are told apart`() throws {
        for (answer, message) in [
            (#"{"lull":1,"refused":"no \u001b[1m room"}"# + "\n", "the program refuses: no ?[1m room"),
            (#"{"lull":2}"# + "\n", "the program has a newer Lull than this command"),
            ("", "the program has closed the connection"),
        ] {
            let listener = try socket.startAnswering(answer)
            #expect(try errors(of: socket.path) == "lull: \(socket.path): \(message)\n")
            shutdown(listener, Int32(SHUT_RDWR))
            unlink(socket.path)
        }
    }

    @Test func `a program that sends no line for five seconds is said to be silent, and may go on`() throws {
        var why = [CChar](repeating: 0, count: 256)
        // One that listens, and never takes a connection; one that sends a line bit by bit; and one that is stopped.
        let (deaf, slow) = (ProgramSocket(), ProgramSocket())
        let listener = lull_socket_listen(deaf.path, &why, why.count)
        defer { close(listener) }
        let slowListener = try slow.startAnswering("{\"lull\":1", staysOpen: true, repeating: " ")
        defer { shutdown(slowListener, Int32(SHUT_RDWR)) }
        let program = try socket.startProgram()
        let started = ContinuousClock.now
        let tops = try [deaf, slow, socket].map { try ToolProcess(["top", $0.path]) }
        _ = try tops[2].line()
        program.signal(SIGSTOP)
        func silence(_ socket: ProgramSocket) -> String {
            "lull: \(socket.path): the program does not answer; it may be stopped\n"
        }
        for (top, socket) in zip(tops, [deaf, slow]) {
            let result = try top.finish()
            #expect(result.ending == 1 && result.errors == silence(socket))
        }
        #expect(started.duration(to: .now) < .seconds(9))
        #expect(try tops[2].errorLine() + "\n" == silence(socket))
        program.signal(SIGCONT)
        // More than what came before it was stopped.
        for _ in 0..<15 { _ = try tops[2].line() }
        program.signal(SIGKILL)
        let end = try tops[2].finish()
        #expect(end.ending == 0)
        #expect(end.errors == "lull: \(socket.path): the program has ended, or lets nobody look any more\n")
    }

    @Test func `names that would change the terminal are shown without that`() throws {
        let row = ProgramSnapshot.Row(
            id: 1, place: "M/\u{1B}[31mA.swift:1", kind: "Debouncer", policy: "\u{1B}]0;x\u{7}", keys: 0, pending: 0,
            waiting: 0, dueIn: nil, running: 0, started: 0, submitted: 1 << 52, outcomes: .init(failed: 1 << 52))
        let line = #"{"lull":1,"process":1,"name":"a\u001bb","time":1,"left":0,"debouncers":[]}"#
        let snapshot = try ProgramSnapshot(Array(line.utf8))
        var table = TopTable()
        var text: [UInt8] = []
        table.append(snapshot, width: 80, lines: nil, style: .plain, to: &text)
        #expect(String(decoding: text, as: UTF8.self) == "a?b, process 1: 0 debouncers\n")
        text = []
        let hostile = ProgramSnapshot(process: 1, name: "", time: .max, left: 1 << 52, rows: [row])
        table.append(hostile, width: 80, lines: 1, style: .plain, to: &text)
        table.append(hostile, width: 20, lines: nil, style: .plain, to: &text)
        #expect(!text.contains(0x1B) && !text.contains(7))
    }

    // MARK: - The policy

    @Test(arguments: [
        ("--wait 300ms", try? Setup(.debounce(for: .milliseconds(300)))),
        (
            "--wait 2s --max-wait 1m --max-count 9 --spacing 90s --delay-rule extend --combine first",
            try? Setup(
                .debounce(
                    for: .seconds(2), maxWait: .seconds(60), delayRule: .extend, maxCount: 9, spacing: .seconds(90)),
                combination: .first)
        ),
        ("--wait 0s --edges both", try? Setup(.debounce(for: .zero, edges: [.leading, .trailing]))),
        ("--throttle 1h --edges leading", try? Setup(.throttle(every: .seconds(3600), edges: .leading))),
        (
            "--throttle 1500us --combine collect --max-batch 5 --limit 40/1m --burst 10 --while-running restart "
                + "--interrupt submit",
            try? Setup(
                .throttle(every: .microseconds(1500)), combination: .collect,
                whileRunning: .restart(interrupting: .whenSubmitted), maxBatch: 5,
                limit: RateLimit(40, per: .seconds(60), burst: 10))
        ),
        (
            "--wait 1ms --while-running cancel",
            try? Setup(.debounce(for: .milliseconds(1)), whileRunning: .cancelRunning)
        ),
        ("--wait 1ms --while-running skip", try? Setup(.debounce(for: .milliseconds(1)), whileRunning: .skip)),
        (
            "--wait 1ms --while-running concurrent",
            try? Setup(.debounce(for: .milliseconds(1)), whileRunning: .concurrent)
        ),
    ])
    func `a policy is written in options that mean the same`(_ words: String, _ setup: Setup?) throws {
        let setup = try #require(setup)
        #expect(PolicyWords.text(setup, setup.policy) == words)
        var text = ["run"] + words.split(separator: " ").map(String.init)
        text += ["--", "true"]
        let read = try CStrings.with(text.map { Array($0.utf8) }) { strings in
            Result { try Invocation(.run, strings.compactMap { $0 }).options.policy }
        }.get()
        #expect(read.rateLimit == setup.limit)
        #expect(try read.policy(for: .run) == setup.policy)
        #expect(read.runningRule ?? .queue == setup.whileRunning)
        #expect(read.combination?.combination ?? .latest == setup.combination)
        #expect(read.maxBatch ?? .max == setup.maxBatch)
    }

    @Test func `limits that only a program has are written, too`() throws {
        let setup = try Setup(.debounce(for: .seconds(1)), maxConcurrent: 2, capacity: 3)
        #expect(PolicyWords.text(setup, setup.policy) == "--wait 1s --jobs 2 --max-keys 3")
    }
}
