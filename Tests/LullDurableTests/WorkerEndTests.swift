import LullCore
import LullDurable
import Testing

/// What a worker decides when its store fails, and when it is told to stop.
@Suite("The worker's decisions in trouble and at the end")
struct WorkerEndTests {
    typealias Rig = WorkerRig

    @Test("a store that does not take a claim is told of once and asked again, more and more rarely")
    func claimRefused() {
        var rig = Rig()
        _ = rig.woke()
        #expect(rig.handle(.claimed(.failure(Rig.full))) == [.storeFailed(Rig.full)])
        var pauses: [CoreDuration] = []
        for _ in 0..<12 {
            pauses.append(rig.now.duration(to: rig.worker.alarm))
            rig.pass(to: rig.worker.alarm)
            #expect(rig.handle(.woke) == [Rig.claim(2)])
            #expect(rig.handle(.claimed(.failure(Rig.full))) == [])
        }
        for (count, pause) in pauses.enumerated() {
            let full = min(CoreDuration.milliseconds(100 << Int64(count)), .seconds(10))
            #expect(pause <= full && pause.nanoseconds >= full.nanoseconds / 2)
        }
        rig.pass(to: rig.worker.alarm)
        _ = rig.handle(.woke)
        #expect(rig.claimed([.some(1)], next: .zero) == [.start(.some(1)), Rig.claim(1, holding: [1])])
        #expect(rig.handle(.claimed(.failure(Rig.full))) == [.storeFailed(Rig.full)])
    }

    @Test("who cannot write claims nothing more, and says what there is to say until it is taken")
    func reportRefused() {
        var rig = Rig()
        _ = rig.woke()
        _ = rig.claimed([.some(1)], mark: 1)
        _ = rig.handle(.handlerEnded(run: 1, error: nil))
        #expect(rig.failed(.some(1), .completed) == [.storeFailed(Rig.full)])
        #expect(rig.handle(.waitEnded(.success(()))) == [])
        for _ in 0..<5 {
            rig.pass(to: rig.worker.alarm)
            #expect(rig.handle(.woke) == [Rig.report(.some(1), .completed)])
            #expect(rig.failed(.some(1), .completed) == [])
        }
        rig.pass(to: rig.worker.alarm)
        _ = rig.handle(.woke)
        #expect(rig.answered(.some(1), .completed, .alreadyDone) == [Rig.claim(2)])
    }

    @Test("what alone is not taken is said again more and more rarely, while all else goes on")
    func oneRefused() {
        var rig = Rig()
        _ = rig.woke()
        _ = rig.claimed([.some(1), .some(2)])
        _ = rig.handle(.handlerEnded(run: 1, error: nil))
        var pauses: [CoreDuration] = []
        for _ in 0..<12 {
            #expect(rig.failed(.some(1), .completed) == [.storeFailed(Rig.full)])
            _ = rig.answered(.some(2), Rig.heartbeat)
            let since = rig.now
            while !rig.handle(.woke).contains(Rig.report(.some(1), .completed)) { rig.pass(to: rig.worker.alarm) }
            pauses.append(since.duration(to: rig.now))
        }
        #expect(pauses.dropFirst(8).allSatisfy { $0 >= .seconds(5) && $0 <= .seconds(10) })
    }

    @Test("several calls that fail together count once")
    func togetherOnce() {
        var rig = Rig()
        _ = rig.woke()
        _ = rig.claimed([.some(1), .some(2)])
        _ = rig.handle(.handlerEnded(run: 1, error: nil))
        _ = rig.handle(.handlerEnded(run: 2, error: nil))
        #expect(rig.failed(.some(1), .completed) == [.storeFailed(Rig.full)])
        #expect(rig.failed(.some(2), .completed) == [])
        #expect(rig.now.duration(to: rig.worker.alarm) <= .milliseconds(100))
    }

