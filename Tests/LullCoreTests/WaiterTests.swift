import LullReference
import Testing

@testable import LullCore

/// Section 5 of the semantics, the waiting form of flush: callers that wait for executions to end.
@Suite("Tickets")
struct TicketTests {
    private func rig(_ rule: OverlapPolicy = .queue, maxConcurrent: Int? = nil) throws -> Rig {
        try Rig(.debounce(10), whileRunning: rule, maxConcurrent: maxConcurrent, handlersTakeTime: true)
    }

    @Test
    func `with nothing running or waiting there is nothing to wait for`() throws {
        let rig = try rig()
        #expect(rig.wait(1, "k") == false)
        rig.submit("1", at: 0)
        #expect(rig.wait(2, "k") == false)
        #expect(rig.wait(3) == false)
        #expect(rig.engine.core.waiters == [:])
    }

    @Test
    func `a caller waits for the running execution of its key and for the one that waits behind it`() throws {
        let rig = try rig()
        rig.submit("1", at: 0)
        rig.flush("k", at: 0)
        rig.submit("2", at: 1)
        rig.flush("k", at: 1)
        rig.submit("other", "other", at: 1)
        rig.flush("other", at: 1)
        #expect(rig.wait(7, "k"))
        rig.end("other")
        rig.end("1")
        #expect(rig.resumed == [])
        rig.end("2", .threw)
        #expect(rig.resumed == [7])
        #expect(rig.broken == [])
    }

    @Test
    func `a caller waits for the value that replaced the one it waited for`() throws {
        let rig = try rig()
        for (instant, value) in ["1", "2", "3"].enumerated() {
            rig.submit(value, at: instant)
            rig.flush("k", at: instant)
            if value == "2" { #expect(rig.wait(7, "k")) }
        }
        rig.end("1")
        #expect(rig.resumed == [])
        rig.end("3")
        #expect(rig.resumed == [7])
    }

    @Test
    func `a caller does not wait for what comes later`() throws {
        let rig = try rig()
        rig.submit("1", at: 0)
        rig.flush("k", at: 0)
        #expect(rig.wait(7, "k"))
        rig.submit("2", at: 1)
        rig.flush("k", at: 1)
        rig.end("1")
        #expect(rig.resumed == [7])
        rig.end("2")
        #expect(rig.resumed == [7])
    }

    @Test
    func `a caller that waits for all keys waits for each of them, and for every concurrent run`() throws {
        let rig = try rig(.concurrent)
        for (instant, value) in ["1", "2"].enumerated() { rig.submit(value, at: instant, wait: 0) }
        rig.submit("3", "other", at: 1, wait: 0)
        rig.advance(to: 1)
        #expect(rig.wait(7))
        #expect(rig.wait(8, "k"))
        rig.end("2")
        rig.end("1")
        #expect(rig.resumed == [8])
        rig.end("3")
        #expect(rig.resumed == [8, 7])
        #expect(rig.engine.core.waiters == [:])
    }

    @Test(arguments: [nil, "k"])
    func `a caller that is withdrawn is not resumed, and nothing is kept for it`(key: String?) throws {
        let rig = try rig(.concurrent, maxConcurrent: 2)
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
        let rig = try rig()
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

    @Test
    func `a caller is resumed when what it waits for is cancelled`() throws {
        let rig = try rig(maxConcurrent: 1)
        rig.submit("1", "a", at: 0)
        rig.submit("2", "b", at: 0)
        rig.flush(at: 0)
        #expect(rig.wait(7, "b"))
        rig.cancel("b", at: 1)
        #expect(rig.resumed == [7])
        #expect(rig.broken == [])
    }
}

extension Action {
    fileprivate func resumes(_ waiter: WaiterID) -> Bool {
        if case .resume(waiter) = self { true } else { false }
    }
}
