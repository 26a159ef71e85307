import LullReference
import Testing

@testable import LullCore
@testable import LullEngine

/// Section 2 of the semantics: time decides, not luck.
@Suite("What falls due, and when")
struct DueTests {
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
