import CLullCommand
import TestSupport
import Testing

/// A namespace whose runs are restarted: what a newer value does to a command that runs, here or in another process.
@Suite("--while-running restart with a store", .ownThreads)
struct StoreRestartTests {
    private let store: TestStore
    private let policy = "--wait 20ms --combine collect --while-running restart"

    init() throws {
        store = try TestStore()
    }

    /// A command that prints its records, and ends if there are so many; otherwise it goes on.
    private func command(endingAt last: Int) -> [String] {
        ["--", "sh", "-c", "echo $(cat); [ $LULL_COUNT = \(last) ] && exit; sleep 600 & wait"]
    }

    @Test
    func `another process's value interrupts the command of lull work, long before a heartbeat would tell`() throws {
        _ = try store.run("submit \(policy) chat 1")
        let worker = try store.start("work --lease 10m", command(endingAt: 3))
        #expect(try worker.line() == "1")
        _ = try store.run("submit chat 2")
        #expect(try worker.line() == "1 2")
        _ = try store.run("submit chat 3")
        #expect(try worker.line() == "1 2 3")
        try eventually("all is done") { (try? store.status()) == [:] }
        #expect(try store.object("status --json")["restarted"] as? Int == 2)
        worker.signal(SIGTERM)
        let outcome = try worker.finish()
        #expect(outcome.ending == -SIGTERM)
        #expect(outcome.errors == "")
    }

    @Test
    func `a command that was interrupted has not failed`() throws {
        let process = try store.start("run --at-end wait --fail-fast \(policy)", command(endingAt: 2))
        process.send("1\n")
        #expect(try process.line() == "1")
        process.send("2\n")
        #expect(try process.line() == "1 2")
        let outcome = try process.finish()
        #expect(outcome.ending == 0)
        #expect(outcome.errors == "")
    }

    @Test(arguments: ["run --at-end wait", "work --wait 20ms --combine collect"])
    func `the next command starts when the whole group of the interrupted one is gone`(_ subcommand: String) throws {
        let file = try TemporaryFile()
        let command = ["--", "sh", "-c", RunningTests.leavingBehind, "{count}", file.path]
        let rules = subcommand.hasPrefix("run") ? policy : "--while-running restart"
        let process = try store.start("\(subcommand) \(rules) --kill-after 200ms", command)
        if subcommand.hasPrefix("run") { process.send("1\n") } else { _ = try store.run("submit \(policy) k 1") }
        #expect(try process.line() == "ready")
        if subcommand.hasPrefix("run") { process.send("2\n") } else { _ = try store.run("submit k 2") }
        #expect(try process.line() == "gone")
        try eventually("all is done") { (try? store.status()) == [:] }
        process.signal(SIGTERM)
        #expect(try process.finish().ending == -SIGTERM)
    }

    @Test
    func `the rule is the namespace's: later uses may leave it out, and cannot change it`() throws {
        _ = try store.run("submit \(policy) --interrupt submit k v")
        for same in ["--while-running restart", "--while-running restart --interrupt submit", ""] {
            #expect(try store.run("submit \(same) k v").ending == 0)
        }
        for other in ["--while-running queue", "--while-running restart --interrupt due"] {
            let outcome = try store.run("submit \(other) --change-policy k v")
            #expect(outcome.ending == 64)
            #expect(outcome.errors.contains("has --wait 20ms --combine collect --while-running restart"))
            #expect(outcome.errors.contains("--while-running cannot change"), "\(outcome.errors)")
        }
    }
}
