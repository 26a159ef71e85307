import CLullCommand
import Foundation
import TestSupport
import Testing

/// How a process with a store ends, at the end of the input or by a signal. Pending values stay in the store and fall
/// due for any worker.
@Suite("The end of lull with a store", .ownThreads)
struct StoreEndTests {
    private let store: TestStore

    init() throws {
        store = try TestStore()
    }

    @Test(arguments: ["", " --at-end keep"])
    func `pending values stay for any worker`(_ option: String) throws {
        let outcome = try store.run("filter --wait 300ms --key-field 1\(option)", input: "lamp 1\nfan 1\nlamp 2\n")
        #expect(outcome.ending == 0)
        #expect(outcome.output == "")
        #expect(outcome.errors == "")
        let worker = try store.start("work --jobs 1", ["--", "cat"])
        #expect(Set([try worker.line(), try worker.line()]) == ["lamp 2", "fan 1"])
        // A command's output comes before its end, which a signal could still prevent.
        try eventually("both runs are completed") { try store.status() == [:] }
        worker.signal(SIGTERM)
        _ = try worker.finish()
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `a signal leaves everything in the store`(_ number: Int32) throws {
        _ = try store.run("submit --wait 1h theirs 1")
        for command in ["filter", "run"] {
            let process = try store.start(
                "\(command) --key-field 1", command == "run" ? ["--", "echo", "executed"] : [])
            process.send("ours\(command) 1\n")
            try eventually("the record is in the store") {
                (try? store.run("list").output.contains("ours\(command)")) == true
            }
            process.signal(number)
            let outcome = try process.finish()
            #expect(outcome.ending == -number)
            #expect(outcome.output == "")
            #expect(outcome.errors == "")
        }
        #expect(try store.status() == ["pending": 3])
    }

    @Test(
        .timeLimit(.minutes(1)),
        arguments: [
            "filter --namespace n --wait 1h --stats", "filter --namespace n --wait 1h --key-json /a",
            "run --wait 0 -- sh -c LOUD", "work -- sh -c LOUD", "status --watch",
        ] + (ServeProcess.isInstalled ? ["serve --listen 127.0.0.1:0"] : []))
    func `messages that nobody reads keep no program from its end`(_ words: String) throws {
        _ = try store.run("submit --wait 0 k v")
        let pipe = try FullPipe()
        // More than a pipe takes: the command cannot end either.
        let loud = "echo started; head -c 200000 /dev/zero | tr '\\0' x >&2"
        let parts = words.split(separator: " ").map { $0 == "LOUD" ? loud : String($0) }
        let full = ToolProcess.Standard.file(pipe.path, O_WRONLY)
        let process = try ToolProcess(
            [parts[0]] + store.option + parts.dropFirst(), output: parts[0] == "status" ? full : .pipe, errors: full)
        process.send("k v\n")
        if words.hasSuffix("LOUD") { #expect(try process.line() == "started") }
        try waitUntilIdle(process.group)
        process.signal(SIGTERM)
        #expect(try process.end().ending == -SIGTERM)
    }

    @Test func `a flush affects only values submitted by this process alone`() throws {
        _ = try store.run("submit --wait 1h theirs 1")
        _ = try store.run("submit both 1")
        let outcome = try store.run("filter --key-field 1 --at-end flush", input: "ours 1\nboth 2\nalso 1\n")
        #expect(outcome.ending == 0)
        #expect(outcome.lines == ["ours 1", "also 1"])
        #expect(
            outcome.errors == "lull: 1 key stays in the store: other processes may have submitted to it too\n")
        #expect(try store.run("list").lines.dropFirst().map { $0.prefix { $0 != " " } } == ["both", "theirs"])
    }

    @Test func `a drop affects only values submitted by this process alone`() throws {
        _ = try store.run("submit --wait 1h theirs 1")
        _ = try store.run("submit both 1")
        _ = try store.run("submit again 1")
        let outcome = try store.run(
            "filter --key-field 1 --at-end drop", input: "ours 1\nboth 2\nours 2\nagain 2\n")
        #expect(outcome.ending == 0)
        #expect(outcome.output == "")
        #expect(
            outcome.errors == "lull: 2 keys stay in the store: other processes may have submitted to them too\n")
        #expect(try store.run("list").lines.dropFirst().map { $0.prefix { $0 != " " } } == ["again", "both", "theirs"])
    }

