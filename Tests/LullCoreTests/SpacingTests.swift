import LullReference
import TestSupport
import Testing

@testable import LullCore
@testable import LullEngine

/// Section 3 of the semantics: the least time between two due instants of a key.
@Suite("Spacing")
struct SpacingTests {
    @Test
    func `an infinite spacing admits one execution, and flushes`() throws {
        let rig = try Rig(.debounce(wait: CoreDuration(3), spacing: .infinite))
        rig.submit("1", at: 0)
        rig.submit("2", at: 5)
        #expect(rig.due(at: 5) == .max)
        rig.advance(to: 5)
        #expect(rig.engine.alarm == .farFuture)
        rig.flush("k", at: 6)
        rig.submit("3", at: 7)
        rig.dropUnreachable(at: 8)
        #expect(rig.executions == ["3 trailing 1", "6 flush 2"])
        #expect(rig.fate("3") == .cancelled)
        #expect(rig.broken == [])
    }

    // MARK: - Memory

    @Test
    func `a key is remembered until the spacing has passed, and no wake-up is made to forget it`() throws {
        let rig = try Rig(.debounce(3, spacing: 20))
        rig.submit("1", "a", at: 0)
        rig.advance(to: 3)
        #expect(rig.engine.alarm == .farFuture)
        #expect([rig.engine.openKeyCount, rig.engine.restingKeyCount, rig.engine.slotCount] == [0, 1, 1])
        #expect(rig.due("a", at: 3) == nil)
        rig.submit("2", "b", at: 22)
        #expect(rig.engine.slotCount == 2)
        rig.advance(to: 23)
        #expect([rig.engine.openKeyCount, rig.engine.restingKeyCount, rig.engine.slotCount] == [1, 0, 1])
        #expect(rig.released == ["a"])
        #expect(rig.broken == [])
    }

    @Test
    func `later submits forget the keys whose spacing has passed little by little`() throws {
        let rig = try Rig(.debounce(0, [.leading, .trailing], spacing: 20))
        for number in 0..<100 { rig.submit("\(number)", "\(number)", at: 0) }
        for number in 0..<100 { rig.submit("late \(number)", "late \(number)", at: 20) }
        #expect(rig.engine.slotCount < 120)
        #expect(rig.broken == [])
    }

    @Test
    func `a flush of all keys leaves them remembered`() throws {
        let rig = try Rig(.debounce(3, spacing: 20))
        for key in ["a", "b", "c"] { rig.submit(key, key, at: 0) }
        rig.flush(at: 1)
        #expect(rig.engine.restingKeyCount == 3)
        rig.advance(to: 20)
        #expect(rig.engine.slotCount == 3)
        rig.advance(to: 21)
        #expect(rig.engine.slotCount == 0)
    }

    // MARK: - A throttle by another name

    @Test
    func `with a wait of zero and both edges, each key has the executions of a throttle`() throws {
        for seed in 0..<300 {
            var random = SplitMix(seed: UInt64(seed))
            let interval = Int.random(in: 1...9, using: &random)
            let rigs = try [
                Rig(.debounce(0, [.leading, .trailing], spacing: interval)), Rig(.throttle(interval)),
            ]
            var now = 0
            for number in 0..<60 {
                now += Int.random(in: 0...6, using: &random)
                let key = ["a", "b"][Int.random(in: 0...1, using: &random)]
                for rig in rigs { rig.submit("\(number)", key, at: now) }
            }
            for rig in rigs { rig.advance(to: now + 100) }
            for key in ["a:", "b:"] {
                let found = rigs.map { $0.executions.filter { $0.contains(key) } }
                #expect(found[0] == found[1] && found[0].count > 1, "seed \(seed), interval \(interval)")
            }
        }
    }
}
