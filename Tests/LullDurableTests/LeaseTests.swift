import Lull
import LullCore
import LullDurable
import LullTesting
import TestSupport
import Testing

/// Who has a run, and how it is lost and taken over.
@Suite("Leases")
struct LeaseTests {
    let bench = Bench()

    /// Claims as a worker would that then dies.
    private func die(_ owner: Int64, lease: CoreDuration = .seconds(30)) async throws -> [DurableRun] {
        try await bench.memory.claim(
            DurableClaim(
                namespace: "n", terms: DurableRow.Claim(owner: owner, lease: lease, maxAttempts: 3), limit: 10)
        ).runs
    }

    @Test("heartbeats keep a run as long as its handler takes")
    func heartbeats() async throws {
        let sync = try await bench.debouncer()
        let beats = Record<Double>()
        bench.store.fails { call in
            if case .report(let report) = call, case .heartbeat = report.kind { beats.add(bench.seconds) }
            return nil
        }
        let workers = (0..<2).map { _ in
            bench.work(sync) { _ in try await bench.clock.sleep(for: .seconds(100)) }
        }
        try await sync.submit(1, for: "a")
        await bench.advance(200)
        #expect(bench.done.all == ["a=1"] && sync.counters.attempts == 1 && sync.counters.lostLeases == 0)
        #expect(beats.all == (1...9).map { 2 + 10 * Double($0) })
        for worker in workers {
            worker.cancel()
            try await worker.value
        }
    }

    @Test("the run of a worker that died is taken over when its lease ends, and counts as an attempt")
    func takenOver() async throws {
        let sync = try await bench.debouncer()
        let receipt = try await sync.submit(1, for: "a")
        await bench.advance(2)
        let run = try #require(try await die(1).first)
        let seen = Record<DurableExecution<String, Int>>()
        let worker = bench.work(sync) { seen.add($0) }
        await bench.advance(29)
        #expect(seen.all.isEmpty)
        #expect(try await sync.state(of: receipt) == .running(attempt: 1))
        await bench.advance(1)
        let execution = try #require(seen.all.first)
        #expect(execution.runID == run.id && execution.attempt == 2 && execution.fence > run.fence)
        // What the dead worker says from its grave is refused.
        let late = DurableReport(namespace: "n", key: run.key, run: run.id, fence: run.fence, owner: 1, .completed)
        #expect(try await bench.memory.report(late) == .alreadyDone)
        worker.cancel()
        try await worker.value
    }

    @Test("a worker that was stopped past the end of its lease loses it: its handler is cancelled, and it is told")
    func lost() async throws {
        let sync = try await bench.debouncer()
        let cancelled = Record<Bool>()
        let worker = bench.work(sync) { execution in
            // The process was stopped for a minute, and heartbeats with it: the store did not hear of it.
            do { try await bench.clock.sleep(for: .seconds(100)) } catch {
                cancelled.add(Task.isCancelled)
                throw error
            }
        }
        bench.store.fails { call in
            if case .report = call { return .before(.refused("stopped")) }
            return nil
        }
        let receipt = try await sync.submit(1, for: "a")
        await bench.advance(31)
        #expect(cancelled.all == [])
        // The lease lasts until second 32. Another worker takes over.
        await bench.clock.advance(by: .seconds(1), until: .started)
        bench.store.works()
        let run = try #require(try await die(1, lease: .seconds(600)).first)
        #expect(run.attempt == 2)
        await bench.advance(15)
        #expect(cancelled.all == [true])
        #expect(sync.counters.lostLeases == 1 && bench.failures.all.contains { $0.contains("lease of run") })
        #expect(try await sync.state(of: receipt) == .running(attempt: 2))
        #expect(bench.done.all == [])
        worker.cancel()
        try await worker.value
    }

    @Test("a run that dies again and again with its worker is dead after its last attempt")
    func killer() async throws {
        let sync = try await bench.debouncer()
        try await sync.submit(1, for: "a")
        await bench.advance(2)
        for attempt in 1...3 {
            #expect(try await die(Int64(attempt)).first?.attempt == attempt)
            await bench.advance(30)
        }
        let worker = bench.work(sync)
        await bench.advance(0)
        #expect(bench.done.all == [] && sync.counters.attempts == 0)
        #expect(try await sync.dead().first?.error == "the worker's lease expired")
        worker.cancel()
        try await worker.value
    }

    @Test("a sleeping worker takes over what another of its process has let go of")
    func noticed() async throws {
        let sync = try await bench.debouncer()
        let worker = bench.work(sync)
        await bench.advance(0)
        try await sync.submit(1, for: "a")
        // Before the worker looks, another one has the run, and dies with it.
        bench.store.fails { call in
            if case .claim = call { return .before(.refused("busy")) }
            return nil
        }
        await bench.advance(2)
        #expect(try await die(1).count == 1)
        bench.store.works()
        await bench.advance(32)
        #expect(bench.done.all == ["a=1"])
        worker.cancel()
        try await worker.value
    }
}