    /// A user whose policy waits an hour must not wait for another process's value.
    @Test func `--at-end wait awaits only values of this process`() throws {
        _ = try store.run("submit --wait 100ms --after 1h theirs 1")
        let outcome = try store.run("filter --key-field 1 --at-end wait", input: "ours 1\n")
        #expect(outcome.ending == 0)
        #expect(outcome.lines == ["ours 1"])
        #expect(try store.status() == ["pending": 1])
    }

    @Test func `nothing more is claimed and running commands are awaited`() throws {
        let gate = try Gate()
        let process = try store.start(
            "run --wait 0 --lease 1s --jobs 1 --key-field 1", ["--", "sh", "-c", "cat; \(gate.wait); echo done"])
        process.send("a\nb\nc\n")
        #expect(try process.line() == "a")
        process.signal(SIGTERM)
        // Longer than the lease.
        try store.waitUntilRunning("a", for: 1.5)
        try gate.open()
        let outcome = try process.finish()
        #expect(outcome.ending == -SIGTERM)
        #expect(outcome.lines == ["done"])
        #expect(outcome.errors == "")
        #expect(try store.status() == ["ready": 2])
    }

    @Test func `values due before a flush are executed too`() throws {
        let outcome = try store.run(
            "run --wait 0 --jobs 1 --key-field 1 --at-end flush", ["--", "cat"], input: "a\nb\nc\n")
        #expect(outcome.ending == 0)
        #expect(outcome.lines == ["a", "b", "c"])
        #expect(try store.status() == [:])
    }

    @Test func `a flush awaits its values even in another process`() throws {
        let (ours, theirs) = (try Gate(), try Gate())
        let first = try store.start(
            "run --wait 1h --jobs 1 --key-field 1 --at-end flush", ["--", "sh", "-c", "cat; \(ours.wait)"])
        first.send("a 1\nb 1\n")
        try eventually("the records are in the store") { (try? store.status()) == ["pending": 2] }
        first.closeInput()
        #expect(try first.line() == "a 1")
        let second = try store.start("work", ["--", "sh", "-c", "cat; \(theirs.wait)"])
        #expect(try second.line() == "b 1")
        try ours.open()
        try eventually("the first command is over") { (try? store.status()) == ["running": 1] }
        // It answers, and so has not ended.
        for _ in 0..<3 {
            first.signal(SIGUSR1)
            _ = try first.errorLine()
        }
        try theirs.open()
        #expect(try first.finish().ending == 0)
        second.signal(SIGTERM)
        _ = try second.finish()
        #expect(try store.status() == [:])
    }

    @Test func `--fail-fast starts nothing more and leaves the rest in the store`() throws {
        let outcome = try store.run(
            "run --wait 0 --jobs 1 --key-field 1 --fail-fast --at-end flush", ["--", "false"], input: "a\nb\nc\n")
        #expect(outcome.ending == 1)
        #expect(try store.status() == ["ready": 2, "retrying": 1])
    }

    /// The end of another worker's run makes nothing claimable, and so wakes no worker.
    @Test(arguments: ["wait", "flush"])
    func `the session ends when another worker has done its work`(_ rule: String) throws {
        let gate = try Gate()
        // A record that was due before the end of the input would not be flushed, and not be awaited.
        _ = try store.run("submit --wait \(rule == "flush" ? "1h" : "10ms") x 1")
        _ = try store.run("flush")
        let worker = try store.start("work --lease 1h", ["--", "sh", "-c", "echo begun; \(gate.wait)"])
        #expect(try worker.line() == "begun")
        let session = try store.start("filter --key-field 1 --at-end \(rule)", [])
        session.send("x z\n")
        session.closeInput()
        try eventually("the record is in the store") { (try? store.status()["ready"]) == 1 }
        try gate.open()
        #expect(try session.finish().ending == 0)
        worker.signal(SIGTERM)
        _ = try worker.finish()
        #expect(try store.status() == [:])
    }
}
