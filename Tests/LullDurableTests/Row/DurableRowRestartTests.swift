import LullCore
import LullDurable
import Testing

/// A run that newer values interrupt, and whose values go back.
@Suite("A durable row: restarting")
struct DurableRowRestartTests {
    private func rig(
        _ interrupting: Interruption = .whenDue, maxWait: Double? = nil, edges: Edges = .trailing,
        _ combination: CombinationRule = .collect, maxBatch: Int? = nil
    ) throws -> RowRig {
        let policy = try Policy.debounce(
            wait: .seconds(2), maxWait: maxWait.map { .nanoseconds(Int64($0 * 1e9)) }, edges: edges)
        return try RowRig(
            policy, combination: combination, maxBatch: maxBatch, whileRunning: .restart(interrupting: interrupting))
    }

    @Test
    func `a value that falls due interrupts the run at its due instant, and its values go back in front of it`() throws
    {
        var rig = try rig()
        rig.submit(1, at: 0)
        rig.claim(at: 2)
        let run = try #require(rig.row.run)
        rig.submit(2, at: 3)
        #expect(rig.row.run == run)
        rig.settle(at: 9)
        #expect(rig.row.run?.mark == RowRig.at(5) && rig.ready == [2])
        rig.interrupted(at: 9)
        #expect(rig.ready == [1, 2] && rig.row.run == nil && rig.row.taken == 0)
        let ready = try #require(rig.row.ready)
        #expect(ready.submits == 1...2 && ready.count == 2 && ready.first == RowRig.at(0) && ready.due == RowRig.at(5))
        #expect(rig.claim(at: 9) && rig.row.run?.id != run.id && rig.row.run?.attempt == 1)
    }

    @Test
    func `a submit interrupts the run at once, and its values are held until the newer one is due`() throws {
        var rig = try rig(.whenSubmitted)
        rig.submit(1, at: 0)
        rig.claim(at: 2)
        rig.submit(2, at: 3)
        #expect(rig.row.run?.mark == RowRig.at(3))
        rig.interrupted(at: 4)
        #expect(rig.row.ready?.isHeld == true && rig.ready == [1] && rig.pending == [2])
        #expect(rig.row.startable == .farFuture && !rig.claim(at: 4.9))
        #expect(rig.row.wake(by: rig.rules) == RowRig.at(5))
        #expect(rig.claim(at: 5) && rig.run == [1, 2] && rig.row.run?.value.submits == 1...2)
        #expect(rig.row.run?.value.cause == .trailing && rig.row.run?.value.due == RowRig.at(5))
    }

    @Test
    func `with latest the newer value takes the place of the older, with first it does not; both ranges end together`()
        throws
    {
        for (combination, value) in [(CombinationRule.latest, UInt8(2)), (.first, 1)] {
            var rig = try rig(.whenDue, combination)
            rig.submit(1, at: 0)
            rig.claim(at: 2)
            rig.submit(2, at: 3)
            rig.interrupted(at: 6)
            #expect(rig.claim(at: 6) && rig.run == [value] && rig.row.run?.value.count == 2)
            rig.complete(at: 7)
            #expect(rig.ends == ["1-2 completed"])
        }
    }

    @Test
    func `a run that completes is completed although it was interrupted, and the newer value is a run of its own`()
        throws
    {
        var rig = try rig()
        rig.submit(1, at: 0)
        rig.claim(at: 2)
        rig.submit(2, at: 3)
        rig.complete(at: 9)
        #expect(rig.ends == ["1-1 completed"])
        #expect(rig.claim(at: 9) && rig.run == [2])
    }

    @Test
    func `an interrupted run that fails, is released or loses its lease goes back, and is never dead`() throws {
        for end in 0..<3 {
            var rig = try rig()
            rig.maxAttempts = 1
            rig.submit(1, at: 0)
            rig.claim(at: 2)
            rig.submit(2, at: 3)
            rig.settle(at: 6)
            switch end {
            case 0: rig.fail(at: 6, retry: nil)
            case 1: rig.release(at: 6)
            default: break
            }
            #expect(rig.claim(at: 40) && rig.run == [1, 2] && rig.row.run?.attempt == 1 && rig.endings == [])
        }
    }

    @Test
    func `a run whose oldest submit is as old as maxWait is not interrupted`() throws {
        var rig = try rig(.whenSubmitted, maxWait: 10)
        rig.submit(1, at: 0)
        rig.claim(at: 2)
        rig.submit(2, at: 9.9)
        #expect(rig.row.run?.mark == RowRig.at(9.9))
        rig = try self.rig(.whenSubmitted, maxWait: 10)
        rig.submit(1, at: 0)
        rig.claim(at: 2)
        rig.submit(2, at: 10)
        rig.settle(at: 12)
        #expect(rig.row.run?.mark == nil && rig.ready == [2])
        rig.interrupted(at: 13)
        #expect(rig.row.run?.isInBackoff == true && rig.row.run?.attempt == 0)
    }

