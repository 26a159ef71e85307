import CLullCommand
import Foundation
import TestSupport
import Testing

/// How queued, concurrent and cancelled commands run, and how they are stopped.
@Suite("lull run, while commands run", .ownThreads)
struct RunningTests {
    private func start(_ options: String, _ command: String...) throws -> ToolProcess {
        try ToolProcess(["run"] + options.split(separator: " ").map(String.init) + ["--"] + command)
    }

    // MARK: - While a command is running

    /// A command for `--edges leading,trailing`: the first one waits for its gate.
    private func holding(_ gate: Gate, _ rest: String) -> String {
        "echo +$0; [ $0 != 1 ] || \(gate.wait); \(rest)"
    }

    @Test func `queued values wait and the latest is executed`() throws {
        let gate = try Gate()
        let process = try start("--wait 0 --while-running queue", "sh", "-c", holding(gate, "echo -$0"), "{value}")
        process.send("1\n")
        #expect(try process.line() == "+1")
        process.send("2\n3\n")
        process.signal(SIGUSR1)
        _ = try process.errorLine()
        try gate.open()
        let outcome = try process.finish()
        #expect(outcome.lines == ["-1", "+3", "-3"])
    }

    @Test func `concurrent values run at the same time`() throws {
        let gate = try Gate()
        let process = try start(
            "--wait 0 --while-running concurrent --jobs 2", "sh", "-c", holding(gate, "echo -$0"), "{value}")
        process.send("1\n")
        #expect(try process.line() == "+1")
        process.send("2\n")
        #expect(try process.line() == "+2")
        #expect(try process.line() == "-2")
        try gate.open()
        #expect(try process.finish().lines == ["-1"])
    }

    @Test func `skipped values are absorbed`() throws {
        let gate = try Gate()
        let process = try start(
            "--wait 0 --while-running skip --stats", "sh", "-c", holding(gate, "echo -$0"), "{value}")
        process.send("1\n")
        #expect(try process.line() == "+1")
        process.send("2\n")
        process.send("3\n")
        // When the program answers, both have been handled or are still to come; the end of the input flushes what is
        // left.
        try eventually("absorbed") {
            process.signal(SIGUSR1)
            return (try? process.errorLine())?.contains("absorbed 2") == true
        }
        try gate.open()
        let outcome = try process.finish()
        #expect(outcome.lines == ["-1"])
        #expect(outcome.errors.contains("absorbed 2"))
    }

