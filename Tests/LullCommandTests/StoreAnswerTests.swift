import CLullCommand
import Foundation
import TestSupport
import Testing

@testable import LullCommand

/// What a command says of its run, and how long it may take.
@Suite("Answers and time limits of commands", .ownThreads)
struct StoreAnswerTests {
    private let store: TestStore

    init() throws {
        store = try TestStore()
    }

    /// Handles one record with a shell's program, and returns how `lull run` ended, and the run that is left.
    private func handle(
        _ program: String, _ options: String = "", input: String = "x\n"
    ) throws -> (outcome: ToolProcess.Outcome, run: [String: Any]?) {
        let outcome = try store.run(
            "run --wait 0 --at-end flush \(options)", ["--", "sh", "-c", program], input: input)
        let listed = try store.run("list --json").output.isEmpty ? [:] : try store.object("list --json")
        return (outcome, listed["run"] as? [String: Any])
    }

    private func deadErrors() throws -> [String] {
        try store.run("dead list --json").lines.map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return object?["error"] as? String ?? "-"
        }
    }

    @Test
    func `status 75 is a snooze for the backoff, no attempt and no failure`() throws {
        let (outcome, run) = try handle("exit 75", "--backoff 1h..2h,jitter=0%")
        #expect(outcome.ending == 0 && outcome.errors.contains("snoozed for 1h"), "\(outcome.errors)")
        #expect(run?["state"] as? String == "snoozed" && run?["snoozes"] as? Int == 1)
        #expect(run?["attempt"] as? Int == 0 && run?["error"] is NSNull)
        let cells = try store.run("list").lines[1].split(separator: " ").map(String.init)
        #expect(cells.contains("snoozed") && cells.suffix(3) == ["0,", "1", "snooze"], "\(cells)")
        #expect(try store.object("status --json")["snoozed"] as? Int == 1)
    }

    @Test
    func `status 65 gives the run up, with the end of its standard error`() throws {
        let (outcome, run) = try handle("echo no such document >&2; exit 65")
        #expect(outcome.ending == 1 && outcome.errors.contains("given up in attempt 1, and dead"), "\(outcome.errors)")
        #expect(run == nil)
        #expect(try deadErrors() == ["sh failed with status 65: no such document"])
        #expect(try store.object("status --json")["givenUp"] as? Int == 1)
    }

    @Test(arguments: [
        ("exit 75", "--snooze-status 0", "retrying", 1), ("exit 3", "--snooze-status 3", "snoozed", 0),
        ("exit 65", "--give-up-status 0", "retrying", 1), ("exit 65", "--give-up-status 3", "retrying", 1),
    ])
    func `statuses may be others, or none`(
        program: String, options: String, state: String, ending: Int32
    ) throws {
        let (outcome, run) = try handle(program, options)
        #expect(outcome.ending == ending && run?["state"] as? String == state, "\(outcome.errors)")
    }

    @Test(arguments: [
        ("echo 'retry-after: 2h' >&3; exit 1", "retrying", 7200.0), ("echo 'snooze: 3h' >&3; exit 1", "snoozed", 10800),
        // The last line counts, and more than any status.
        ("echo 'snooze: 1h' >&3; echo 'retry-after: 2h' >&3; exit 75", "retrying", 7200),
        ("printf ' snooze:90m \\r\\n\\n' >&$LULL_ANSWER", "snoozed", 5400),
        // 4 KiB at most: what came first is forgotten.
        ("yes 'retry-after: 9h' | head -n 1000 >&3; echo 'snooze: 1h' >&3; exit 65", "snoozed", 3600),
        // A child that keeps the descriptor open delays nothing.
        ("sleep 600 & echo 'snooze: 1h' >&3; exit 0", "snoozed", 3600),
    ])
    func `a line on descriptor 3 says when to try again`(program: String, state: String, seconds: Double) throws {
        let (outcome, run) = try handle(program)
        #expect(run?["state"] as? String == state, "\(outcome.errors)")
        let left = try #require(run?["retryIn"] as? Double)
        #expect(left <= seconds && left > seconds - 60)
        #expect(outcome.ending == (state == "snoozed" ? 0 : 1))
    }

    @Test(arguments: ["snooze: soon", "snooze", "wait: 1s", "retry-after: 30"])
    func `a line that says nothing is reported, and the status counts`(line: String) throws {
        let (outcome, run) = try handle("echo '\(line)' >&3; exit 75")
        #expect(outcome.errors.contains("sh wrote on descriptor 3: "), "\(outcome.errors)")
        #expect(run?["state"] as? String == "snoozed")
    }

    @Test
    func `a line that says nothing is a failure of a command that would be done`() throws {
        let (outcome, run) = try handle("printf partial >&2; echo snooze >&3")
        #expect(outcome.ending == 1 && run?["state"] as? String == "retrying", "\(outcome.errors)")
        #expect((run?["error"] as? String)?.hasPrefix("sh wrote on descriptor 3: ") == true)
        #expect(outcome.errorLines[0] == "partial" && outcome.errorLines[1].hasPrefix("lull: sh wrote on descriptor 3"))
    }

    @Test
    func `a key that cannot be an argument is given up at once`() throws {
        let outcome = try store.run(
            "run --wait 0 --null --key-field 1 --delimiter", [" ", "--at-end", "flush", "--", "echo", "{key}"],
            input: "ok 1\0")
        #expect(outcome.output == "ok\n")
        _ = try store.run("submit nul", ["-"], input: "a\0b")
        let worker = try store.start("work", ["--", "echo", "{value}"])
        try eventually("it is dead") { (try? store.status()) == ["dead": 1] }
        worker.signal(SIGTERM)
        _ = try worker.finish()
        let errors = try deadErrors()
        #expect(errors.count == 1 && errors[0].contains("a NUL byte cannot be in an argument"), "\(errors)")
        #expect(try store.object("status --json")["attempts"] as? Int == 2)
    }

    @Test
    func `a command that has run for its time limit is stopped, and has failed with that`() throws {
        let (outcome, run) = try handle("sleep 600", "--time-limit 300ms --backoff 1h..1h")
        #expect(outcome.ending == 1)
        #expect(outcome.errors.contains("it was stopped after its time limit of 300ms"), "\(outcome.errors)")
        #expect(run?["error"] as? String == "the time limit of 300 ms was exceeded" && run?["attempt"] as? Int == 1)
    }

    @Test
    func `a command that ends with 0 although its time was over is executed`() throws {
        // Long enough for a shell to begin.
        let program = "trap 'exit 0' TERM; sleep 600 & wait"
        let (outcome, run) = try handle(program, "--time-limit 3s")
        #expect(outcome.ending == 0 && run == nil, "\(outcome.errors)")
        #expect(try store.status() == [:])
    }

    @Test
    func `the signal that stops a command is the one that was asked for`() throws {
        let program = "trap 'echo told; exit 1' USR2; sleep 600 & wait"
        let (outcome, _) = try handle(program, "--time-limit 3s --stop-signal USR2")
        #expect(outcome.output == "told\n", "\(outcome.errors)")
    }

    @Test
    func `a command that does not react is overdue, and killed`() throws {
        let (outcome, run) = try handle(
            "trap '' TERM; sleep 600", "--time-limit 2s --kill-after 4s --backoff 1h..1h")
        #expect(outcome.ending == 1 && run?["attempt"] as? Int == 1)
        #expect(outcome.errors.contains("overdue: it goes on after twice its time limit of 2s"), "\(outcome.errors)")
        #expect(try store.object("status --json")["overdue"] as? Int == 1)
    }

    @Test(arguments: [
        ("--time-limit 0", "--time-limit must be more than zero, not 0"),
        ("--snooze-status 256", "--snooze-status must be an exit status from 1 to 255, or 0 for none, not \"256\""),
        ("--snooze-status 65", "--snooze-status and --give-up-status are both 65: a status says one thing"),
        ("--give-up-status 75", "--snooze-status and --give-up-status are both 75"),
        ("--backoff 1s", "--backoff: give the first and the greatest delay, such as 1s..10m, not \"1s\""),
        ("--backoff 2s..1s", "--backoff: the first of the two must be the shorter one"),
        ("--backoff 1s..2s,factor=0.5", "--backoff: after a comma give factor=2, at least 1, or jitter=50%"),
        ("--stop-signal NO", "--stop-signal must be HUP, INT, QUIT, KILL, USR1, USR2 or TERM, not \"NO\""),
    ])
    func `what cannot be is refused with the rule`(options: String, message: String) throws {
        let outcome = try store.run("run --wait 0 \(options)", ["--", "true"])
        #expect(outcome.ending == 64 && outcome.errors.contains(message), "\(outcome.errors)")
    }

    @Test
    func `without a store a command has its time, too`() throws {
        func run(_ program: String, _ limit: String, _ options: String...) throws -> ToolProcess.Outcome {
            let arguments = ["run", "--wait", "0", "--key-field", "1", "--time-limit", limit] + options
            return try lull(arguments + ["--", "sh", "-c", program], input: Array("a\n".utf8))
        }
        let stopped = try run("sleep 600", "300ms", "--stats")
        #expect(stopped.ending == 1 && stopped.errors.contains("failed 1,"), "\(stopped.errors)")
        #expect(stopped.errors.contains("key a: it was stopped after its time limit of 300ms"), "\(stopped.errors)")
        #expect(try run("trap 'exit 0' TERM; sleep 600 & wait", "3s").ending == 0)
        #expect(try run("echo done", "1m").output == "done\n")
        let hung = try run("trap '' TERM; sleep 600", "2s", "--kill-after", "4s")
        #expect(hung.ending == 1 && hung.errors.contains("key a: overdue: it goes on after twice"), "\(hung.errors)")
    }

    @Test
    func `answers mean nothing without a store, and are refused`() throws {
        for option in ["--snooze-status", "--give-up-status", "--attempts"] {
            let outcome = try lull("run", "--wait", "0", option, "3", "--", "true")
            #expect(outcome.ending == 64 && outcome.errors.contains("\(option) needs --store"), "\(outcome.errors)")
        }
        let outcome = try lull(["run", "--wait", "0", "--", "sh", "-c", "echo [$LULL_ANSWER]; exit 75"], input: [120])
        #expect(outcome.output == "[]\n" && outcome.ending == 1)
    }

    @Test
    func `a pause with a time ends by itself, and the status says when`() throws {
        _ = try store.run("submit --wait 0 k v")
        #expect(try store.run("pause --for 1h --reason 429").output == "paused default for 1h: 429\n")
        let object = try store.object("status --json")
        let left = try #require(object["pauseEndsIn"] as? Double)
        #expect(left > 3500 && left <= 3600)
        let line = try store.run("status").lines[2]
        #expect(line.contains(", until 20") && line.hasSuffix(": 429"), "\(line)")
        #expect(try store.run("pause --for 1s --reason shorter").output.hasSuffix(": 429\n"))
        _ = try store.run("resume")
        _ = try store.run("pause --for 300ms")
        let worker = try store.start("work", ["--", "cat"])
        #expect(try worker.line() == "v")
        worker.signal(SIGTERM)
        _ = try worker.finish()
        #expect(try store.run("pause --for 0").ending == 64)
    }
}
