import LullReference
import Testing

@testable import LullCore

/// Section 7 of the semantics: a value falls due while its key is busy.
@Suite("While an execution is running")
struct RunningTests {
    /// An execution of `1` is running since 0; a delay of 0 makes the test's values due at once.
    private func rig(_ rule: OverlapPolicy, _ combination: CombinationRule = .latest) throws -> Rig {
        let rig = try Rig(.debounce(10), combination: combination, whileRunning: rule, handlersTakeTime: true)
        rig.submit("1", at: 0, wait: 0)
        rig.advance(to: 0)
        return rig
    }

    // MARK: - queue

    @Test
    func `under .queue a due value waits, and starts when the running one has ended`() throws {
        let rig = try rig(.queue)
        rig.submit("2", at: 1, wait: 4)
        rig.advance(to: 5)
        #expect(rig.executions == ["0 trailing 1"])
        rig.end("1")
        #expect(rig.executions == ["0 trailing 1", "5 trailing 2"])
        #expect(rig.broken == [])
    }

    @Test
    func `a later due value replaces the waiting one: counts are added, first stays, edge and instant are new`() throws
    {
        let rig = try rig(.queue)
        rig.submit("2", at: 1, wait: 1)
        rig.submit("3", at: 3)
        rig.submit("4", at: 4)
        rig.flush("k", at: 5)
        rig.end("1")
        #expect(rig.executions.last == "5 flush 4 ×3")
        #expect(rig.firsts.last == 1)
        #expect(rig.fates("2", "3", "4") == [.superseded, .superseded, .running])
        #expect(rig.broken == [])
    }

    @Test
    func `under .first the waiting value stays and the later one is absorbed`() throws {
        let rig = try rig(.queue, .first)
        rig.submit("2", at: 1, wait: 0)
        rig.submit("3", at: 2, wait: 0)
        rig.advance(to: 2)
        rig.end("1")
        #expect(rig.executions.last == "2 trailing 2 ×2")
        #expect(rig.fates("2", "3") == [.running, .absorbed])
    }

    @Test
    func `with .collect what waits may exceed maxCount`() throws {
        let rig = try Rig(.debounce(10, maxCount: 2), combination: .collect, handlersTakeTime: true)
        for value in ["1", "2", "3", "4", "5", "6", "7"] { rig.submit(value, at: 0) }
        #expect(rig.executions == ["0 maxCount 1+2 ×2"])
        rig.end("2")
        #expect(rig.executions.last == "0 maxCount 3+4+5+6 ×4")
        #expect(rig.broken == [])
    }

    // MARK: - cancelRunning

    @Test
    func `under .cancelRunning the running one is cancelled, once, and awaited`() throws {
        let rig = try rig(.cancelRunning)
        rig.submit("2", at: 1, wait: 0)
        rig.submit("3", at: 2, wait: 0)
        rig.advance(to: 2)
        #expect(rig.stopped == ["1"])
        #expect(rig.executions.count == 1)
        rig.end("1", .threw)
        #expect(rig.fates("1", "2", "3") == [.superseded, .superseded, .running])
        #expect(rig.executions.last == "2 trailing 3 ×2")
        #expect(rig.engine.counters.failed == 0)
    }

    @Test
    func `an execution that is cancelled and returns is executed all the same`() throws {
        let rig = try rig(.cancelRunning)
        rig.submit("2", at: 1, wait: 0)
        rig.advance(to: 1)
        rig.end("1")
        #expect(rig.fate("1") == .executed)
    }

    @Test
    func `an execution that is not cancelled and throws has failed`() throws {
        for rule in [.queue, .cancelRunning, .concurrent, .skip] as [OverlapPolicy] {
            let rig = try rig(rule)
            rig.end("1", .threw)
            #expect(rig.fate("1") == .failed)
        }
    }

    @Test(arguments: [false, true])
    func `a later cancel turns a run cancelled for a newer value into a cancelled one: that value is dropped`(
        _ running: Bool
    ) throws {
        let rig = try rig(.cancelRunning)
        rig.submit("2", at: 1, wait: 0)
        rig.advance(to: 1)
        #expect(rig.stopped == ["1"])
        rig.cancel("k", running: running, at: 2)
        rig.end("1", .threw)
        #expect(rig.fates("1", "2") == [.cancelled, .cancelled])
        #expect(rig.stopped == ["1"], "it is cancelled once")
        #expect(rig.broken == [])
    }

