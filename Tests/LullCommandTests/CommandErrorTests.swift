import CLullCommand
import Foundation
import TestSupport
import Testing

@testable import LullCommand

/// Commands' standard error is forwarded, and its end appears in messages.
@Suite("lull run, standard error of commands", .ownThreads)
struct CommandErrorTests {
    private func run(_ script: String, _ options: String = "", input: String = "x\n") throws -> ToolProcess.Outcome {
        let arguments = ["run", "--wait", "1h"] + options.split(separator: " ").map(String.init)
        return try lull(arguments + ["--", "sh", "-c", script], input: Array(input.utf8))
    }

    @Test func `standard error is forwarded unchanged`() throws {
        let gate = try Gate()
        let process = try ToolProcess([
            "run", "--wait", "0", "--", "sh", "-c", "echo one >&2; \(gate.wait); printf two >&2",
        ])
        process.send("x\n")
        #expect(try process.errorLine() == "one")
        try gate.open()
        let outcome = try process.finish()
        // The output of a command that has not failed is forwarded unchanged, to the byte.
        #expect(outcome.errors == "two")
        #expect(outcome.ending == 0)
    }

    @Test func `the end of standard error is in the message of a failure`() throws {
        #expect(
            try run("echo first >&2; echo; printf 'no such\\tlamp' >&2; exit 3").errorLines == [
                "first", "no such\tlamp", "lull: sh failed with status 3: first / no such?lamp",
            ])
        #expect(try run("exit 3").errors == "lull: sh failed with status 3\n")
        #expect(try run("echo gone >&2; kill $$").errorLines.last == "lull: sh was terminated by signal 15: gone")
    }

    @Test func `messages are short and have no control characters`() throws {
        let key = String(repeating: "k", count: 1000)
        let outcome = try run(
            "printf '%2000s\\033[31mred\\302\\233m\\n%s end' >&2; exit 1", "--key-field 1", input: key + "\n")
        let message = try #require(outcome.errorLines.last)
        #expect(message.hasPrefix("lull: key kkkk") && message.hasSuffix(" end"), "\(message)")
        #expect(message.count < 240)
        #expect(!message.unicodeScalars.contains { $0.properties.generalCategory == .control })
    }

    @Test func `nothing is lost of much output`() throws {
        let text = (0..<100_000).map { "message number \($0)\n" }.joined()
        let outcome = try run("cat >&2; exit 1", "--combine collect", input: text)
        #expect(outcome.errors.hasPrefix(text + "lull: sh failed with status 1: …"))
        #expect(outcome.errors.hasSuffix(" / message number 99998 / message number 99999\n"))
    }

    @Test func `a process that keeps standard error open is not awaited`() throws {
        let gate = try Gate()
        let script = "(\(gate.wait); echo late >&2; sleep 600) & echo $$"
        let process = try ToolProcess(["run", "--wait", "0", "--", "sh", "-c", script])
        process.send("x\n")
        let command = try #require(pid_t(try process.line()))
        try eventually("the command ends") { hasEnded(command) }
        try gate.open()
        // The process that it left behind goes on, and its output is still forwarded.
        #expect(try process.errorLine() == "late")
        #expect(try process.finish().ending == 0)
    }

    @Test func `nothing accumulates if nobody reads`() throws {
        // Standard error is a pipe that is not read: the command blocks, as if the pipe were its own.
        let process = try ToolProcess(["run", "--wait", "0", "--", "sh", "-c", "echo begun; yes >&2"])
        process.send("x\n")
        #expect(try process.line() == "begun")
        try waitUntilIdle(process.group) { #expect(residentKilobytes(process.group) < 60_000) }
        process.signal(SIGKILL)
        _ = try process.end()
    }

    private func residentKilobytes(_ process: pid_t) -> Int {
        let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
    }

    @Test func `commands go on if standard error is closed`() throws {
        let process = try ToolProcess(
            ["run", "--wait", "1h", "--", "sh", "-c", "seq 100000 >&2; echo done"], errors: .closed)
        process.send("x\n")
        process.closeInput()
        #expect(try process.line() == "done")
        #expect(try process.end().ending == 0)
    }

    // MARK: - The tail

    private func lines(_ pieces: String...) -> [String] {
        var errors = StandardErrorTail()
        for piece in pieces { errors.append(Array(piece.utf8)) }
        return errors.lines
    }

    @Test func `the last lines are kept`() {
        #expect(lines() == [])
        #expect(lines("a", "b\n\n", " \nc") == ["ab", "c"])
        #expect(lines("10 %\r20 %\r\ndone\r\n") == ["10 %", "20 %", "done"])
        #expect(lines("\u{1B}[1mé\u{85}\u{7F}\0x") == ["?[1mé???x"])
    }

    @Test func `a partial line is left out`() {
        let many = (0..<1000).map { "line \($0)\n" }.joined()
        #expect(lines(many).first == "line 887" && lines(many).last == "line 999")
        let pieces = (0..<1000).reduce(into: StandardErrorTail()) { $0.append(Array("line \($1)\n".utf8)) }
        #expect(pieces.lines == lines(many))
        // One line longer than the limit, cut in the middle of a character.
        let long = lines(String(repeating: "é", count: 5000) + "x")
        #expect(long == [String(repeating: "é", count: 511) + "x"])
    }
}
