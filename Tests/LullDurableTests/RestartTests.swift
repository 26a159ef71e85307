import Lull
import LullCore
import LullDurable
import LullTesting
import TestSupport
import Testing

/// Workers whose runs newer values interrupt.
@Suite("Restarting")
struct RestartTests {
    private let fixture = WorkerFixture()

    /// A debouncer of two seconds.
    private func debouncer(
        _ interrupting: Interruption = .whenDue
    ) async throws -> DurableDebouncer<String, Int> {
        try await DurableDebouncer(
            collectingFor: .seconds(2), maxWait: .seconds(100),
            whileRunning: .restart(interrupting: interrupting), namespace: "n", in: fixture.store, clock: fixture.clock)
    }

    @Test
    func `a handler is cancelled when a newer value falls due, and handles both`() async throws {
        let debouncer = try await debouncer()
        let cancelled = Record<Double>()
        let worker = fixture.work(debouncer) { execution in
            do { try await fixture.clock.sleep(for: .seconds(10)) } catch {
                cancelled.add(fixture.seconds)
                throw error
            }
        }
        try await debouncer.submit(1, for: "a")
        await fixture.advance(5)
        let receipt = try await debouncer.submit(2, for: "a")
        await fixture.advance(1.9)
        #expect(cancelled.all.isEmpty)
        await fixture.advance(0.1)
        #expect(cancelled.all == [7])
        await fixture.advance(10)
        #expect(fixture.done.all == ["a=1+2"])
        #expect(try await debouncer.state(of: receipt) == .executed)
        #expect(debouncer.counters.restarted == 1 && debouncer.counters.attempts == 2)
        #expect(debouncer.counters.failures == 0 && fixture.failures.all.isEmpty)
        #expect(try await debouncer.status().restarted == 1)
        worker.cancel()
        try await worker.value
    }

    @Test
    func `a handler is cancelled by a submit, also when the worker has no other slot, and waits for the newer value`()
        async throws
    {
        let debouncer = try await debouncer(.whenSubmitted)
        let cancelled = Record<Double>()
        let worker = fixture.work(debouncer, maxConcurrent: 1) { execution in
            do { try await fixture.clock.sleep(for: .seconds(10)) } catch {
                cancelled.add(fixture.seconds)
                throw error
            }
        }
        try await debouncer.submit(1, for: "a")
        await fixture.advance(5)
        try await debouncer.submit(2, for: "a")
        await fixture.advance(0)
        #expect(cancelled.all == [5])
        #expect(try await debouncer.status().pending == 1)
        #expect(try await debouncer.touch("a", after: .seconds(3)))
        await fixture.advance(2.9)
        #expect(debouncer.counters.attempts == 1)
        await fixture.advance(10.2)
        #expect(fixture.done.all == ["a=1+2"])
        worker.cancel()
        try await worker.value
    }

    @Test
    func `without a hint the worker learns of it by the answer to its next heartbeat`() throws {
        var rig = WorkerRig()
        let run = DurableRun.some(1)
        _ = rig.woke()
        _ = rig.claimed([run])
        #expect(rig.woke(after: 10) == [WorkerRig.report(run, WorkerRig.heartbeat)])
        #expect(rig.answered(run, WorkerRig.heartbeat, .interrupted) == [.cancel(run: 1)])
        // The lease has been extended all the same.
        #expect(rig.woke(after: 10) == [WorkerRig.report(run, WorkerRig.heartbeat)])
        #expect(rig.answered(run, WorkerRig.heartbeat, .interrupted) == [])
        let actions = rig.handle(.handlerEnded(run: 1, .threw("cancelled")))
        #expect(actions.contains(WorkerRig.report(run, .interrupted)))
        #expect(rig.answered(run, .interrupted) == [])
    }

    @Test
    func `a worker watches while a handler runs that could be interrupted, and not more than once at a time`() throws {
        var rig = WorkerRig(watches: true)
        let (one, two) = (DurableRun.some(1), DurableRun.some(2))
        let isWatch = { (action: WorkerStateMachine.Action) in if case .watch = action { true } else { false } }
        #expect(!rig.woke().contains(where: isWatch))
        #expect(rig.claimed([one, two]).filter(isWatch) == [.watch(besides: [], atMost: WorkerRig.lease)])
        #expect(!rig.woke(after: 1).contains(where: isWatch))
        #expect(
            rig.handle(.watchEnded(.success([1]))) == [.cancel(run: 1), .watch(besides: [1], atMost: WorkerRig.lease)])
        #expect(rig.handle(.watchEnded(.success([2, 1, 7]))) == [.cancel(run: 2)])
        #expect(rig.handle(.handlerEnded(run: 2, .returned)).contains(WorkerRig.report(two, .completed)))
        #expect(rig.handle(.handlerEnded(run: 1, .threw("x"))).contains(WorkerRig.report(one, .interrupted)))
        // The report of an interruption whose answer was lost is no lost lease.
        #expect(rig.answered(one, .interrupted, .leaseLost) == [])
    }

    @Test
    func `a watch that fails is repeated when the store works again`() throws {
        var rig = WorkerRig(watches: true)
        let run = DurableRun.some(1)
        _ = rig.woke()
        _ = rig.claimed([run])
        #expect(rig.handle(.watchEnded(.failure(WorkerRig.full))) == [.storeFailed(WorkerRig.full)])
        let actions = rig.woke(after: 1)
        #expect(actions.contains(.watch(besides: [], atMost: WorkerRig.lease)))
    }
}