    @Test
    func `a run between two attempts goes back at once`() throws {
        for interrupting in [Interruption.whenDue, .whenSubmitted] {
            var rig = try rig(interrupting, .latest)
            rig.submit(1, at: 0)
            rig.claim(at: 2)
            rig.fail(at: 3, retry: 100)
            rig.submit(2, at: 4)
            #expect((rig.row.run == nil) == (interrupting == .whenSubmitted))
            rig.settle(at: 6)
            #expect(rig.row.run == nil && rig.ready == [2] && rig.row.ready?.submits == 1...2 && rig.endings == [])
        }
    }

    @Test
    func `a held value starts with a flush, is dropped by a cancellation, and interrupts nothing`() throws {
        var rig = try rig(.whenSubmitted)
        rig.submit(1, at: 0)
        rig.claim(at: 2)
        rig.submit(2, at: 3, wait: 60)
        rig.interrupted(at: 4)
        var cancelled = rig
        #expect(cancelled.cancel(at: 5) == 2)
        #expect(cancelled.ends == ["1-1 cancelled", "2-2 cancelled"])
        #expect(rig.flush(at: 5) && rig.ready == [1, 2] && rig.row.ready?.cause == .flush)
        #expect(rig.claim(at: 5) && rig.row.run?.value.due == RowRig.at(5))
        // Without anything newer.
        rig = try self.rig(.whenSubmitted)
        rig.submit(1, at: 0)
        rig.claim(at: 2)
        rig.submit(2, at: 3, wait: 60)
        rig.step(#_sourceLocation) { _ = $0.row.cancelPending(at: RowRig.at(4), by: $0.rules, &$0.endings) }
        #expect(rig.ends == ["2-2 cancelled"])
        // What came after it has ended: it goes on alone, and is not interrupted any more.
        rig.interrupted(at: 5)
        #expect(rig.row.run?.isInBackoff == true && rig.row.run?.mark == .farFuture && rig.row.ready == nil)
        rig.submit(3, at: 6)
        #expect(rig.claim(at: 6) && rig.run == [1])
        #expect(rig.row.run?.mark == .farFuture)
    }

    @Test
    func `a part of a batch goes back in front of the rest, which interrupts nothing`() throws {
        var rig = try rig(maxBatch: 2)
        for value in 1...3 { rig.submit(UInt8(value), at: 0) }
        rig.claim(at: 2)
        rig.settle(at: 20)
        #expect(rig.run == [1, 2] && rig.ready == [3] && rig.row.run?.mark == nil)
        rig.submit(4, at: 21)
        rig.interrupted(at: 24)
        #expect(rig.ready == [1, 2, 3, 4] && rig.row.ready?.since == RowRig.at(24))
        #expect(rig.claim(at: 24) && rig.run == [1, 2])
    }

    @Test
    func `a dead run that was retried is not interrupted`() throws {
        var rig = try rig()
        rig.submit(1, at: 0)
        rig.claim(at: 2)
        rig.fail(at: 3, retry: nil)
        let dead = try #require(rig.endings.first?.run)
        #expect(rig.retry(dead, at: 4) == .accepted)
        rig.claim(at: 4)
        rig.submit(2, at: 5)
        rig.settle(at: 8)
        #expect(rig.row.run?.isInterrupted == false && rig.ready == [2])
    }

    @Test
    func `a submit that is absorbed interrupts nothing, and neither does a later one: what it follows has ended`()
        throws
    {
        var rig = try rig(.whenSubmitted, edges: .leading)
        rig.submit(1, at: 0)
        rig.claim(at: 0)
        #expect(rig.submit(2, at: 1) == nil && rig.row.run?.mark == nil)
        rig.submit(3, at: 8)
        #expect(rig.row.run?.mark == nil && rig.ready == [3])
    }

    // MARK: - Touching

    @Test
    func `a touch moves the due instant of what is pending, and interrupts nothing`() throws {
        var rig = try rig(.whenSubmitted, maxWait: 10)
        #expect(!rig.touch(at: 0) && rig.row.isIdle)
        rig.submit(1, at: 0)
        rig.claim(at: 2)
        rig.submit(2, at: 20)
        rig.row.run?.mark = nil
        #expect(rig.touch(at: 21) && rig.row.due(by: rig.rules) == RowRig.at(23) && rig.row.run?.mark == nil)
        #expect(rig.touch(at: 21, wait: 5) && rig.row.due(by: rig.rules) == RowRig.at(26))
        #expect(rig.touch(at: 21, wait: -1) && rig.row.due(by: rig.rules) == RowRig.at(21))
        rig.settle(at: 21)
        let isOpen = rig.touch(at: 21)
        #expect(!isOpen)
    }

    @Test
    func `a touch extends with extend, stays within maxWait, and means nothing to a throttle`() throws {
        var rig = try RowRig(.debounce(wait: .seconds(2), maxWait: .seconds(5), delayRule: .extend))
        rig.submit(1, at: 0, wait: 4)
        #expect(rig.touch(at: 1) && rig.row.due(by: rig.rules) == RowRig.at(4))
        #expect(rig.touch(at: 3.5) && rig.row.due(by: rig.rules) == RowRig.at(5))
        #expect(rig.row.gate.quiet == RowRig.at(5.5) && rig.row.generation == 1)
        rig = try RowRig(.throttle(interval: .seconds(2), edges: [.trailing]))
        rig.submit(1, at: 0)
        #expect(!rig.touch(at: 1) && rig.row.due(by: rig.rules) == RowRig.at(2))
    }
}
