import LullReference
import Testing

@testable import LullCore
@testable import LullEngine

/// Section 3 of the semantics: an idle gate keeps no memory.
@Suite("Forgetting")
struct ForgettingTests {
    @Test
    func `a key is forgotten when its value has been executed`() throws {
        let rig = try Rig(.debounce(10))
        rig.submit("1", at: 0)
        #expect(rig.engine.core.slots.count == 1)
        rig.advance(to: 10)
        #expect(rig.engine.core.slots.count == 0)
        #expect(rig.engine.core.keyIndex.count == 0)
        #expect(rig.released == ["k"])
    }

    @Test
    func `no wake-up is made only to forget, but the next one does`() throws {
        let rig = try Rig(.throttle(10))
        for key in ["a", "b", "c"] { rig.submit(key, key, at: 0) }
        #expect(rig.engine.alarm == .farFuture)
        #expect(!rig.last.movesAlarm)
        rig.advance(to: 9)
        #expect(rig.engine.core.slots.count == 3)
        rig.advance(to: 10)
        #expect(rig.engine.core.slots.count == 0)
        #expect(rig.released == ["a", "b", "c"])
    }

    @Test
    func `a wake-up with a limit forgets no more keys than that, and asks to be called again`() throws {
        let rig = try Rig(.throttle(10, .leading))
        for number in 0..<10 { rig.submit("\(number)", "\(number)", at: 0) }
        rig.advance(to: 15, limit: 4)
        #expect(rig.engine.core.slots.count == 6)
        #expect(rig.engine.alarm == CoreInstant(15))
        #expect(rig.last.movesAlarm)
        rig.advance(to: 15, limit: 100)
        #expect(rig.engine.core.slots.count == 0)
        #expect(rig.engine.alarm == .farFuture)
    }

    @Test
    func `later submits forget keys little by little`() throws {
        let rig = try Rig(.throttle(10, .leading))
        for number in 0..<100 { rig.submit("\(number)", "\(number)", at: 0) }
        for number in 0..<50 { rig.submit("late \(number)", "late \(number)", at: 10) }
        #expect(rig.engine.core.slots.count == 50)
        #expect(rig.broken == [])
    }

    @Test
    func `a key is remembered while its execution runs`() throws {
        let rig = try Rig(.debounce(10), handlersTakeTime: true)
        rig.submit("1", at: 0)
        rig.advance(to: 1000)
        #expect(rig.engine.core.slots.count == 1)
        #expect(rig.engine.openKeyCount == 0)
        rig.end("1")
        #expect(rig.engine.core.slots.count == 0)
        #expect(rig.engine.core.keyExecutions.count == 0)
    }

    @Test
    func `a delay that is shortened later makes the gate idle, and forgotten, earlier`() throws {
        let rig = try Rig(.debounce(10, .leading))
        rig.submit("1", at: 0, wait: .infinite)
        rig.submit("2", at: 5, wait: 2)
        rig.advance(to: 7)
        #expect(rig.engine.core.slots.count == 0)
    }

    @Test
    func `an entry that was made for a longer delay does no harm to the next burst`() throws {
        let rig = try Rig(.debounce(10, .leading))
        rig.submit("1", at: 0, wait: 50)
        rig.submit("2", at: 5, wait: 2)
        rig.submit("3", at: 40, wait: 100)
        rig.advance(to: 50)
        rig.submit("4", at: 51, wait: 100)
        #expect(rig.executions == ["0 leading 1", "40 leading 3"])
        #expect(rig.fate("4") == .absorbed)
        #expect(rig.broken == [])
    }

    @Test(arguments: [false, true])
    func `keys that are cancelled again and again leave no trace`(isThrottle: Bool) throws {
        let rig = try Rig(isThrottle ? .throttle(1_000_000) : .debounce(1_000_000))
        for round in 0..<10_000 {
            rig.submit("\(round)", "\(round % 7)", at: round)
            rig.cancel("\(round % 7)", at: round)
        }
        #expect(rig.engine.core.deadlines.count <= 128)
        #expect(rig.engine.core.idleQueue.count <= 128)
        #expect(rig.engine.core.slots.count == 0)
        #expect(rig.broken == [])
    }

    @Test
    func `a delay that shrinks with every call does not fill the queue`() throws {
        let rig = try Rig(.debounce(10))
        for round in 0..<10_000 { rig.submit("\(round)", at: 0, wait: CoreDuration(1_000_000 - round)) }
        #expect(rig.engine.core.deadlines.count <= 128)
        #expect(rig.due(at: 0) == 1_000_000 - 9_999)
        #expect(rig.broken == [])
    }

    @Test(arguments: [1, 2])
    func `a window in which value after value is complete does not fill the queues`(maxCount: Int) throws {
        let rig = try Rig(.throttle(1_000_000, maxCount: maxCount))
        for round in 0..<10_000 { rig.submit("\(round)", at: 0) }
        #expect(rig.engine.core.deadlines.count <= 128)
        #expect(rig.engine.core.idleQueue.count <= 128)
        #expect(rig.broken == [])
    }

    @Test
    func `a far deadline that is postponed again and again has a bounded number of entries`() throws {
        let rig = try Rig(.debounce(10))
        for round in 0..<1000 {
            rig.submit("short \(round)", at: round * 2, wait: 1)
            rig.submit("long \(round)", at: round * 2, wait: .infinite)
            rig.advance(to: round * 2 + 1)
        }
        #expect(rig.executions == [])
        #expect(rig.engine.core.deadlines.count <= 128)
        #expect(rig.broken == [])
    }

    @Test
    func `what is flushed or cancelled at once removes its entries`() throws {
        for drops in [false, true] {
            let rig = try Rig(.debounce(10, [.leading, .trailing]))
            for number in 0..<200 { rig.submit("\(number)", "\(number % 50)", at: 0) }
            if drops { rig.cancel(at: 1) } else { rig.flush(at: 1) }
            #expect(rig.engine.core.deadlines.count == 0)
            #expect(rig.engine.core.idleQueue.count == 0)
            #expect(rig.engine.alarm == .farFuture)
            #expect(rig.engine.core.slots.count == 0)
            #expect(rig.broken == [])
        }
    }

    @Test
    func `keys without references are not handed out`() throws {
        var engine = Engine<Int, Int>(try Setup(.debounce(10)))
        _ = engine.submit(1, for: 1, at: .origin)
        let actions = engine.advance(to: CoreInstant(10))
        #expect(actions.more.count == 1)
    }
}