    @Test
    func `the driver can ask whether a run is being cancelled, and whether it has started`() throws {
        var engine = Engine<String, String>(try Setup(.debounce(10), whileRunning: .cancelRunning))
        let actions = { (actions: Actions<String, String>) -> RunID? in
            for case .start(let execution) in actions.more { return execution.run }
            return nil
        }
        _ = engine.submit("1", for: "k", at: .origin)
        let run = try #require(actions(engine.advance(to: CoreInstant(10))))
        #expect(engine.hasStarted(run) == true)
        #expect(engine.isCancelling(run) == false)
        _ = engine.submit("2", for: "k", at: CoreInstant(11), wait: 0)
        _ = engine.advance(to: CoreInstant(11))
        #expect(engine.isCancelling(run) == true)
        _ = engine.ended(run, .threw)
        #expect(engine.hasStarted(run) == false)
        #expect(engine.isCancelling(run) == false)
        #expect(engine.runningExecutions == 1)
    }

    // MARK: - restart

    @Test
    func `under .restart the running one is interrupted, and its values start again in front of the newer ones`() throws
    {
        let rig = try rig(.restart, .collect)
        rig.submit("2", at: 1, wait: 0)
        rig.submit("3", at: 2, wait: 0)
        rig.advance(to: 2)
        #expect(rig.stopped == ["1"])
        #expect(rig.executions == ["0 trailing 1"])
        rig.end("1", .threw)
        #expect(rig.executions.last == "2 trailing 1+2+3 ×3")
        #expect(rig.firsts.last == 0)
        #expect(rig.engine.counters.restarted == 1)
        rig.end("3")
        #expect(rig.fates("1", "2", "3") == [.executed, .executed, .executed])
        #expect(rig.broken == [])
    }

    @Test
    func `one value is kept as the combination says`() throws {
        let latest = try rig(.restart, .latest)
        latest.submit("2", at: 1, wait: 0)
        latest.advance(to: 1)
        latest.end("1", .threw)
        #expect(latest.executions.last == "1 trailing 2 ×2")
        #expect(latest.fates("1", "2") == [.superseded, .running])
        let first = try rig(.restart, .first)
        first.submit("2", at: 1, wait: 0)
        first.advance(to: 1)
        first.end("1", .threw)
        #expect(first.executions.last == "1 trailing 1 ×2")
        #expect(first.fates("1", "2") == [.running, .absorbed])
        #expect(latest.broken + first.broken == [])
    }

    @Test
    func `an interrupted execution that returns is executed, and the newer value starts alone`() throws {
        let rig = try rig(.restart, .collect)
        rig.submit("2", at: 1, wait: 0)
        rig.advance(to: 1)
        rig.end("1")
        #expect(rig.executions.last == "1 trailing 2")
        #expect(rig.fate("1") == .executed)
        #expect(rig.engine.counters.restarted == 0)
    }

    @Test
    func `interrupting at the submit, what goes back is held until the newer value falls due`() throws {
        let rig = try rig(.restart(interrupting: .whenSubmitted), .collect)
        rig.submit("2", at: 1)
        #expect(rig.stopped == ["1"])
        rig.end("1", .threw)
        #expect(rig.executions.count == 1)
        #expect(rig.state(at: 5).pending == 2)
        #expect(rig.fate("1") == .pending)
        rig.advance(to: 11)
        #expect(rig.executions.last == "11 trailing 1+2 ×2")
        #expect(rig.broken == [])
    }

