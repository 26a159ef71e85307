import Lull
import LullCore
import LullDurable
import LullTesting
import TestSupport
import Testing

/// How workers hold, lose and take over runs.
@Suite("Leases")
struct LeaseTests {
    let fixture = WorkerFixture()

    /// Claims as a worker that then dies.
    private func die(_ owner: Int64, lease: CoreDuration = .seconds(30)) async throws -> [DurableRun] {
        try await fixture.memory.claim(
            DurableClaim(
                namespace: "n", terms: DurableClaim.Terms(owner: owner, lease: lease, maxAttempts: 3), limit: 10)
        ).runs
    }

    @Test
    func `heartbeats keep a run as long as its handler takes`() async throws {
        let sync = try await fixture.debouncer()
        let beats = Record<Double>()
        fixture.store.fails { call in
            if case .report(let report) = call, case .heartbeat = report.kind { beats.add(fixture.seconds) }
            return nil
        }
        let workers = (0..<2).map { _ in
            fixture.work(sync) { _ in try await fixture.clock.sleep(for: .seconds(100)) }
        }
        try await sync.submit(1, for: "a")
        await fixture.advance(200)
        #expect(fixture.done.all == ["a=1"] && sync.counters.attempts == 1 && sync.counters.lostLeases == 0)
        #expect(beats.all == Array(stride(from: 12.0, through: 92, by: 10)))
        for worker in workers {
            worker.cancel()
            try await worker.value
        }
    }

    @Test
    func
        `a worker that was stopped past the end of its lease cancels the handler, and reports the loss`()
        async throws
    {
        let sync = try await fixture.debouncer()
        let cancelled = Record<Bool>()
        let worker = fixture.work(sync) { execution in
            // The process was stopped for a minute, and so were its heartbeats: the store has received none.
            do { try await fixture.clock.sleep(for: .seconds(100)) } catch {
                cancelled.add(Task.isCancelled)
                throw error
            }
        }
        fixture.store.fails { call in
            if case .report = call { return .before(.refused("stopped")) }
            return nil
        }
        let receipt = try await sync.submit(1, for: "a")
        await fixture.advance(31)
        #expect(cancelled.all == [])
        // The lease lasts until second 32. Another worker takes over.
        await fixture.clock.advance(by: .seconds(1), until: .started)
        fixture.store.works()
        let run = try #require(try await die(1, lease: .seconds(600)).first)
        #expect(run.attempt == 2)
        await fixture.advance(15)
        #expect(cancelled.all == [true])
        #expect(sync.counters.lostLeases == 1 && fixture.failures.all.contains { $0.contains("lease of run") })
        #expect(try await sync.state(of: receipt) == .running(attempt: 2))
        #expect(fixture.done.all == [])
        worker.cancel()
        try await worker.value
    }

    @Test(arguments: [true, false])
    func `a handler does not begin after the end of its lease`(_ isTakenOver: Bool) async throws {
        let sync = try await fixture.debouncer()
        let isFirst = Guarded(true)
        let clock = fixture.clock
        fixture.store.fails { call in
            // The worker was stopped while it claimed.
            guard case .claim = call, isFirst.exchange(false) else { return nil }
            return .late { try? await clock.sleep(for: .seconds(40)) }
        }
        try await sync.submit(1, for: "a")
        await fixture.advance(2)
        let worker = fixture.work(sync)
        await fixture.advance(31)
        if isTakenOver { #expect(try await die(1, lease: .seconds(600)).first?.attempt == 2) }
        await fixture.advance(10)
        #expect(fixture.done.all == (isTakenOver ? [] : ["a=1"]))
        // It has gone back, and was claimed again without an attempt being spent.
        #expect(sync.counters.attempts == (isTakenOver ? 0 : 1))
        #expect(sync.counters.lostLeases == (isTakenOver ? 1 : 0))
        #expect(sync.counters.failures == 0)
        worker.cancel()
        try await worker.value
    }

    @Test
    func `a sleeping worker takes over what another of its process has let go of`() async throws {
        let sync = try await fixture.debouncer()
        let worker = fixture.work(sync)
        await fixture.advance(0)
        try await sync.submit(1, for: "a")
        // Before the worker looks, another one has the run, and dies with it.
        fixture.store.fails { call in
            if case .claim = call { return .before(.refused("busy")) }
            return nil
        }
        await fixture.advance(2)
        #expect(try await die(1).count == 1)
        fixture.store.works()
        await fixture.advance(32)
        #expect(fixture.done.all == ["a=1"])
        worker.cancel()
        try await worker.value
    }
}
