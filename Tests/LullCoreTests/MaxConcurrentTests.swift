import LullReference
import Testing

@testable import LullCore

/// Section 7 of the semantics, `maxConcurrent`: how many executions run at once.
@Suite("maxConcurrent")
struct MaxConcurrentTests {
    private func rig(_ limit: Int, _ whileRunning: OverlapPolicy = .queue, wait: Int = 10) throws -> Rig {
        try Rig(.debounce(wait), whileRunning: whileRunning, maxConcurrent: limit, handlersTakeTime: true)
    }

    @Test
    func `no more executions run at once than maxConcurrent allows`() throws {
        let rig = try rig(2)
        for key in ["a", "b", "c"] { rig.submit("\(key)1", key, at: 0) }
        rig.advance(to: 10)
        #expect(rig.executions == ["10 trailing a: a1", "10 trailing b: b1"])
        #expect(rig.fate("c1") == .pending)
        rig.end("b1")
        #expect(rig.executions.last == "10 trailing c: c1")
        #expect(rig.broken == [])
    }

    @Test
    func `concurrency slots are assigned in order of due instants`() throws {
        let rig = try rig(1)
        rig.submit("a1", "a", at: 0, wait: 1)
        rig.submit("late", "b", at: 0, wait: 9)
        rig.submit("early", "c", at: 0, wait: 5)
        rig.advance(to: 10)
        rig.end("a1")
        rig.end("early")
        #expect(rig.executions == ["1 trailing a: a1", "5 trailing c: early", "9 trailing b: late"])
    }

    @Test
    func
        `concurrency slots are assigned in order of due instants, also when a late timer finds another order`()
        throws
    {
        let rig = try rig(1)
        rig.submit("a1", "a", at: 0, wait: 0)
        rig.advance(to: 0)
        rig.submit("early", "b", at: 0, wait: 3)
        rig.submit("late", "c", at: 0, wait: 5)
        rig.submit("next", "c", at: 10, wait: 50)
        rig.advance(to: 11)
        rig.end("a1")
        rig.end("early")
        #expect(rig.executions == ["0 trailing a: a1", "3 trailing b: early", "5 trailing c: late"])
        #expect(rig.broken == [])
    }

    @Test
    func `a value that waited for its own key comes before one that was due later`() throws {
        let rig = try rig(2)
        rig.submit("a1", "a", at: 0, wait: 1)
        rig.submit("b1", "b", at: 0, wait: 1)
        rig.advance(to: 1)
        rig.submit("a2", "a", at: 2, wait: 1)
        rig.submit("c1", "c", at: 2, wait: 2)
        rig.advance(to: 9)
        rig.end("a1")
        #expect(rig.executions.last == "3 trailing a: a2")
        rig.end("a2")
        #expect(rig.executions.last == "4 trailing c: c1")
        #expect(rig.broken == [])
    }

    @Test
    func `values that were due at one instant start in the order in which they fell due`() throws {
        let rig = try rig(2)
        rig.submit("a1", "a", at: 0, wait: 1)
        rig.submit("b1", "b", at: 0, wait: 1)
        rig.advance(to: 1)
        // `a2` falls due first, but waits for its own key; `c1` waits for a concurrency slot alone.
        rig.submit("a2", "a", at: 2, wait: 1)
        rig.submit("c1", "c", at: 2, wait: 1)
        rig.advance(to: 3)
        rig.end("a1")
        #expect(rig.executions.last == "3 trailing a: a2")
    }

    @Test
    func `a value that replaces a waiting one waits by its own due instant`() throws {
        let rig = try rig(1)
        rig.submit("a1", "a", at: 0, wait: 0)
        rig.submit("b1", "b", at: 1, wait: 0)
        rig.submit("c1", "c", at: 2, wait: 0)
        rig.advance(to: 2)
        rig.submit("b2", "b", at: 3, wait: 0)
        rig.advance(to: 4)
        rig.end("a1")
        rig.end("c1")
        #expect(rig.executions == ["0 trailing a: a1", "2 trailing c: c1", "3 trailing b: b2 ×2"])
        #expect(rig.fate("b1") == .superseded)
        #expect(rig.broken == [])
    }

    @Test
    func `a cancelled value leaves the queue`() throws {
        let rig = try rig(1)
        for key in ["a", "b", "c"] { rig.submit("\(key)1", key, at: 0) }
        rig.advance(to: 10)
        rig.cancel("b", at: 11)
        rig.end("a1")
        #expect(rig.executions.last == "10 trailing c: c1")
        #expect(rig.fate("b1") == .cancelled)
        #expect(rig.broken == [])
    }

    @Test
    func `a key may run twice at once under .concurrent, but only one of its values waits`() throws {
        let rig = try rig(2, .concurrent)
        for (instant, value) in ["1", "2", "3", "4"].enumerated() { rig.submit(value, at: instant * 20) }
        rig.advance(to: 100)
        #expect(rig.executions == ["10 trailing 1", "30 trailing 2"])
        #expect(rig.fates("3", "4") == [.superseded, .pending])
        rig.end("1")
        #expect(rig.executions.last == "70 trailing 4 ×2")
        #expect(rig.firsts.last == 40)
        #expect(rig.broken == [])
    }

    @Test
    func `the queue of starts drops what is cancelled or replaced`() throws {
        let rig = try rig(1)
        rig.submit("first", "first", at: 0, wait: 0)
        for round in 1...1000 {
            rig.submit("\(round)", "k", at: round, wait: 0)
            rig.cancel("k", at: round)
        }
        #expect(rig.engine.core.startQueue.count <= 70)
        #expect(rig.broken == [])
    }
}
