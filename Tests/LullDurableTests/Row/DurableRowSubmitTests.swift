import LullCore
import LullDurable
import Testing

/// The effects of submits, flushes and cancels on a row.
@Suite("A durable row: producers")
struct DurableRowSubmitTests {
    // MARK: - Falling due

    @Test
    func `a pending value becomes ready at its due instant, whenever a worker looks`() throws {
        var rig = try RowRig()
        #expect(rig.submit(1, at: 0) == 2)
        #expect(rig.submit(2, at: 1.5) == 3.5)
        #expect(rig.pending == [2] && rig.row.pendingSubmits == 1...2 && rig.ready == nil)
        rig.settle(at: 3.4)
        #expect(rig.ready == nil)
        rig.settle(at: 100)
        #expect(rig.ready == [2] && rig.pending == nil)
        let ready = try #require(rig.row.ready)
        #expect(ready.submits == 1...2 && ready.count == 2 && ready.cause == .trailing)
        #expect(ready.first == RowRig.at(0) && ready.due == RowRig.at(3.5))
    }

    @Test
    func `a call at exactly the due instant comes after it`() throws {
        var rig = try RowRig()
        rig.submit(1, at: 0)
        rig.submit(2, at: 2)
        #expect(rig.ready == [1] && rig.pending == [2] && rig.row.generation == 2)
    }

    @Test(arguments: 0..<6)
    func `every call settles first`(call: Int) throws {
        var rig = try RowRig()
        rig.submit(1, at: 0)
        switch call {
        case 0: rig.submit(2, at: 2)
        case 1: rig.flush(at: 2)
        case 2: #expect(rig.cancel(at: 2) == 1)
        case 3: #expect(rig.claim(at: 2) == true)
        case 4: rig.complete(at: 2)
        default: rig.release(at: 2)
        }
        #expect(rig.row.ready != nil || call == 2 || call == 3)
    }

    @Test
    func `the longest wait applies`() throws {
        var rig = try RowRig(.debounce(wait: .seconds(2), maxWait: .seconds(3)))
        rig.submit(1, at: 0)
        rig.submit(2, at: 1.5)
        #expect(rig.submit(3, at: 2.9) == 3)
        rig.settle(at: 3)
        #expect(rig.row.ready?.cause == .maxWait && rig.row.ready?.due == RowRig.at(3))
    }

    @Test
    func `a leading edge and a full count make a value ready at the submit itself`() throws {
        var rig = try RowRig(
            .debounce(wait: .seconds(2), edges: [.leading, .trailing], maxCount: 2), combination: .collect)
        #expect(rig.submit(1, at: 0) == 0)
        #expect(rig.ready == [1] && rig.row.ready?.cause == .leading && rig.pending == nil)
        #expect(rig.claim(at: 0) == true)
        #expect(rig.submit(2, at: 1) == 3)
        #expect(rig.submit(3, at: 1) == 1)
        #expect(rig.ready == [2, 3] && rig.row.ready?.cause == .maxCount && rig.row.ready?.submits == 2...3)
    }

    @Test
    func `a throttle's window lasts over its execution, and is kept until it has ended`() throws {
        var rig = try RowRig(.throttle(interval: .seconds(10)))
        #expect(rig.submit(1, at: 0) == 0)
        #expect(rig.claim(at: 0) == true)
        rig.complete(at: 1)
        #expect(!rig.row.isIdle && rig.row.wake(by: rig.rules) == RowRig.at(10))
        #expect(rig.submit(2, at: 2) == 10)
        rig.settle(at: 10)
        #expect(rig.ready == [2] && rig.row.ready?.due == RowRig.at(10))
        #expect(rig.claim(at: 12) == true)
        rig.complete(at: 12)
        #expect(!rig.row.isIdle)
        rig.settle(at: 20)
        #expect(rig.row.isIdle && rig.ends == ["1-1 completed", "2-2 completed"])
    }

    @Test
    func `changed durations apply from the next submit on`() throws {
        var rig = try RowRig(.debounce(wait: .seconds(2), maxWait: .seconds(5)))
        rig.submit(1, at: 0, wait: 100)
        rig.rules.policy = try .debounce(wait: .seconds(1), maxWait: .seconds(50))
        #expect(rig.row.due(by: rig.rules) == RowRig.at(5))
        #expect(rig.submit(2, at: 1) == 2)
        var throttle = try RowRig(.throttle(interval: .seconds(10)))
        throttle.submit(1, at: 0)
        throttle.submit(2, at: 1)
        throttle.rules.policy = try .throttle(interval: .seconds(3))
        throttle.settle(at: 10)
        #expect(throttle.ready == [2] && throttle.row.gate.quiet == RowRig.at(20))
    }

    // MARK: - Merging

