import LullDurable
import LullCore
import Testing

/// The effects of claims, reports and their absence on a row.
@Suite("A durable row: workers")
struct DurableRowRunTests {
    // MARK: - Claiming

    @Test
    func `nothing can be claimed before it is due; then what is ready is frozen`() throws {
        var rig = try RowRig()
        rig.submit(1, at: 0)
        #expect(rig.row.startable == nil && !rig.claim(at: 1.9))
        #expect(rig.claim(at: 2) == true)
        let run = try #require(rig.row.run)
        #expect(rig.run == [1] && run.value.submits == 1...1 && run.attempt == 1 && run.owner == 7)
        #expect(run.id == run.fence && rig.runEnd == 32 && rig.row.taken == 1 && rig.row.ready == nil)
        #expect(rig.claim(at: 31.9, owner: 8) == false)
    }

    @Test
    func `a run may start from its due instant, from the end of its lease, or from the end of its delay`() throws {
        var rig = try RowRig()
        rig.submit(1, at: 0)
        rig.settle(at: 50)
        #expect(rig.row.startable == RowRig.at(2))
        rig.claim(at: 50)
        #expect(rig.row.startable == RowRig.at(80))
        rig.fail(at: 51, retry: 4)
        #expect(rig.row.startable == RowRig.at(55))
        // The ready value waits behind the run.
        rig = try RowRig(combination: .collect)
        rig.submit(1, at: 0)
        rig.claim(at: 2)
        rig.submit(2, at: 3)
        rig.settle(at: 5)
        #expect(rig.row.startable == RowRig.at(32))
    }

    @Test
    func `a submit while a run is claimed touches only the pending side, and is one follow-up run`() throws {
        var rig = try RowRig()
        rig.submit(1, at: 0)
        rig.claim(at: 2)
        let run = rig.row.run
        for second in 3...9 { rig.submit(UInt8(second), at: Double(second)) }
        rig.settle(at: 20)
        #expect(rig.row.run == run && rig.ready == [9] && rig.row.ready?.submits == 2...8)
        #expect(rig.claim(at: 20) == false)
        rig.complete(at: 21)
        #expect(rig.claim(at: 21) && rig.run == [9] && rig.row.run?.id != run?.id)
    }

    // MARK: - Leases

    @Test
    func `a run whose lease has ended is taken over with its id, range and values, a new fence, and one attempt more`()
        throws
    {
        var rig = try RowRig()
        rig.submit(1, at: 0)
        rig.claim(at: 2)
        let old = try #require(rig.row.run)
        #expect(rig.claim(at: 31, owner: 8) == false)
        #expect(rig.claim(at: 32, owner: 8) == true)
        let new = try #require(rig.row.run)
        #expect(new.id == old.id && new.value == old.value && new.fence > old.fence)
        #expect(new.attempt == 2 && new.owner == 8 && rig.runEnd == 62)
        #expect(new.error == DurableRow.leaseExpired)
    }

    @Test
    func `a heartbeat extends the lease, also when it has expired and no worker has taken over`() throws {
        var rig = try RowRig()
        rig.submit(1, at: 0)
        rig.claim(at: 2)
        rig.row.heartbeat(lease: RowRig.lease, at: RowRig.at(40))
        #expect(rig.runEnd == 70 && !rig.claim(at: 69, owner: 8))
    }