    @Test(arguments: [true, false])
    func `what is held starts with a flush, and is dropped by a cancel`(_ flushes: Bool) throws {
        let rig = try rig(.restart(interrupting: .whenSubmitted), .collect)
        rig.submit("2", at: 1)
        // The newer value is dropped before the execution has given its own back.
        rig.cancel("k", at: 2)
        rig.end("1", .threw)
        #expect(rig.fates("1", "2") == [.pending, .cancelled])
        #expect(rig.state(at: 2) == CoreState(pending: 1))
        #expect(rig.due(at: 2) == nil)
        if flushes {
            rig.flush("k", at: 3)
            #expect(rig.executions.last == "3 flush 1")
        } else {
            rig.cancel("k", at: 3)
            #expect(rig.fate("1") == .cancelled)
            #expect(rig.isIdle)
        }
        #expect(rig.broken == [])
    }

    @Test
    func `an execution whose oldest submit is as old as maxWait is not interrupted`() throws {
        let rig = try Rig(
            .debounce(10, maxWait: 20), combination: .collect, whileRunning: .restart, handlersTakeTime: true)
        rig.submit("1", at: 0)
        rig.advance(to: 10)
        rig.submit("2", at: 12, wait: 0)
        rig.advance(to: 12)
        rig.end("1", .threw)
        #expect(rig.executions.last == "12 trailing 1+2 ×2")
        rig.submit("3", at: 20, wait: 0)
        rig.advance(to: 20)
        #expect(rig.stopped == ["1"], "the oldest submit is 20 old")
        rig.end("2")
        #expect(rig.executions.last == "20 trailing 3")
        #expect(rig.broken == [])
    }

    @Test
    func `a cancel of what is running ends an interrupted execution as cancelled`() throws {
        let rig = try rig(.restart, .collect)
        rig.submit("2", at: 1, wait: 0)
        rig.advance(to: 1)
        rig.cancel("k", running: true, at: 2)
        #expect(rig.stopped == ["1"], "it is cancelled once")
        rig.end("1", .threw)
        #expect(rig.fates("1", "2") == [.cancelled, .cancelled])
        #expect(rig.broken == [])
    }

    @Test
    func `a caller that waits for an interrupted execution waits for the one that gets its values`() throws {
        let rig = try rig(.restart, .collect)
        #expect(rig.wait(1))
        rig.submit("2", at: 1, wait: 0)
        rig.advance(to: 1)
        rig.end("1", .threw)
        #expect(rig.resumed == [])
        rig.end("2")
        #expect(rig.resumed == [1])
        #expect(rig.broken == [])
    }

    @Test
    func `a part of a batch goes back in front of the rest`() throws {
        let rig = try Rig(
            .debounce(10), combination: .collect, whileRunning: .restart, maxBatch: 2, handlersTakeTime: true)
        for value in ["1", "2", "3"] { rig.submit(value, at: 0) }
        rig.advance(to: 10)
        #expect(rig.executions == ["10 trailing 1+2 ×2"])
        rig.submit("4", at: 11, wait: 0)
        rig.advance(to: 11)
        rig.end("2", .threw)
        #expect(rig.executions.last == "11 trailing 1+2 ×2")
        rig.end("2")
        #expect(rig.executions.last == "11 trailing 3+4 ×2")
        #expect(rig.broken == [])
    }

    @Test(arguments: [true, false])
    func `after a shut-down nothing is held: it starts at once, or is cancelled`(_ flushes: Bool) throws {
        let rig = try rig(.restart(interrupting: .whenSubmitted), .collect)
        rig.submit("2", at: 1)
        rig.cancel("k", at: 2)
        rig.shutDown(flushing: flushes, at: 3)
        #expect(rig.wait(1))
        rig.end("1", .threw)
        #expect(rig.fate("1") == (flushes ? .running : .cancelled))
        #expect(rig.resumed == (flushes ? [] : [1]))
        if flushes { rig.end("1") }
        #expect(rig.resumed == [1])
        #expect(rig.isIdle)
        #expect(rig.broken == [])
    }

    // MARK: - Interruption at the submit

    @Test
    func `under .cancelRunning, too, a submit can cancel what is running, and keeps maxWait`() throws {
        let rig = try Rig(
            .debounce(10, maxWait: 15), whileRunning: .cancelRunning(interrupting: .whenSubmitted),
            handlersTakeTime: true)
        rig.submit("1", at: 0, wait: 0)
        rig.advance(to: 0)
        rig.submit("2", at: 1)
        #expect(rig.stopped == ["1"])
        rig.end("1", .threw)
        #expect(rig.fate("1") == .superseded)
        rig.submit("3", at: 9)
        rig.advance(to: 16)
        #expect(rig.executions.last == "16 maxWait 3 ×2")
        #expect(rig.broken == [])
    }

