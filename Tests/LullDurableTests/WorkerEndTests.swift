import LullCore
import LullDurable
import Testing

/// The decisions of a worker when its store fails, and when it stops.
@Suite("The worker's decisions in trouble and at the end")
struct WorkerEndTests {
    typealias Rig = WorkerRig

    @Test
    func `a store that refuses a claim is reported once and asked again, less and less often`() {
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

    @Test
    func `a worker that cannot write claims nothing more, and repeats its report until the store accepts it`() {
        var rig = Rig()
        _ = rig.woke()
        _ = rig.claimed([.some(1)], mark: 1)
        _ = rig.handle(.handlerEnded(run: 1, .returned))
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

    @Test
    func `a report that alone is refused is repeated less and less often, while everything else goes on`() {
        var rig = Rig()
        _ = rig.woke()
        _ = rig.claimed([.some(1), .some(2)])
        _ = rig.handle(.handlerEnded(run: 1, .returned))
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

    @Test
    func `several calls that fail together count once`() {
        var rig = Rig()
        _ = rig.woke()
        _ = rig.claimed([.some(1), .some(2)])
        _ = rig.handle(.handlerEnded(run: 1, .returned))
        _ = rig.handle(.handlerEnded(run: 2, .returned))
        #expect(rig.failed(.some(1), .completed) == [.storeFailed(Rig.full)])
        #expect(rig.failed(.some(2), .completed) == [])
        #expect(rig.now.duration(to: rig.worker.alarm) <= .milliseconds(100))
    }

    @Test
    func
        `a handler whose lease cannot be renewed is cancelled at its end, and its report counts if it is accepted`()
    {
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
        #expect(rig.handle(.handlerEnded(run: 1, .returned)) == [Rig.report(.some(1), .completed)])
        #expect(other.handle(.handlerEnded(run: 1, .threw("stopped"))) == [Rig.report(.some(1), .released)])
    }

    @Test
    func `an unusable store ends the worker: handlers are cancelled, and have the grace to end`() {
        var rig = Rig()
        _ = rig.woke()
        _ = rig.claimed([.some(1), .some(2)], next: .zero)
        #expect(rig.woke(after: 10).count == 2)
        #expect(
            rig.handle(.reported(Rig.report(.some(1), Rig.heartbeat), .failure(.closed))) == [
                .cancel(run: 1), .cancel(run: 2),
            ])
        #expect(rig.worker.failure == .closed && !rig.worker.isFinished)
        #expect(rig.handle(.handlerEnded(run: 1, .returned)) == [] && !rig.worker.isFinished)
        #expect(rig.worker.alarm == CoreInstant(nanoseconds: 20_000_000_000))
        #expect(rig.woke(after: 10) == [] && rig.worker.isFinished)
    }

    // MARK: - Stopping

    @Test
    func `after a stop it claims nothing more and finishes when its handlers have ended`() {
        var rig = Rig()
        _ = rig.woke()
        _ = rig.claimed([.some(1)], mark: 1)
        #expect(rig.handle(.stop) == [] && !rig.worker.isFinished)
        #expect(rig.handle(.waitEnded(.success(()))) == [])
        #expect(rig.handle(.handlerEnded(run: 1, .returned)) == [Rig.report(.some(1), .completed)])
        #expect(!rig.worker.isFinished)
        #expect(rig.answered(.some(1), .completed) == [] && rig.worker.isFinished)
        #expect(rig.handle(.woke) == [])
    }

    @Test
    func `after a stop with nothing to do it has finished, even before it has begun`() {
        var rig = Rig()
        var early = rig
        _ = rig.woke()
        _ = rig.claimed([])
        #expect(rig.handle(.stop) == [] && rig.worker.isFinished)
        #expect(early.handle(.stop) == [] && early.worker.isFinished)
        #expect(early.woke() == [])
    }

    @Test
    func `while draining it claims nothing more, and its handlers have all the time they need`() {
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
        #expect(rig.handle(.handlerEnded(run: 1, .returned)) == [Rig.report(.some(1), .completed)])
        #expect(rig.answered(.some(1), .completed) == [] && rig.worker.isFinished)
    }

    @Test
    func
        `draining ends at once when idle; a store that refuses everything delays it for a lease at most`()
    {
        var early = Rig()
        #expect(early.handle(.drain) == [] && early.worker.isFinished)
        var rig = Rig()
        _ = rig.woke()
        _ = rig.claimed([.some(1)])
        _ = rig.handle(.drain)
        _ = rig.handle(.handlerEnded(run: 1, .returned))
        #expect(rig.failsUntilFinished(.some(1), .completed) > 0)
        #expect(rig.now == CoreInstant.origin.advanced(by: Rig.lease))
    }

    @Test
    func `a draining worker may still be stopped`() {
        var rig = Rig()
        _ = rig.woke()
        _ = rig.claimed([.some(1)])
        _ = rig.handle(.drain)
        _ = rig.handle(.stop)
        #expect(rig.woke(after: 10).contains(.cancel(run: 1)))
    }

    @Test
    func `runs that are handed out after a stop are released untried`() {
        var rig = Rig()
        _ = rig.woke()
        #expect(rig.handle(.stop) == [] && !rig.worker.isFinished)
        #expect(rig.claimed([.some(1)]) == [Rig.report(.some(1), .released)])
        #expect(rig.answered(.some(1), .released) == [] && rig.worker.isFinished)
    }

    @Test
    func
        `after the grace handlers are cancelled; a run is released if its handler throws, else completed`()
    {
        var rig = Rig(maxConcurrent: 3)
        _ = rig.woke()
        _ = rig.claimed([.some(1), .some(2), .some(3)])
        rig.pass(1)
        _ = rig.handle(.stop)
        // A failure within the grace counts as one.
        #expect(rig.handle(.handlerEnded(run: 3, .threw("no"))).retry != nil)
        #expect(rig.woke(after: 9).count == 2)
        #expect(rig.worker.alarm == CoreInstant(nanoseconds: 11_000_000_000))
        #expect(rig.woke(after: 1) == [.cancel(run: 1), .cancel(run: 2)])
        #expect(rig.handle(.handlerEnded(run: 1, .threw("cancelled"))) == [Rig.report(.some(1), .released)])
        #expect(rig.handle(.handlerEnded(run: 2, .returned)) == [Rig.report(.some(2), .completed)])
    }

    @Test
    func
        `a handler that ignores its cancellation is given up half-way to the end of the lease`()
    {
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
        #expect(rig.handle(.handlerEnded(run: 1, .returned)) == [])
        while !unanswered.worker.isFinished {
            unanswered.pass(to: unanswered.worker.alarm)
            _ = unanswered.handle(.woke)
        }
        #expect(unanswered.now == CoreInstant.origin.advanced(by: Rig.lease))
    }

    @Test
    func `while it stops, it repeats a refused report until the lease has ended`() {
        var rig = Rig()
        _ = rig.woke()
        _ = rig.claimed([.some(1)])
        _ = rig.handle(.handlerEnded(run: 1, .returned))
        _ = rig.handle(.stop)
        #expect(rig.failsUntilFinished(.some(1), .completed) > 5)
        #expect(rig.now == CoreInstant.origin.advanced(by: Rig.lease))
    }
}
