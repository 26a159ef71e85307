import Foundation
import TestSupport
import Testing

/// `--limit`, `--burst` and `--max-running` with a store: for all keys and all workers together.
@Suite("Limits of a store", .ownThreads)
struct StoreLimitTests {
    private let store: TestStore

    init() throws {
        store = try TestStore()
    }

    @Test func `commands start no faster than --limit says, and all of them run`() throws {
        for key in 0..<4 { _ = try store.run("submit --wait 0 --limit 1/200ms k\(key) v") }
        let worker = try store.start("work --jobs 4", ["--", "date", "+%s%N"])
        let instants = try (0..<4).map { _ in try #require(Int(try worker.line())) }
        worker.signal(SIGTERM)
        _ = try worker.finish()
        // Three times 200 ms, but for the time that the first command takes to begin.
        #expect(instants[3] - instants[0] >= 300_000_000)
        #expect(try store.status() == [:])
    }

    @Test func `no more commands run than --max-running says, though a worker has more slots`() throws {
        for key in 0..<3 { _ = try store.run("submit --wait 0 --max-running 1 k\(key) v") }
        let gate = try Gate()
        let worker = try store.start("work --jobs 4", ["--", "sh", "-c", "echo begun; \(gate.wait)"])
        #expect(try worker.line() == "begun")
        #expect(try store.status() == ["running": 1, "ready": 2])
        let status = try store.object("status --json")
        #expect(status["limited"] as? Int == 2 && status["nextStart"] is NSNull)
        #expect(try store.run("status").output.contains("2 keys wait for --max-running 1"))
        try gate.open()
        for _ in 0..<2 { #expect(try worker.line() == "begun") }
        worker.signal(SIGTERM)
        _ = try worker.finish()
    }

    @Test func `the status says what waits for the limit, and until when`() throws {
        for key in 0..<3 { _ = try store.run("submit --wait 0 --limit 1/1h k\(key) v") }
        let worker = try store.start("work", ["--", "echo", "begun"])
        #expect(try worker.line() == "begun")
        worker.signal(SIGTERM)
        _ = try worker.finish()
        let status = try store.object("status --json")
        #expect(status["limited"] as? Int == 2)
        #expect((status["nextStart"] as? Double ?? 0) > 3000)
        let text = try store.run("status").output
        #expect(text.contains("2 keys wait for --limit; the next start is in"), "\(text)")
        #expect(
            try store.run("status --format openmetrics").output.contains("lull_limited_keys{namespace=\"default\"} 2"))
    }

    @Test func `limits are a part of the policy, which --change-policy changes`() throws {
        #expect(try store.run("submit --wait 5s --limit 40/1m --burst 10 --max-running 5 k v").ending == 0)
        #expect(try store.run("submit --limit 40/1m k v").ending == 0)
        let outcome = try store.run("submit --limit 20/1m k v")
        #expect(outcome.ending == 64)
        #expect(outcome.errors.contains("--limit 40/1m --burst 10 --max-running 5, not"), "\(outcome.errors)")
        #expect(try store.run("submit --limit 20/1m --change-policy k v").ending == 0)
        #expect(try store.run("submit --max-running 6 k v").errors.contains("--max-running 5"))
        let burst = try store.run("submit --limit 20/1m --burst 30 --change-policy k v")
        #expect(burst.errors.contains("--burst is 30, but must be from 1 to the --limit of 20"), "\(burst.errors)")
    }
}