    @Test func `cancelled commands do not count as failures`() throws {
        let process = try start(
            "--wait 0 --while-running cancel --stats", "sh", "-c", "echo +$0; [ $0 = 2 ] || sleep 600", "{value}")
        process.send("1\n")
        #expect(try process.line() == "+1")
        process.send("2\n")
        let outcome = try process.finish()
        #expect(outcome.ending == 0)
        #expect(outcome.lines == ["+2"])
        #expect(
            outcome.errors.contains("executed 1") && outcome.errors.contains("superseded 1")
                && outcome.errorLines.count == 1)
    }

    @Test func `a cancelled command that succeeds counts as executed`() throws {
        let script = "trap 'echo stopped; exit 0' TERM; echo +$0; [ $0 = 2 ] && exit; sleep 600 & wait"
        let process = try start(
            "--wait 0 --while-running cancel --kill-after 200ms --stats", "sh", "-c", script, "{value}")
        process.send("1\n")
        #expect(try process.line() == "+1")
        process.send("2\n")
        let outcome = try process.finish()
        #expect(outcome.ending == 0)
        #expect(outcome.lines == ["stopped", "+2"])
        #expect(outcome.errors.contains("executed 2"))
    }

    @Test func `a command that ignores SIGTERM is killed`() throws {
        let script = "trap '' TERM; echo +$0; [ $0 = 2 ] || sleep 600"
        let process = try start("--wait 0 --while-running cancel --kill-after 200ms", "sh", "-c", script, "{value}")
        process.send("1\n")
        #expect(try process.line() == "+1")
        process.send("2\n")
        let outcome = try process.finish()
        #expect(outcome.ending == 0)
        #expect(outcome.lines == ["+2"])
        #expect(outcome.errors == "")
    }

    @Test func `the whole group is cancelled`() throws {
        let script = "[ $0 = 2 ] && exit; sleep 600 & echo $!; wait"
        let process = try start("--wait 0 --while-running cancel", "sh", "-c", script, "{value}")
        process.send("1\n")
        let grandchild = try #require(pid_t(try process.line()))
        process.send("2\n")
        // The output ends when no process holds it any more.
        #expect(try process.finish().ending == 0)
        try eventually("the end of the grandchild") { hasEnded(grandchild) }
    }

    @Test func `processes left behind by a cancelled command are killed`() throws {
        let script = "[ $0 = 2 ] && exit; (trap '' TERM; sleep 600) & echo $!; wait"
        let process = try start("--wait 0 --while-running cancel --kill-after 300ms", "sh", "-c", script, "{value}")
        process.send("1\n")
        let grandchild = try #require(pid_t(try process.line()))
        process.send("2\n")
        // The program does not end before that, although its command has.
        process.closeInput()
        #expect(try process.end().ending == 0)
        try eventually("the end of the grandchild") { hasEnded(grandchild) }
    }

    @Test func `processes left behind are not awaited and end with the program`() throws {
        let process = try start("--wait 0", "sh", "-c", "sleep 600 >/dev/null 2>&1 & echo $!")
        process.send("x\n")
        let grandchild = try #require(pid_t(try process.line()))
        try eventually("the end of the command") {
            process.signal(SIGUSR1)
            return (try? process.errorLine())?.contains("running 0") == true
        }
        #expect(kill(grandchild, 0) == 0)
        process.closeInput()
        #expect(try process.end().ending == 0)
        try eventually("the end of the grandchild") { hasEnded(grandchild) }
    }

    /// The value 1 leaves a process behind that ignores SIGTERM; the next value looks for it.
    static let leavingBehind = """
        file=$1; [ $0 = 1 ] || { kill -0 $(cat "$file") 2>/dev/null && echo alive || echo gone; exit; }
        (trap '' TERM; sh -c 'echo $PPID' >"$file"; echo ready; sleep 600) & wait
        """

    @Test(arguments: ["cancel", "restart"])
    func `the next command starts when the whole group of the one before it is gone`(_ rule: String) throws {
        let file = try TemporaryFile()
        let process = try start(
            "--wait 0 --while-running \(rule) --kill-after 200ms", "sh", "-c", Self.leavingBehind, "{value}", file.path)
        process.send("1\n")
        #expect(try process.line() == "ready")
        process.send("2\n")
        let outcome = try process.finish()
        #expect(outcome.ending == 0)
        #expect(outcome.lines == ["gone"])
        #expect(outcome.errors == "")
    }

    #if os(Linux)
        /// Its parent has left the group, so that the supervisor sees no end; and it does not wait for it, or late.
        @Test(arguments: [false, true])
        func `a process whose parent has left the group delays the next command no longer than it lives`(
            _ isReaped: Bool
        ) throws {
            let gate = try Gate()
            let parent = isReaped ? "sh -c '\(gate.wait); wait; sleep 600'" : "sleep 600"
            let script = """
                [ $0 = 1 ] || { echo started; exit; }
                sh -c 'sleep 600 & echo $!; exec setsid "$@"' sh \(parent) & wait
                """
            let process = try start(
                "--wait 0 --while-running cancel --kill-after 300ms", "sh", "-c", script, "{value}")
            process.send("1\n")
            let child = try #require(pid_t(try process.line()))
            process.send("2\n")
            if isReaped {
                try eventually("it has ended") { hasEnded(child) }
                try gate.open()
            }
            #expect(try process.line() == "started")
            #expect(hasEnded(child))
            process.closeInput()
            #expect(try process.end().ending == 0)
        }
    #endif

    // MARK: - Signals

    @Test(arguments: [SIGINT, SIGTERM])
    func `a signal ends the input and awaits the commands`(_ number: Int32) throws {
        let gate = try Gate()
        let process = try start(
            "--wait 1h --edges leading,trailing --stats", "sh", "-c", holding(gate, "echo -$0"), "{value}")
        process.send("1\n2\n")
        #expect(try process.line() == "+1")
        process.signal(number)
        process.signal(SIGUSR1)
        // The pending value waits for the running command, which got no signal.
        #expect(try process.errorLine().contains("pending 1, running 1"))
        try gate.open()
        let outcome = try process.finish()
        #expect(outcome.ending == -number)
        #expect(outcome.lines == ["-1", "+2", "-2"])
        #expect(outcome.errors.contains("executed 2"))
    }

    @Test func `a second signal kills the groups`() throws {
        let process = try start(
            "--wait 0", "sh", "-c", "trap '' INT TERM; echo $$; (trap '' INT TERM; sleep 600); echo unreached")
        process.send("1\n")
        let child = try #require(pid_t(try process.line()))
        process.signal(SIGINT)
        process.signal(SIGUSR1)
        _ = try process.errorLine()
        process.signal(SIGINT)
        // The output ends when the whole group has ended.
        let outcome = try process.finish()
        #expect(outcome.ending == -SIGINT)
        #expect(outcome.output == "")
        try eventually("the end of the command") { hasEnded(child) }
    }

    @Test func `a hanging command blocks only its key`() throws {
        let process = try start(
            "--wait 0 --key-field 1 --jobs 2", "sh", "-c", "[ $0 = a ] && sleep 600; echo $0", "{key}")
        process.send("a\nb\n")
        #expect(try process.line() == "b")
        process.send("c\n")
        #expect(try process.line() == "c")
        process.signal(SIGTERM)
        try eventually("one command left") {
            process.signal(SIGUSR1)
            return (try? process.errorLine())?.contains("running 1") == true
        }
        process.signal(SIGTERM)
        #expect(try process.finish().ending == -SIGTERM)
    }
}