    @Test("a handler whose lease cannot be renewed is told to stop when it ends, and what it did counts if it is taken")
    func unsureLease() {
        var rig = Rig()
        _ = rig.woke()
        _ = rig.claimed([.some(1)])
        #expect(rig.woke(after: 10) == [Rig.report(.some(1), Rig.heartbeat)])
        rig.pass(19)
        #expect(rig.failed(.some(1), Rig.heartbeat) == [.storeFailed(Rig.full)])
        rig.pass(1)
        #expect(rig.handle(.woke) == [Rig.report(.some(1), Rig.heartbeat)])
        #expect(rig.failed(.some(1), Rig.heartbeat) == [.cancel(run: 1)])
        var other = rig
        #expect(rig.handle(.handlerEnded(run: 1, error: nil)) == [Rig.report(.some(1), .completed)])
        #expect(other.handle(.handlerEnded(run: 1, error: "stopped")) == [Rig.report(.some(1), .released)])
    }

    @Test("a store that cannot be used any more ends it: handlers are cancelled, and have the time of grace")
    func closedStore() {
        var rig = Rig()
        _ = rig.woke()
        _ = rig.claimed([.some(1), .some(2)], next: .zero)
        #expect(rig.woke(after: 10).count == 2)
        #expect(
            rig.handle(.reported(Rig.report(.some(1), Rig.heartbeat), .failure(.closed))) == [
                .cancel(run: 1), .cancel(run: 2),
            ])
        #expect(rig.worker.failure == .closed && !rig.worker.isFinished)
        #expect(rig.handle(.handlerEnded(run: 1, error: nil)) == [] && !rig.worker.isFinished)
        #expect(rig.worker.alarm == CoreInstant(nanoseconds: 20_000_000_000))
        #expect(rig.woke(after: 10) == [] && rig.worker.isFinished)
    }

    // MARK: - Stopping

    @Test("told to stop, it claims nothing more and ends when its handlers have")
    func stopping() {
        var rig = Rig()
        _ = rig.woke()
        _ = rig.claimed([.some(1)], mark: 1)
        #expect(rig.handle(.stop) == [] && !rig.worker.isFinished)
        #expect(rig.handle(.waitEnded(.success(()))) == [])
        #expect(rig.handle(.handlerEnded(run: 1, error: nil)) == [Rig.report(.some(1), .completed)])
        #expect(!rig.worker.isFinished)
        #expect(rig.answered(.some(1), .completed) == [] && rig.worker.isFinished)
        #expect(rig.handle(.woke) == [])
    }

    @Test("told to stop with nothing to do, it has ended; also before it has begun")
    func stoppingAtRest() {
        var rig = Rig()
        var early = rig
        _ = rig.woke()
        _ = rig.claimed([])
        #expect(rig.handle(.stop) == [] && rig.worker.isFinished)
        #expect(early.handle(.stop) == [] && early.worker.isFinished)
        #expect(early.woke() == [])
    }

    @Test("draining, it claims nothing more, and its handlers have all the time they need")
    func draining() {
        var rig = Rig()
        _ = rig.woke()
        _ = rig.claimed([.some(1)], mark: 1)
        #expect(rig.handle(.drain) == [] && !rig.worker.isFinished)
        #expect(rig.handle(.waitEnded(.success(()))) == [])
        // Much longer than the lease, which its heartbeats keep alive.
        while rig.now < CoreInstant.origin.advanced(by: .nanoseconds(10 * Rig.lease.nanoseconds)) {
            rig.pass(to: rig.worker.alarm)
            for action in rig.handle(.woke) {
                guard case .report(let report) = action, report.kind == Rig.heartbeat else {
                    Issue.record("not a heartbeat: \(action)")
                    return
                }
                #expect(rig.handle(.reported(report, .success(.accepted))) == [])
            }
        }
        #expect(rig.handle(.handlerEnded(run: 1, error: nil)) == [Rig.report(.some(1), .completed)])
        #expect(rig.answered(.some(1), .completed) == [] && rig.worker.isFinished)
    }

    @Test(
        "draining at rest, it has ended; and once its handlers have, a store that takes nothing keeps it for a lease at most"
    )
    func drainingAtRest() {
        var early = Rig()
        #expect(early.handle(.drain) == [] && early.worker.isFinished)
        var rig = Rig()
        _ = rig.woke()
        _ = rig.claimed([.some(1)])
        _ = rig.handle(.drain)
        _ = rig.handle(.handlerEnded(run: 1, error: nil))
        #expect(rig.failsUntilFinished(.some(1), .completed) > 0)
        #expect(rig.now == CoreInstant.origin.advanced(by: Rig.lease))
    }

    @Test("draining, it may still be told to stop")
    func stoppingWhileDraining() {
        var rig = Rig()
        _ = rig.woke()
        _ = rig.claimed([.some(1)])
        _ = rig.handle(.drain)
        _ = rig.handle(.stop)
        #expect(rig.woke(after: 10).contains(.cancel(run: 1)))
    }

    @Test("runs that are handed out after it was told to stop go back untried")
    func claimedTooLate() {
        var rig = Rig()
        _ = rig.woke()
        #expect(rig.handle(.stop) == [] && !rig.worker.isFinished)
        #expect(rig.claimed([.some(1)]) == [Rig.report(.some(1), .released)])
        #expect(rig.answered(.some(1), .released) == [] && rig.worker.isFinished)
    }

    @Test("after the grace handlers are cancelled; who threw then is released, who returned is completed")
    func grace() {
        var rig = Rig(maxConcurrent: 3)
        _ = rig.woke()
        _ = rig.claimed([.some(1), .some(2), .some(3)])
        rig.pass(1)
        _ = rig.handle(.stop)
        // A failure within the grace is one.
        #expect(rig.handle(.handlerEnded(run: 3, error: "no")).retry != nil)
        #expect(rig.woke(after: 9).count == 2)
        #expect(rig.worker.alarm == CoreInstant(nanoseconds: 11_000_000_000))
        #expect(rig.woke(after: 1) == [.cancel(run: 1), .cancel(run: 2)])
        #expect(rig.handle(.handlerEnded(run: 1, error: "cancelled")) == [Rig.report(.some(1), .released)])
        #expect(rig.handle(.handlerEnded(run: 2, error: nil)) == [Rig.report(.some(2), .completed)])
    }

    @Test("a handler that heeds nothing is given up half-way to the end of the lease, and the end comes with it")
    func neverEnds() {
        var rig = Rig(grace: .seconds(5))
        _ = rig.woke()
        _ = rig.claimed([.some(1)])
        _ = rig.handle(.stop)
        var reports: [WorkerStateMachine.Action] = []
        while rig.now < CoreInstant(nanoseconds: 17_500_000_000) {
            rig.pass(to: rig.worker.alarm)
            reports = rig.handle(.woke)
            for case .report(let report) in reports where report.kind == Rig.heartbeat {
                _ = rig.handle(.reported(report, .success(.accepted)))
            }
        }
        #expect(reports.contains(Rig.report(.some(1), .released)) && !rig.worker.isFinished)
        var unanswered = rig
        #expect(rig.answered(.some(1), .released) == [] && rig.worker.isFinished)
        #expect(rig.handle(.handlerEnded(run: 1, error: nil)) == [])
        while !unanswered.worker.isFinished {
            unanswered.pass(to: unanswered.worker.alarm)
            _ = unanswered.handle(.woke)
        }
        #expect(unanswered.now == CoreInstant.origin.advanced(by: Rig.lease))
    }

    @Test("while it stops, what the store does not take is said again until the lease has ended")
    func stoppingWithoutStore() {
        var rig = Rig()
        _ = rig.woke()
        _ = rig.claimed([.some(1)])
        _ = rig.handle(.handlerEnded(run: 1, error: nil))
        _ = rig.handle(.stop)
        #expect(rig.failsUntilFinished(.some(1), .completed) > 5)
        #expect(rig.now == CoreInstant.origin.advanced(by: Rig.lease))
    }
}