    @Test
    func `a run whose workers die is dead after the last attempt, and does not block its key`() throws {
        var rig = try RowRig()
        rig.submit(1, at: 0)
        for attempt in 0..<3 { #expect(rig.claim(at: 2 + 30 * Double(attempt)) == true) }
        rig.submit(2, at: 70)
        #expect(rig.claim(at: 92) && rig.run == [2])
        #expect(rig.ends == ["1-1 dead"] && rig.endings[0].run?.attempt == 3)
        #expect(rig.endings[0].run.map { RowRig.values($0.value.batch) } == [1])
    }

    @Test
    func `a run with nothing behind it that dies leaves nothing to claim`() throws {
        var rig = try RowRig()
        rig.maxAttempts = 1
        rig.submit(1, at: 0)
        #expect(rig.claim(at: 2) == true)
        #expect(!rig.claim(at: 32) && rig.ends == ["1-1 dead"] && rig.row.isIdle)
    }

    @Test
    func `with latest, a run whose lease has ended is replaced by a newer ready value`() throws {
        var rig = try RowRig()
        rig.submit(1, at: 0)
        rig.claim(at: 2)
        rig.submit(2, at: 10)
        #expect(rig.claim(at: 32) && rig.run == [2] && rig.row.run?.attempt == 1)
        #expect(rig.ends == ["1-1 failed"] && rig.endings[0].run?.error == DurableRow.leaseExpired)
    }

    @Test
    func `a run that is handed out again to the worker that has it gets a new fence and no new attempt`() throws {
        var rig = try RowRig()
        rig.submit(1, at: 0)
        rig.claim(at: 2)
        let old = try #require(rig.row.run)
        let claim = DurableClaim.Terms(owner: 7, lease: RowRig.lease, maxAttempts: 3)
        rig.row.handOutAgain(claim, at: RowRig.at(10), sequence: &rig.sequence)
        let new = try #require(rig.row.run)
        #expect(new.id == old.id && new.fence > old.fence && new.attempt == 1 && rig.runEnd == 40)
    }

    // MARK: - Failing

    @Test
    func `a run that failed waits, and keeps id, range and values in every attempt`() throws {
        var rig = try RowRig()
        rig.submit(1, at: 0)
        rig.claim(at: 2)
        let run = try #require(rig.row.run)
        rig.fail(at: 3, retry: 5, error: "first")
        #expect(rig.row.run?.isInBackoff == true && rig.row.run?.error == Array("first".utf8))
        #expect(!rig.claim(at: 7.9) && rig.claim(at: 8))
        #expect(rig.row.run?.id == run.id && rig.row.run?.value == run.value && rig.row.run?.attempt == 2)
        rig.fail(at: 9, retry: nil, error: "second")
        #expect(rig.ends == ["1-1 dead"] && rig.row.isIdle)
        #expect(rig.endings[0].run?.error == Array("second".utf8) && rig.endings[0].run?.attempt == 2)
    }

    @Test
    func `with latest, a newer value that falls due ends a failed run, whichever comes first`() throws {
        var rig = try RowRig()
        rig.submit(1, at: 0)
        rig.claim(at: 2)
        rig.fail(at: 3, retry: 100)
        rig.submit(2, at: 4)
        // Being submitted is not enough.
        #expect(rig.row.run != nil)
        rig.settle(at: 6)
        #expect(rig.ends == ["1-1 failed"] && rig.endings[0].run?.error == Array("no".utf8))
        #expect(rig.claim(at: 6) && rig.run == [2] && rig.row.run?.attempt == 1)

        rig = try RowRig()
        rig.submit(1, at: 0)
        rig.claim(at: 2)
        rig.submit(2, at: 3)
        rig.fail(at: 10, retry: 100)
        #expect(rig.ends == ["1-1 failed"] && rig.claim(at: 10) && rig.run == [2])
    }

    @Test(arguments: [
        CombinationRule.first, .collect,
    ])
    func `with first and collect, the failed run goes first and the newer value waits`(combination: CombinationRule)
        throws
    {
        var rig = try RowRig(combination: combination)
        rig.submit(1, at: 0)
        rig.claim(at: 2)
        rig.fail(at: 3, retry: 100)
        rig.submit(2, at: 4)
        rig.settle(at: 6)
        #expect(!rig.claim(at: 6) && rig.run == [1] && rig.ready == [2])
        #expect(rig.claim(at: 103) && rig.run == [1] && rig.row.run?.attempt == 2)
        rig.complete(at: 104)
        #expect(rig.claim(at: 104) && rig.run == [2])
    }

    // MARK: - Releasing

    @Test
    func `a run that is released spends no attempt, and may be claimed at once`() throws {
        var rig = try RowRig()
        rig.submit(1, at: 0)
        rig.claim(at: 2)
        let run = try #require(rig.row.run)
        rig.release(at: 3)
        #expect(rig.row.run?.attempt == 0 && rig.runEnd == 3)
        #expect(rig.claim(at: 3, owner: 8) == true)
        #expect(rig.row.run?.id == run.id && rig.row.run?.attempt == 1 && rig.row.run?.owner == 8)
    }

    @Test
    func `a released run that never failed keeps its turn; one that had failed is replaced by a newer value`() throws {
        var rig = try RowRig()
        rig.submit(1, at: 0)
        rig.claim(at: 2)
        rig.submit(2, at: 3)
        rig.release(at: 10)
        #expect(rig.claim(at: 10) && rig.run == [1])
        rig.fail(at: 11, retry: 0)
        #expect(rig.ends == ["1-1 failed"])

        rig = try RowRig()
        rig.submit(1, at: 0)
        rig.claim(at: 2)
        rig.fail(at: 3, retry: 0)
        rig.claim(at: 3)
        rig.submit(2, at: 4)
        rig.release(at: 10)
        #expect(rig.ends == ["1-1 failed"] && rig.ready == [2])
    }

    // MARK: - Retrying a dead run

    /// A run that has died, and the row after it.
    private func dead(_ rig: inout RowRig) throws -> DurableRow.Run {
        rig.submit(1, at: 0)
        rig.claim(at: 2)
        rig.fail(at: 3, retry: nil)
        return try #require(rig.endings.last?.run)
    }

    @Test
    func `a dead run is retried with its id, its range, and a fresh count of attempts`() throws {
        var rig = try RowRig(base: 9)
        let run = try dead(&rig)
        // The row was deleted, and the base of new rows has risen since.
        rig.row = DurableRow(base: 30)
        #expect(rig.retry(run, newest: 10, at: 50) == .accepted)
        #expect(rig.claim(at: 50) == true)
        #expect(rig.row.run?.id == run.id && rig.row.run?.attempt == 1 && rig.row.run?.error == nil)
        #expect(rig.row.run?.value.submits == 10...10 && rig.row.generation == 30)
        rig.complete(at: 51)
        #expect(rig.ends == ["10-10 completed"] && rig.row.isIdle)
    }

    @Test
    func `a dead run whose gate is still open is retried in its row`() throws {
        var rig = try RowRig(.throttle(interval: .seconds(100)))
        rig.submit(1, at: 0)
        rig.claim(at: 0)
        rig.fail(at: 3, retry: nil)
        let run = try #require(rig.endings.last?.run)
        #expect(!rig.row.isIdle)
        #expect(rig.retry(run, at: 50) == .accepted)
        #expect(rig.claim(at: 50) && rig.run == [1])
    }

    @Test
    func `with latest a dead run is not retried once its key has a newer generation, in the row or ended`() throws {
        var rig = try RowRig()
        let run = try dead(&rig)
        rig.submit(2, at: 60)
        let before = rig.row
        #expect(rig.retry(run, at: 61) == .outdated)
        #expect(rig.row == before)
        rig.row = DurableRow(base: 30)
        #expect(rig.retry(run, newest: 2, at: 70) == .outdated)
    }

    @Test(arguments: [CombinationRule.first, .collect])
    func `with first and collect a dead run is retried before newer ones`(combination: CombinationRule) throws {
        var rig = try RowRig(combination: combination)
        let run = try dead(&rig)
        rig.submit(2, at: 60)
        #expect(rig.retry(run, newest: 1, at: 63) == .accepted)
        #expect(rig.claim(at: 63) && rig.run == [1] && rig.row.run?.id == run.id && rig.ready == [2])
        rig.complete(at: 64)
        #expect(rig.claim(at: 64) && rig.run == [2])
        rig.complete(at: 65)
        #expect(rig.ends == ["1-1 completed", "2-2 completed"])
    }

    @Test
    func `a dead run is not retried beside another one`() throws {
        var rig = try RowRig(combination: .collect)
        let run = try dead(&rig)
        rig.submit(2, at: 60)
        rig.claim(at: 62)
        #expect(rig.retry(run, at: 63) == .busy)
        rig.fail(at: 64, retry: 100)
        #expect(rig.retry(run, at: 65) == .busy)
        rig.flush(at: 66)
        rig.claim(at: 66)
        rig.complete(at: 67)
        #expect(rig.retry(run, at: 68) == .accepted)
    }
}
