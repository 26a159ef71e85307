import LullDurable
import LullCore
import Testing

/// The effect on a row of a limit on the number of values in a run.
@Suite("A durable row: batches")
struct DurableRowBatchTests {
    @Test
    func `a claim takes the first values, and the rest stays ready with the same edge, due instant and oldest submit`()
        throws
    {
        var rig = try RowRig(combination: .collect, maxBatch: 2)
        for value in 1...5 { rig.submit(UInt8(value), at: 0) }
        #expect(rig.claim(at: 3) && rig.run == [1, 2] && rig.ready == [3, 4, 5])
        let run = try #require(rig.row.run)
        let rest = try #require(rig.row.ready)
        #expect(run.value.submits == 1...2 && rest.submits == 3...5 && run.value.count == 2 && rest.count == 3)
        #expect(rest.due == run.value.due && rest.first == run.value.first && rest.cause == run.value.cause)
        #expect(rig.claim(at: 4) == false)
        rig.complete(at: 5)
        // It queues behind what waits now.
        #expect(rig.row.startable == RowRig.at(5) && rig.row.ready?.due == RowRig.at(2))
        #expect(rig.claim(at: 6) && rig.run == [3, 4] && rig.row.run?.id != run.id)
        rig.fail(at: 7, retry: nil)
        #expect(rig.row.startable == RowRig.at(7))
        #expect(rig.claim(at: 8) && rig.run == [5] && rig.row.ready == nil)
        rig.complete(at: 9)
        #expect(rig.ends == ["1-2 completed", "3-4 dead", "5-5 completed"] && rig.row.isIdle)
    }

    @Test
    func `later values join the rest, which keeps its turn`() throws {
        var rig = try RowRig(combination: .collect, maxBatch: 2)
        for value in 1...3 { rig.submit(UInt8(value), at: 0) }
        rig.claim(at: 2)
        rig.submit(4, at: 3)
        rig.complete(at: 6)
        #expect(rig.ready == [3, 4] && rig.row.startable == RowRig.at(6) && rig.row.ready?.due == RowRig.at(2))
        #expect(rig.claim(at: 6) && rig.row.run?.value.submits == 3...4)
    }

    @Test
    func `absorbed submits stay with the value that absorbed them, in whichever part it is`() throws {
        let policy = try Policy.debounce(wait: .seconds(2), edges: .leading)
        var rig = try RowRig(policy, combination: .collect, maxBatch: 1)
        // Each burst: one value, and two submits that it absorbs.
        for burst in 0..<3 {
            for value in 0..<3 { rig.submit(UInt8(10 * burst + value), at: Double(5 * burst)) }
        }
        #expect(rig.row.ready?.count == 3 && rig.row.ready?.submits == 1...9)
        for (value, submits) in [(UInt8(0), Int64(1)...3), (10, 4...6), (20, 7...9)] {
            #expect(rig.claim(at: 20) && rig.run == [value] && rig.row.run?.value.submits == submits)
            rig.complete(at: 20)
        }
        #expect(rig.row.isIdle || rig.row.gate.isOpen)
    }

    @Test
    func `a row whose values are in the store is divided where the store says that the rest begins`() throws {
        let rules = try DurableRules(.debounce(wait: .zero), combination: .collect, maxBatch: 2)
        var row = DurableRow(base: 0)
        row.generation = 5
        row.ready = DurableRow.Ready(
            batch: Batch(.stored(.ready)), submits: 1...5, count: 4, first: .origin, due: .origin, cause: .trailing)
        var endings: [DurableEnding] = []
        var sequence: Int64 = 0
        let claim = DurableClaim.Terms(owner: 1, lease: .seconds(30), maxAttempts: 3)
        #expect(row.claim(claim, at: RowRig.at(1), by: rules, sequence: &sequence, rest: 4, &endings))
        #expect(row.run?.value.submits == 1...3 && row.run?.value.count == 2)
        #expect(row.ready?.submits == 4...5 && row.ready?.count == 2)
        #expect(row.checkInvariants() == [])
    }
}
