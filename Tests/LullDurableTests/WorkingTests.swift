import Lull
import LullDurable
import LullTesting
import TestSupport
import Testing

/// Workers and the values that fall due, in virtual time.
@Suite("Workers")
struct WorkingTests {
    let fixture = WorkerFixture()

    @Test
    func `a value is executed once, when its burst is over`() async throws {
        let sync = try await fixture.debouncer()
        let worker = fixture.work(sync)
        try await sync.submit(1, for: "a")
        await fixture.advance(1)
        let receipt = try await sync.submit(2, for: "a")
        #expect(receipt.generation == 2 && receipt.dueIn == .seconds(2))
        await fixture.advance(1.999)
        #expect(fixture.done.all == [])
        await fixture.advance(0.001)
        #expect(fixture.done.all == ["a=2"])
        #expect(try await sync.state(of: receipt) == .executed)
        worker.cancel()
        try await worker.value
        #expect(sync.counters.attempts == 1 && fixture.failures.all == [])
    }

    @Test
    func `the handler receives everything about its execution`() async throws {
        let sync = try await DurableDebouncer<Int, [String]>(
            collectingFor: .seconds(2), maxWait: .seconds(3), namespace: "n", in: fixture.memory,
            clock: fixture.clock)
        let seen = Record<DurableExecution<Int, [String]>>()
        let worker = fixture.clock.task { try await sync.run { seen.add($0) } }
        for value in ["x", "y", "z"] {
            try await sync.submit([value], for: -5)
            await fixture.advance(1.5)
        }
        let execution = try #require(seen.all.first)
        #expect(execution.key == -5 && execution.values == [["x"], ["y"]] && execution.value == ["y"])
        #expect(execution.submits == 1...2 && execution.count == 2 && execution.cause == .maxWait)
        #expect(execution.attempt == 1 && execution.fence >= execution.runID.rawValue)
        worker.cancel()
        try await worker.value
    }

    @Test(arguments: [1, 3, 64])
    func `as many handlers run at once as are allowed, and no key's twice`(limit: Int) async throws {
        let sync = try await fixture.debouncer()
        let running = Guarded<[String]>([])
        let most = Guarded(0)
        let worker = fixture.work(sync, maxConcurrent: limit) { execution in
            let count = running.change { keys in
                #expect(!keys.contains(execution.key))
                keys.append(execution.key)
                return keys.count
            }
            most.change { $0 = max($0, count) }
            try await fixture.clock.sleep(for: .seconds(3))
            running.change { $0.removeAll { $0 == execution.key } }
        }
        for key in 0..<10 { try await sync.submit(key, for: "\(key)") }
        await fixture.advance(3)
        for key in 0..<10 { try await sync.submit(key + 10, for: "\(key)") }
        await fixture.advance(100)
        // A second value of a key that had to wait has replaced the first.
        #expect(fixture.done.all.count == 10 + min(limit, 10) && most.value == min(limit, 10))
        worker.cancel()
        try await worker.value
    }

    @Test
    func `a handler that never returns occupies its key and its slot, and nothing else`() async throws {
        let sync = try await fixture.debouncer()
        let worker = fixture.work(sync, maxConcurrent: 2) { execution in
            if execution.key == "stuck" { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
        }
        let receipt = try await sync.submit(0, for: "stuck")
        await fixture.advance(2, until: .started)
        for key in ["a", "b", "c"] { try await sync.submit(1, for: key) }
        await fixture.advance(2, until: .started)
        await fixture.advance(600, until: .started)
        #expect(fixture.done.all == ["a=1", "b=1", "c=1"])
        #expect(try await sync.state(of: receipt) == .running(attempt: 1))
        worker.cancel()
        await fixture.advance(30, until: .started)
        try await worker.value
        // Given up half-way from the grace to the end of the lease.
        #expect(try await sync.state(of: receipt) == .waitingForRetry(attempt: 0, error: nil))
    }

    @Test
    @MainActor
    func `the handler runs on the actor where it was written`() async throws {
        var seen: [Int] = []
        let sync = try await fixture.debouncer()
        let worker = fixture.clock.task {
            try await sync.run { execution in
                MainActor.assertIsolated()
                seen.append(execution.value)
            }
        }
        try await sync.submit(1, for: "a")
        await fixture.advance(2)
        #expect(seen == [1])
        worker.cancel()
        try await worker.value
    }

    @Test
    func `a handler may submit to its own key, which opens a new burst`() async throws {
        let sync = try await fixture.debouncer()
        let worker = fixture.work(sync) { execution in
            if execution.value < 3 { try await sync.submit(execution.value + 1, for: execution.key) }
        }
        try await sync.submit(1, for: "a")
        await fixture.advance(60)
        #expect(fixture.done.all == ["a=1", "a=2", "a=3"])
        worker.cancel()
        try await worker.value
    }

    @Test
    func `workers on one namespace share its work, each run once`() async throws {
        let sync = try await fixture.debouncer()
        let others = try await fixture.debouncer()
        let workers = [
            fixture.work(sync, maxConcurrent: 3) { _ in try await fixture.clock.sleep(for: .seconds(1)) },
            fixture.work(others, maxConcurrent: 3) { _ in try await fixture.clock.sleep(for: .seconds(1)) },
        ]
        for key in 0..<30 { try await sync.submit(key, for: "\(key)") }
        await fixture.advance(60)
        #expect(fixture.done.all.sorted() == (0..<30).map { "\($0)=\($0)" }.sorted())
        #expect(sync.counters.attempts == 15 && others.counters.attempts == 15)
        for worker in workers {
            worker.cancel()
            try await worker.value
        }
    }

    @Test
    func `one worker after the other, a thousand keys in one go`() async throws {
        let sync = try await fixture.debouncer()
        for key in 0..<1000 { try await sync.submit(key, for: "\(key)") }
        await fixture.advance(2)
        let worker = fixture.work(sync, maxConcurrent: 64)
        await fixture.advance(0)
        #expect(fixture.done.all.count == 1000 && sync.counters.attempts == 1000)
        #expect(try await sync.status().running == 0)
        worker.cancel()
        try await worker.value
    }
}
