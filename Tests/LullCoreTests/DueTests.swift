import LullReference
import Testing

@testable import LullCore

/// Section 2 of the semantics: time decides, not luck.
@Suite("What falls due, and when")
struct DueTests {
    @Test
    func `nothing is executed before it is due`() throws {
        let rig = try Rig(.debounce(10))
        rig.submit("1", at: 0)
        #expect(rig.engine.alarm == CoreInstant(10))
        rig.advance(to: 9)
        #expect(rig.executions == [])
        rig.advance(to: 10)
        #expect(rig.executions == ["10 trailing 1"])
    }

    @Test
    func `an execution is recorded at its due instant, not when a timer fires`() throws {
        let rig = try Rig(.debounce(10))
        rig.submit("1", at: 0)
        rig.advance(to: 500)
        #expect(rig.executions == ["10 trailing 1"])
    }

    @Test
    func `a call at exactly the due instant comes after the execution and starts something new`() throws {
        let rig = try Rig(.debounce(10))
        rig.submit("1", at: 0)
        rig.submit("2", at: 10)
        rig.advance(to: 20)
        #expect(rig.executions == ["10 trailing 1", "20 trailing 2"])
    }

    @Test
    func `a call does what was due at its key even if the timer is late`() throws {
        let rig = try Rig(.debounce(10))
        rig.submit("1", at: 0)
        rig.submit("2", at: 30)
        rig.flush("k", at: 31)
        rig.submit("3", at: 40)
        rig.cancel("k", at: 55)
        #expect(rig.executions == ["10 trailing 1", "31 flush 2", "50 trailing 3"])
    }

    @Test
    func `calls with equal timestamps are handled in the order in which they were made`() throws {
        let rig = try Rig(.debounce(10))
        rig.submit("1", at: 0)
        rig.flush("k", at: 0)
        rig.submit("2", at: 0)
        rig.submit("3", at: 0)
        rig.advance(to: 10)
        #expect(rig.executions == ["0 flush 1", "10 trailing 3 ×2"])
    }

    @Test
    func `an earlier instant than the last one handled counts as that one`() throws {
        let rig = try Rig(.debounce(10))
        rig.submit("1", at: 100)
        rig.submit("2", "other", at: 40)
        #expect(rig.due("other", at: 0) == 110)
        rig.flush("k", at: 7)
        rig.advance(to: 3)
        #expect(rig.executions == ["100 flush 1"])
        #expect(rig.firsts == [100])
    }

    @Test
    func `the executions of all keys come out in order of their instants`() throws {
        let rig = try Rig(.debounce(10))
        rig.submit("1", "a", at: 0, wait: 9)
        rig.submit("2", "b", at: 1, wait: 3)
        rig.submit("3", "c", at: 2, wait: 5)
        rig.advance(to: 100)
        #expect(rig.executions == ["4 trailing b: 2", "7 trailing c: 3", "9 trailing a: 1"])
    }

    @Test
    func `equal due instants come in the order in which the bursts began`() throws {
        let rig = try Rig(.debounce(10))
        for (key, wait) in [("c", 10), ("a", 3), ("b", 10)] { rig.submit(key, key, at: 0, wait: CoreDuration(wait)) }
        rig.submit("a", "a", at: 1, wait: 9)
        rig.advance(to: 10)
        #expect(rig.executions == ["10 trailing c: c", "10 trailing a: a ×2", "10 trailing b: b"])
    }

    @Test
    func `a key that begins a new burst is ordered by the new one`() throws {
        let rig = try Rig(.debounce(10))
        rig.submit("a1", "a", at: 0)
        rig.submit("b1", "b", at: 0)
        rig.flush("a", at: 1)
        rig.submit("a2", "a", at: 2, wait: 8)
        rig.advance(to: 10)
        #expect(rig.executions == ["1 flush a: a1", "10 trailing b: b1", "10 trailing a: a2"])
    }

    @Test
    func `a throttle's windows belong to one burst`() throws {
        let rig = try Rig(.throttle(10))
        rig.submit("a1", "a", at: 0)
        rig.submit("a2", "a", at: 5)
        rig.submit("b1", "b", at: 10)
        rig.submit("b2", "b", at: 11)
        rig.advance(to: 10)
        rig.submit("a3", "a", at: 15)
        rig.advance(to: 100)
        #expect(rig.executions.suffix(2) == ["20 trailing a: a3", "20 trailing b: b2"])
    }

    @Test
    func `the number of executions of one wake-up can be limited; nothing is lost or done twice`() throws {
        let rig = try Rig(.debounce(10))
        for number in 0..<10 { rig.submit("\(number)", "\(number)", at: 0) }
        rig.advance(to: 50, limit: 4)
        #expect(rig.executions.count == 4)
        #expect(rig.engine.alarm == CoreInstant(10))
        rig.submit("again", "7", at: 50)
        rig.advance(to: 50, limit: 3)
        rig.advance(to: 50, limit: 3)
        #expect(rig.engine.alarm == CoreInstant(60))
        #expect(rig.executions.count == 10)
        #expect(Set(rig.executions).count == 10)
        #expect(rig.broken == [])
    }

    @Test
    func `the alarm moves only when something is due earlier`() throws {
        let rig = try Rig(.debounce(10))
        rig.submit("1", at: 0)
        #expect(rig.last.movesAlarm)
        rig.submit("2", at: 5)
        #expect(!rig.last.movesAlarm && rig.last.isQuiet)
        #expect(rig.engine.alarm == CoreInstant(10))
        rig.submit("3", "other", at: 6)
        #expect(!rig.last.movesAlarm)
        rig.submit("4", at: 6, wait: 1)
        #expect(rig.last.movesAlarm)
        #expect(rig.engine.alarm == CoreInstant(7))
    }

    @Test
    func `the numbers of bursts may wrap around in the queue without changing the order`() throws {
        var engine = Engine<Int, Int>(try Setup(.debounce(10)))
        engine.core.burstCount = UInt64(UInt32.max) - 5
        for key in 0..<12 { _ = engine.submit(key, for: key, at: .origin) }
        var keys: [Int] = []
        for action in engine.advance(to: CoreInstant(10)).more {
            if case .start(let execution) = action { keys.append(execution.key) }
        }
        #expect(keys == Array(0..<12))
        #expect(engine.checkInvariants() == [])
    }
}