    @Test(arguments: [
        (CombinationRule.latest, [3] as [UInt8]), (.first, [1]), (.collect, [1, 2, 3]),
    ])
    func `what falls due while a value is ready is merged with it`(combination: CombinationRule, values: [UInt8]) throws
    {
        var rig = try RowRig(combination: combination)
        rig.submit(1, at: 0)
        rig.submit(2, at: 1)
        rig.submit(3, at: 5)
        rig.settle(at: 7)
        let ready = try #require(rig.row.ready)
        #expect(rig.ready == values && ready.submits == 1...3 && ready.count == 3)
        #expect(ready.first == RowRig.at(0) && ready.due == RowRig.at(3))
    }

    @Test
    func `ranges are never merged after a claim`() throws {
        var rig = try RowRig(combination: .collect)
        rig.submit(1, at: 0)
        #expect(rig.claim(at: 2) == true)
        rig.submit(2, at: 3)
        rig.settle(at: 5)
        #expect(rig.run == [1] && rig.ready == [2])
        #expect(rig.row.run?.value.submits == 1...1 && rig.row.ready?.submits == 2...2)
    }

    // MARK: - Absorbed

    @Test
    func `a submit that is absorbed extends what is ready, or ends at once where a worker has it`() throws {
        var rig = try RowRig(.debounce(wait: .seconds(2), edges: .leading))
        rig.submit(1, at: 0)
        #expect(rig.submit(2, at: 1) == nil)
        #expect(rig.ready == [1] && rig.row.ready?.submits == 1...2 && rig.row.ready?.count == 1)
        #expect(rig.claim(at: 1) == true)
        #expect(rig.submit(3, at: 2) == nil)
        #expect(rig.submit(4, at: 3) == nil)
        #expect(rig.ends == ["3-3 absorbed", "4-4 absorbed"])
        rig.complete(at: 4)
        #expect(rig.ends.last == "1-2 completed")
    }

    // MARK: - Flush

    @Test
    func `a flush makes ready what is pending, and closes the gate`() throws {
        var rig = try RowRig()
        rig.submit(1, at: 0)
        #expect(rig.flush(at: 1) == true)
        #expect(rig.ready == [1] && rig.row.ready?.cause == .flush && !rig.row.gate.isOpen)
        #expect(rig.flush(at: 1) == false)
    }

    @Test
    func `a flush skips the rest of a failed run's delay, and does not change a claimed run`() throws {
        var rig = try RowRig()
        rig.submit(1, at: 0)
        rig.claim(at: 2)
        #expect(!rig.flush(at: 3) && rig.runEnd == 32)
        rig.fail(at: 4, retry: 100)
        #expect(rig.claim(at: 5) == false)
        #expect(rig.flush(at: 5) && rig.runEnd == 5)
        #expect(rig.claim(at: 5) && rig.row.run?.attempt == 2)
    }

    // MARK: - Cancel

    @Test
    func `a cancel ends what no worker has, each as a range of its own, and closes the gate`() throws {
        var rig = try RowRig(combination: .collect)
        rig.submit(1, at: 0)
        rig.claim(at: 2)
        rig.fail(at: 3, retry: 100)
        rig.submit(2, at: 3)
        rig.submit(3, at: 6)
        #expect(rig.row.run != nil && rig.ready == [2] && rig.pending == [3])
        #expect(rig.cancel(at: 7) == 3)
        #expect(rig.ends == ["1-1 cancelled", "2-2 cancelled", "3-3 cancelled"] && rig.row.isIdle)
    }

    @Test
    func `a cancel does not change what a worker has`() throws {
        var rig = try RowRig()
        rig.submit(1, at: 0)
        rig.claim(at: 2)
        rig.submit(2, at: 3)
        #expect(rig.cancel(at: 4) == 1)
        #expect(rig.ends == ["2-2 cancelled"] && rig.run == [1])
        rig.complete(at: 5)
        #expect(rig.row.isIdle)
    }

    // MARK: - At rest

    @Test
    func `an idle row can be deleted, and its key never gets a number twice`() throws {
        var rig = try RowRig(base: 41)
        #expect(rig.row.isIdle)
        rig.submit(1, at: 0)
        #expect(rig.row.generation == 42 && !rig.row.isIdle)
        rig.claim(at: 2)
        #expect(!rig.row.isIdle)
        rig.complete(at: 3)
        #expect(rig.row.isIdle && rig.ends == ["42-42 completed"])
    }

    @Test
    func `a row's wake-up is no later than anything can happen to it`() throws {
        var rig = try RowRig(.debounce(wait: .seconds(2), maxWait: .seconds(3)))
        rig.submit(1, at: 0)
        #expect(rig.row.wake(by: rig.rules) == RowRig.at(2))
        rig.submit(2, at: 1.9)
        #expect(rig.row.wake(by: rig.rules) == RowRig.at(3))
        rig.claim(at: 3)
        #expect(rig.row.wake(by: rig.rules) == RowRig.at(33))
        rig.submit(3, at: 4)
        #expect(rig.row.wake(by: rig.rules) == RowRig.at(6))
        rig.settle(at: 6)
        #expect(rig.row.wake(by: rig.rules) == RowRig.at(33))
        rig.fail(at: 7, retry: nil)
        #expect(rig.row.wake(by: rig.rules) == RowRig.at(6))
    }
}