    @Test
    func `a submit that is absorbed or rejected interrupts nothing`() throws {
        let rig = try Rig(
            .debounce(10, [.leading]), whileRunning: .restart(interrupting: .whenSubmitted), handlersTakeTime: true)
        rig.submit("1", at: 0)
        rig.submit("2", at: 1)
        #expect(rig.fate("2") == .absorbed)
        rig.shutDown(flushing: true, at: 2)
        rig.submit("3", at: 3)
        #expect(rig.stopped == [])
        #expect(rig.broken == [])
    }

    // MARK: - concurrent

    @Test
    func `under .concurrent both run, and end independently`() throws {
        let rig = try rig(.concurrent)
        rig.submit("2", at: 1, wait: 0)
        rig.submit("3", at: 2, wait: 0)
        rig.advance(to: 2)
        #expect(rig.executions == ["0 trailing 1", "1 trailing 2", "2 trailing 3"])
        rig.end("2", .threw)
        rig.end("3")
        rig.end("1")
        #expect(rig.fates("1", "2", "3") == [.executed, .failed, .executed])
        #expect(rig.engine.core.slots.count == 0)
        #expect(rig.broken == [])
    }

    // MARK: - skip

    @Test
    func `under .skip a due value is dropped as absorbed`() throws {
        let rig = try rig(.skip)
        rig.submit("2", at: 1, wait: 0)
        rig.advance(to: 1)
        rig.end("1")
        #expect(rig.executions == ["0 trailing 1"])
        #expect(rig.fate("2") == .absorbed)
        #expect(rig.engine.core.slots.count == 0)
        #expect(rig.broken == [])
    }

    @Test
    func `under .skip a leading value is dropped as well, and the burst goes on`() throws {
        let rig = try Rig(.debounce(10, [.leading, .trailing]), whileRunning: .skip, handlersTakeTime: true)
        rig.submit("1", at: 0)
        rig.submit("2", at: 20)
        rig.submit("3", at: 21)
        rig.end("1")
        rig.advance(to: 31)
        #expect(rig.executions == ["0 leading 1", "31 trailing 3"])
        #expect(rig.fate("2") == .absorbed)
    }

    @Test
    func `under .skip a flush waits, and what falls due meanwhile is dropped`() throws {
        let rig = try rig(.skip)
        rig.submit("2", at: 1)
        rig.flush("k", at: 2)
        rig.submit("3", at: 3, wait: 0)
        rig.advance(to: 3)
        #expect(rig.fates("2", "3") == [.pending, .absorbed])
        rig.submit("4", at: 4)
        rig.flush("k", at: 5)
        rig.end("1")
        #expect(rig.executions.last == "5 flush 4 ×2")
        #expect(rig.broken == [])
    }

    @Test
    func `under .skip the flush of a shut-down waits`() throws {
        let rig = try rig(.skip)
        rig.submit("2", at: 1)
        rig.shutDown(flushing: true, at: 2)
        rig.end("1")
        #expect(rig.executions.last == "2 flush 2")
    }

    // MARK: - The gate goes on

    @Test
    func `a submit while its key is running opens a new burst`() throws {
        let rig = try rig(.queue)
        rig.submit("2", at: 1)
        rig.advance(to: 3)
        rig.end("1")
        #expect(rig.state(at: 3).pending == 1)
        rig.advance(to: 11)
        #expect(rig.executions.last == "11 trailing 2")
        rig.end("2")
        #expect(rig.engine.core.slots.count == 0)
        #expect(rig.broken == [])
    }

    @Test
    func `different keys run independently`() throws {
        let rig = try rig(.queue)
        rig.submit("2", "other", at: 1, wait: 0)
        rig.advance(to: 1)
        #expect(rig.executions == ["0 trailing 1", "1 trailing other: 2"])
    }
}
