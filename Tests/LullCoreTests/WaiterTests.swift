import LullReference
import Testing

@testable import LullCore
@testable import LullEngine

/// Section 5 of the semantics, the waiting form of flush: callers that wait for executions to end.
@Suite("Tickets")
struct TicketTests {
    @Test(arguments: [nil, "k"])
    func `a caller that is withdrawn is not resumed, and nothing is kept for it`(key: String?) throws {
        let rig = try Rig(.debounce(10), whileRunning: .concurrent, maxConcurrent: 2, handlersTakeTime: true)
        for (instant, value) in ["1", "2", "3"].enumerated() {
            rig.submit(value, at: instant)
            rig.flush("k", at: instant)
        }
        rig.submit("other", "other", at: 3)
        rig.flush("other", at: 3)
        #expect(rig.wait(7, key))
        #expect(rig.wait(8, key))
        rig.stopWaiting(7, key)
        #expect(rig.broken == [])
        #expect(rig.engine.core.waiters.keys.sorted() == [8])
        rig.end("1")
        rig.stopWaiting(8, key)
        #expect(rig.engine.core.waiters.capacity == [WaiterID: Int]().capacity)
        #expect(rig.broken == [])
        for value in ["2", "3", "other"] { rig.end(value) }
        #expect(rig.resumed == [])
    }

    @Test
    func `withdrawing a caller that was resumed does nothing`() throws {
        let rig = try Rig(.debounce(10), handlersTakeTime: true)
        rig.submit("1", at: 0)
        rig.flush("k", at: 0)
        #expect(rig.wait(7, "k"))
        rig.end("1")
        rig.stopWaiting(7, "k")
        rig.stopWaiting(7)
        #expect(rig.resumed == [7])
        #expect(rig.broken == [])
    }

    @Test
    func `a caller is withdrawn from many keys in portions, while they change`() throws {
        var engine = Engine<Int, Int>(try Setup(.debounce(10)))
        let keys = 1000
        for key in 0..<keys { _ = engine.submit(key, for: key, at: .origin) }
        var runs: [RunID] = []
        for case .start(let execution) in engine.flush(at: .origin).more { runs.append(execution.run) }
        for waiter in 7...8 {
            let waits = engine.addWaiter(waiter)
            #expect(waits)
        }
        var portions = 0
        var isDone = false
        while !isDone {
            isDone = engine.core.removeWaiter(7, fromBlocks: portions * 4..<portions * 4 + 4)
            portions += 1
            #expect(engine.checkInvariants() == [])
            for _ in 0..<50 {
                let (_, actions) = engine.ended(runs.removeLast(), .returned)
                #expect(actions.more.allSatisfy { !$0.resumes(7) })
            }
        }
        #expect(portions == 4)
        #expect(engine.core.waiters == [8: runs.count])
    }
}

extension Action {
    fileprivate func resumes(_ waiter: WaiterID) -> Bool {
        if case .resume(waiter) = self { true } else { false }
    }
}
