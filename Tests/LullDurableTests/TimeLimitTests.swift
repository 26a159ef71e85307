import Lull
import LullCore
import LullDurable
import LullTesting
import TestSupport
import Testing

/// Handlers that have a time.
@Suite("Time limits of handlers")
struct TimeLimitTests {
    typealias Rig = WorkerRig
    private let fixture = WorkerFixture()

    @Test
    func `a handler that reacts to its time limit has failed with it, and is tried again`() async throws {
        let sync = try await fixture.debouncer()
        let errors = Record<Duration>()
        let worker = fixture.clock.task {
            try await sync.run(
                retry: RetryPolicy(initialDelay: .seconds(1), maxDelay: .seconds(1)), timeLimit: .seconds(5),
                onFailure: { failure in
                    fixture.failures.add("\(failure)")
                    if case .threw(let error as TimeLimitExceeded, _, _) = failure { errors.add(error.limit) }
                }
            ) { execution in
                if execution.attempt == 1 { try await fixture.clock.sleep(for: .seconds(100)) }
                fixture.done.add("\(execution.value)")
            }
        }
        let receipt = try await sync.submit(1, for: "a")
        await fixture.advance(6.9)
        #expect(try await sync.state(of: receipt) == .running(attempt: 1))
        await fixture.advance(0.1)
        #expect(
            try await sync.state(of: receipt)
                == .waitingForRetry(attempt: 1, error: "the time limit of 5 s was exceeded"))
        #expect(errors.all == [.seconds(5)] && sync.counters.failures == 1 && sync.counters.overdue == 0)
        await fixture.advance(1)
        #expect(fixture.done.all == ["1"])
        worker.cancel()
        try await worker.value
    }

    @Test
    func `a handler that returns although its time limit is over is executed`() async throws {
        let sync = try await fixture.debouncer()
        let worker = fixture.work(sync, timeLimit: .seconds(5)) { _ in
            try? await fixture.clock.sleep(for: .seconds(100))
        }
        let receipt = try await sync.submit(1, for: "a")
        await fixture.advance(7)
        #expect(try await sync.state(of: receipt) == .executed)
        #expect(fixture.done.all == ["a=1"] && fixture.failures.all == [])
        worker.cancel()
        try await worker.value
    }

    @Test
    func `whatever a handler throws after its time limit, that was the limit`() async throws {
        let sync = try await fixture.debouncer()
        let worker = fixture.work(sync, timeLimit: .seconds(5)) { _ in
            do { try await fixture.clock.sleep(for: .seconds(100)) } catch { throw Snooze(for: .seconds(1000)) }
        }
        let receipt = try await sync.submit(1, for: "a")
        await fixture.advance(7)
        let error = "the time limit of 5 s was exceeded"
        #expect(try await sync.state(of: receipt) == .waitingForRetry(attempt: 1, error: error))
        worker.cancel()
        try await worker.value
    }

    @Test
    func `a handler that goes on is overdue, once, and keeps its slot while its run is taken over`() async throws {
        let sync = try await fixture.debouncer()
        let isFirst = Guarded(true)
        let hang = fixture.work(sync, maxConcurrent: 1, lease: .seconds(30), timeLimit: .seconds(20)) { _ in
            if isFirst.exchange(false) { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
        }
        let receipt = try await sync.submit(1, for: "a")
        await fixture.advance(2, until: .started)
        await fixture.advance(39, until: .started)
        #expect(sync.counters.overdue == 0)
        await fixture.advance(1, until: .started)
        #expect(sync.counters.overdue == 1)
        #expect(try await sync.status().overdue == 1)
        #expect(
            fixture.failures.all.filter { $0.hasSuffix("its handler goes on after twice its time limit of 20 s") }.count
                == 1)
        // The last heartbeat is a lease after the limit at the latest.
        await fixture.advance(10, until: .started)
        #expect(
            fixture.failures.all.count {
                $0.hasSuffix("another worker may take the run over, and its slot stays taken")
            } == 1)
        await fixture.advance(31, until: .started)
        #expect(try await sync.state(of: receipt) == .running(attempt: 1))
        // The worker alone would not execute the key twice at once; another one takes over.
        try await sync.submit(2, for: "other")
        await fixture.advance(2, until: .started)
        #expect(fixture.done.all == [])
        let other = fixture.work(sync, maxConcurrent: 1)
        await fixture.advance(2, until: .started)
        #expect(fixture.done.all.sorted() == ["a=1", "other=2"])
        #expect(try await sync.state(of: receipt) == .executed)
        for worker in [hang, other] { worker.cancel() }
        await fixture.advance(30, until: .started)
        try await hang.value
        try await other.value
    }

    @Test
    func `the worker stops renewing the lease a lease after the limit, and names the run as hanging`() throws {
        var rig = Rig(maxConcurrent: 2, timeLimit: .seconds(20))
        _ = rig.woke()
        _ = rig.claimed([.some(1)], next: .seconds(1000), mark: 1)
        func beat(_ seconds: Double) {
            let actions = rig.woke(after: seconds)
            #expect(actions.contains(Rig.report(.some(1), Rig.heartbeat)), "\(actions)")
            _ = rig.answered(.some(1), Rig.heartbeat)
        }
        beat(10)
        #expect(rig.worker.alarm == CoreInstant(nanoseconds: 20_000_000_000))
        let error = TimeLimitExceeded(.seconds(20))
        let limit = rig.woke(after: 10)
        #expect(
            limit.contains(.cancel(run: 1, exceeding: error)) && limit.contains(Rig.report(.some(1), Rig.heartbeat)))
        _ = rig.answered(.some(1), Rig.heartbeat)
        beat(10)
        let overdue = rig.woke(after: 10)
        #expect(overdue.contains(.overdue(.some(1), error)) && overdue.contains(Rig.report(.some(1), .overdue)))
        _ = rig.answered(.some(1), .overdue)
        _ = rig.answered(.some(1), Rig.heartbeat)
        #expect(rig.woke(after: 10) == [.leaseGivenUp(.some(1))])
        #expect(rig.woke(after: 100) == [])
        #expect(
            rig.handle(.waitEnded(.success(()))).contains {
                if case .claim(let claim) = $0 { claim.holding == [1] && claim.hanging == [1] } else { false }
            })
        // Its end is reported under its fence, which the store judges.
        #expect(rig.handle(.handlerEnded(run: 1, .threw("x"))).retry != nil)
    }

    @Test
    func `what told a handler to stop first decides what becomes of its run`() {
        var rig = Rig(maxConcurrent: 2, timeLimit: .seconds(5), watches: true)
        _ = rig.woke()
        _ = rig.claimed([.some(1), .some(2)], next: .seconds(1000), mark: 1)
        #expect(rig.handle(.watchEnded(.success([2]))).contains(.cancel(run: 2)))
        #expect(rig.woke(after: 5).filter { if case .cancel = $0 { true } else { false } }.count == 1)
        _ = rig.handle(.watchEnded(.success([1])))
        let failed = rig.handle(.handlerEnded(run: 1, .threw("x")))
        #expect(
            failed.contains { action in
                guard case .report(let report) = action, case .failed(let error, _?) = report.kind else { return false }
                return error == "the time limit of 5 s was exceeded"
            })
        #expect(rig.handle(.handlerEnded(run: 2, .threw("x"))).contains(Rig.report(.some(2), .interrupted)))
    }

    @Test
    func `a limit of no time is refused with the rule`() async {
        await #expect(processExitsWith: .failure) {
            _ = WorkerStateMachine.Configuration(namespace: "n", owner: 1, timeLimit: .zero)
        }
    }
}
