import LullCore
import LullDurable
import Testing

/// The decisions of a worker, without a clock and a store.
@Suite("The worker's decisions")
struct WorkerTests {
    typealias Rig = WorkerRig

    // MARK: - Claiming

    @Test
    func `begins with a claim for as many runs as it has slots, and starts what it gets`() {
        var rig = Rig()
        #expect(rig.woke() == [Rig.claim(2)])
        #expect(rig.woke() == [])
        #expect(
            rig.claimed([.some(1)], next: .seconds(5), mark: 3) == [
                .start(.some(1)), .wait(after: 3, atMost: .seconds(5)),
            ])
    }

    @Test
    func `tells the store that it is there when it begins, and every minute until it has ended`() {
        var rig = Rig(announces: true)
        let announcement = WorkerStateMachine.Action.announce
        #expect(rig.woke() == [announcement, Rig.claim(2)])
        #expect(rig.claimed([.some(1)], next: nil, mark: 1).first == .start(.some(1)))
        #expect(rig.worker.alarm <= rig.now.advanced(by: .seconds(60)))
        #expect(!rig.woke(after: 59).contains(announcement))
        #expect(rig.woke(after: 1).contains(announcement))
        _ = rig.handle(.drain)
        #expect(rig.woke(after: 60).contains(announcement))
        _ = rig.handle(.handlerEnded(run: 1, .returned))
        _ = rig.answered(.some(1), .completed)
        #expect(rig.woke(after: 600) == [])
    }

    @Test
    func `waits when nothing is due, and claims when the wait has ended`() {
        var rig = Rig()
        _ = rig.woke()
        #expect(rig.claimed([], next: nil, mark: 9) == [.wait(after: 9, atMost: .seconds(3600))])
        #expect(rig.woke(after: 100) == [])
        #expect(rig.handle(.waitEnded(.success(()))) == [Rig.claim(2)])
    }

    @Test
    func `if there is more, claims again as soon as a handler has ended, together with its report`() {
        var rig = Rig()
        _ = rig.woke()
        #expect(rig.claimed([.some(1), .some(2)], next: .zero) == [.start(.some(1)), .start(.some(2))])
        #expect(
            rig.handle(.handlerEnded(run: 1, .returned)) == [
                Rig.report(.some(1), .completed), Rig.claim(1, holding: [1, 2]),
            ])
        // One claim at a time: the second waits for the answer to the first.
        #expect(rig.handle(.handlerEnded(run: 2, .returned)) == [Rig.report(.some(2), .completed)])
        #expect(rig.answered(.some(1), .completed) == [])
        #expect(rig.claimed([.some(3)], next: .zero) == [.start(.some(3)), Rig.claim(1, holding: [2, 3])])
    }

    @Test
    func `claims what was signalled while no slot was free when one is`() {
        var rig = Rig(maxConcurrent: 1)
        _ = rig.woke()
        #expect(rig.claimed([], mark: 1).count == 1)
        #expect(rig.handle(.waitEnded(.success(()))) == [Rig.claim(1)])
        #expect(rig.claimed([.some(1)], next: .seconds(30), mark: 2) == [.start(.some(1))])
        #expect(
            rig.handle(.handlerEnded(run: 1, .returned)) == [
                Rig.report(.some(1), .completed), .wait(after: 2, atMost: .seconds(30)),
            ])
    }

    @Test
    func `claims what falls due while no slot is free without waiting first`() {
        var rig = Rig(maxConcurrent: 1)
        _ = rig.woke()
        _ = rig.claimed([.some(1)], next: .seconds(2), mark: 2)
        rig.pass(3)
        #expect(
            rig.handle(.handlerEnded(run: 1, .returned)) == [
                Rig.report(.some(1), .completed), Rig.claim(1, holding: [1]),
            ])
    }

    // MARK: - Leases

    @Test
    func `a heartbeat is sent at a third of the lease, with those that soon will be, and one at a time`() {
        var rig = Rig(maxConcurrent: 3)
        _ = rig.woke()
        _ = rig.claimed([.some(1)], next: .zero)
        rig.pass(4)
        _ = rig.claimed([.some(2)], next: .zero)
        rig.pass(2)
        _ = rig.claimed([.some(3)])
        #expect(rig.worker.alarm == CoreInstant(nanoseconds: 10_000_000_000))
        // The claims that got them were sent at 0, at 0 and at 4 seconds.
        #expect(rig.woke(after: 3.999).isEmpty)
        #expect(rig.woke(after: 0.001) == [1, 2, 3].map { Rig.report(.some($0), Rig.heartbeat) })
        #expect(rig.woke(after: 1) == [])
        #expect(rig.answered(.some(1), Rig.heartbeat) == [])
        // Counted from when it was sent.
        #expect(rig.worker.alarm == CoreInstant(nanoseconds: 20_000_000_000))
        #expect(rig.woke(after: 9) == [Rig.report(.some(1), Rig.heartbeat)])
    }

    @Test
    func
        `a lost lease cancels the handler and is reported; its slot is taken until its end, which is not reported`()
    {
        var rig = Rig(maxConcurrent: 1)
        _ = rig.woke()
        _ = rig.claimed([.some(1)], next: .zero)
        _ = rig.woke(after: 10)
        #expect(rig.answered(.some(1), Rig.heartbeat, .leaseLost) == [.leaseLost(.some(1)), .cancel(run: 1)])
        #expect(rig.woke(after: 60) == [])
        #expect(rig.handle(.handlerEnded(run: 1, .threw("cancelled"))) == [Rig.claim(1)])
    }

    @Test
    func `a run that is dead because its last lease expired is reported, and occupies no slot`() {
        var rig = Rig(maxConcurrent: 1)
        _ = rig.woke()
        let answer = DurableClaim.Answer(runs: [.some(2)], dead: [.some(1)], next: .zero, mark: 0)
        #expect(rig.handle(.claimed(.success(answer))) == [.died(.some(1)), .start(.some(2))])
    }

    @Test
    func `a completion that comes too late is reported as a lost lease`() {
        var rig = Rig()
        _ = rig.woke()
        _ = rig.claimed([.some(1)])
        _ = rig.handle(.handlerEnded(run: 1, .returned))
        #expect(rig.answered(.some(1), .completed, .leaseLost) == [.leaseLost(.some(1))])
        #expect(rig.worker.isFinished == false)
    }

    @Test
    func `a worker that may have slept through the end of a lease renews it before claiming anything`() {
        var rig = Rig()
        _ = rig.woke()
        _ = rig.claimed([.some(1)], mark: 1)
        rig.pass(100)
        #expect(rig.handle(.waitEnded(.success(()))) == [])
        #expect(rig.handle(.woke) == [Rig.report(.some(1), Rig.heartbeat)])
        #expect(rig.answered(.some(1), Rig.heartbeat) == [Rig.claim(1, holding: [1])])
    }

    @Test
    func `a run that the worker takes over from itself goes on under the new fence`() {
        var rig = Rig()
        _ = rig.woke()
        _ = rig.claimed([.some(1)], next: .zero)
        #expect(rig.claimed([.some(1, fence: 5, attempt: 2)], mark: 1) == [.wait(after: 1, atMost: .seconds(3600))])
        #expect(rig.handle(.handlerEnded(run: 1, .returned)) == [Rig.report(.some(1, fence: 5), .completed)])
        // An answer to a report under the old fence no longer counts.
        #expect(rig.answered(.some(1), Rig.heartbeat, .leaseLost) == [])
        #expect(rig.answered(.some(1, fence: 5), .completed) == [])
    }

    @Test
    func `a run that is handed out again before the end of its report is answered waits for that answer`() {
        var rig = Rig()
        _ = rig.woke()
        _ = rig.claimed([.some(1)], next: .zero)
        let report = rig.handle(.handlerEnded(run: 1, .threw("no")))
        guard case .report(let failure)? = report.first else { Issue.record("no report"); return }
        #expect(
            rig.claimed([.some(1, fence: 5, attempt: 2)], next: nil, mark: 1) == [
                .wait(after: 1, atMost: .seconds(3600))
            ])
        #expect(rig.handle(.reported(failure, .success(.accepted))) == [.start(.some(1, fence: 5, attempt: 2))])
    }

    @Test
    func `what was done before a run was taken over from itself is reported under the new fence, and not done again`() {
        var rig = Rig()
        _ = rig.woke()
        _ = rig.claimed([.some(1)], next: .zero)
        _ = rig.handle(.handlerEnded(run: 1, .returned))
        _ = rig.claimed([.some(1, fence: 5, attempt: 2)])
        #expect(rig.answered(.some(1), .completed, .leaseLost) == [Rig.report(.some(1, fence: 5), .completed)])
        #expect(rig.answered(.some(1, fence: 5), .completed) == [])
    }

    // MARK: - Failing handlers

    @Test
    func `the delay before another attempt doubles up to the longest, shortened at random to no less than half`() throws
    {
        for attempt in 1...6 {
            var rig = Rig(maxAttempts: 7)
            _ = rig.woke()
            _ = rig.claimed([.some(1, attempt: attempt)])
            let retry = try #require(rig.handle(.handlerEnded(run: 1, .threw("no"))).retry)
            let full = CoreDuration.seconds(min(8, 1 << (attempt - 1)))
            #expect(retry <= full && retry.nanoseconds >= full.nanoseconds / 2)
        }
    }

    @Test
    func `jitter differs from worker to worker, and from run to run`() {
        var delays: Set<CoreDuration> = []
        var rig = Rig(maxConcurrent: 50)
        _ = rig.woke()
        _ = rig.claimed((1...50).map { .some($0) })
        for run in 1...50 {
            if let retry = rig.handle(.handlerEnded(run: Int64(run), .threw("no"))).retry { delays.insert(retry) }
        }
        #expect(delays.count == 50)
    }

    @Test
    func `a run that has had all its attempts is dead`() {
        var rig = Rig(maxAttempts: 3)
        _ = rig.woke()
        _ = rig.claimed([.some(1, attempt: 3)])
        #expect(
            rig.handle(.handlerEnded(run: 1, .threw("no"))).contains(
                Rig.report(.some(1, attempt: 3), .failed("no", retry: nil))))
    }

    // MARK: - Handlers that cannot be run

    @Test
    func `what this machine cannot run goes back to the store without an attempt, and claims pause longer each time`()
        throws
    {
        var rig = Rig(maxConcurrent: 1)
        _ = rig.woke()
        var pauses: [CoreDuration] = []
        for _ in 0..<8 {
            _ = rig.claimed([.some(1)], next: .zero)
            #expect(rig.handle(.notStarted(run: 1)) == [Rig.report(.some(1), .released)])
            #expect(rig.answered(.some(1), .released) == [])
            let since = rig.now
            var actions: [WorkerStateMachine.Action] = []
            while actions.isEmpty, rig.worker.alarm < .farFuture {
                rig.pass(to: rig.worker.alarm)
                actions = rig.woke()
            }
            #expect(actions == [Rig.claim(1)])
            pauses.append(since.duration(to: rig.now))
        }
        #expect(pauses[0] <= .milliseconds(100) && pauses[7] > .seconds(4) && pauses[7] <= .seconds(10), "\(pauses)")
    }

    @Test
    func `a handler that has run ends the pause`() {
        var rig = Rig()
        _ = rig.woke()
        _ = rig.claimed([.some(1), .some(2)], next: .zero)
        #expect(rig.handle(.notStarted(run: 1)) == [Rig.report(.some(1), .released)])
        #expect(
            rig.handle(.handlerEnded(run: 2, .returned)) == [
                Rig.report(.some(2), .completed), Rig.claim(2, holding: [1, 2]),
            ])
    }

    @Test
    func `an instant before the last event counts as that of the last event`() {
        var rig = Rig()
        rig.pass(50)
        _ = rig.woke()
        _ = rig.worker.handle(.claimed(.success(.init(runs: [.some(1)], next: nil, mark: 0))), at: .origin)
        #expect(rig.worker.alarm == CoreInstant(nanoseconds: 60_000_000_000))
    }
}
