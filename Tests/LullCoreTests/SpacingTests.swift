import LullReference
import TestSupport
import Testing

@testable import LullCore

/// Section 3 of the semantics: the least time between two due instants of a key.
@Suite("Spacing")
struct SpacingTests {
    @Test
    func `a value that would be due too soon waits for the spacing, and later ones join it`() throws {
        let rig = try Rig(.debounce(3, spacing: 20))
        rig.submit("1", at: 0)
        rig.submit("2", at: 5)
        #expect(rig.due(at: 5) == 23)
        rig.submit("3", at: 19)
        #expect(rig.due(at: 19) == 23)
        rig.submit("4", at: 22)
        // Its pause ends after the spacing.
        #expect(rig.due(at: 22) == 25)
        rig.advance(to: 100)
        rig.submit("5", at: 100)
        rig.advance(to: 200)
        #expect(rig.executions == ["3 trailing 1", "25 trailing 4 ×3", "103 trailing 5"])
        #expect(rig.firsts == [0, 5, 100])
    }

    @Test
    func `keys have spacings of their own`() throws {
        let rig = try Rig(.debounce(3, spacing: 20))
        for key in ["a", "b"] { rig.submit(key, key, at: key == "a" ? 0 : 10) }
        for key in ["a", "b"] { rig.submit(key + key, key, at: 14) }
        rig.advance(to: 100)
        #expect(rig.executions == ["3 trailing a: a", "13 trailing b: b", "23 trailing a: aa", "33 trailing b: bb"])
    }

    @Test(arguments: [19, 20])
    func `there is no leading edge before the spacing has passed`(instant: Int) throws {
        let rig = try Rig(.debounce(3, [.leading, .trailing], spacing: 20))
        rig.submit("1", at: 0)
        rig.submit("2", at: instant)
        rig.advance(to: 100)
        #expect(rig.executions == ["0 leading 1", instant == 20 ? "20 leading 2" : "22 trailing 2"])
    }

    @Test
    func `what the spacing holds back is trailing if its pause has ended, and maxWait if it has not`() throws {
        let rig = try Rig(.debounce(3, maxWait: 6, spacing: 20))
        rig.submit("1", at: 0)
        for instant in stride(from: 4, through: 22, by: 2) { rig.submit("\(instant)", at: instant) }
        rig.advance(to: 100)
        #expect(rig.executions == ["3 trailing 1", "23 maxWait 22 ×10"])
        rig.submit("a", at: 100)
        rig.submit("b", at: 105)
        rig.advance(to: 200)
        #expect(rig.executions.suffix(2) == ["103 trailing a", "123 trailing b"])
    }

    @Test
    func `what is full before the spacing has passed falls due then, with all that joins it`() throws {
        let rig = try Rig(.debounce(50, maxCount: 2, spacing: 20), combination: .collect)
        rig.submit("1", at: 0)
        rig.submit("2", at: 1)
        rig.submit("3", at: 2)
        #expect(rig.due(at: 2) == 52)
        rig.submit("4", at: 3)
        // Earlier than the pause would have ended.
        #expect(rig.due(at: 3) == 21)
        rig.submit("5", at: 4)
        #expect(rig.due(at: 4) == 21)
        rig.advance(to: 100)
        #expect(rig.executions == ["1 maxCount 1+2 ×2", "21 maxCount 3+4+5 ×3"])
        #expect(rig.broken == [])
    }

    @Test
    func `a delay of a call does not shorten the spacing`() throws {
        let rig = try Rig(.debounce(3, spacing: 20))
        rig.submit("1", at: 0, wait: 0)
        rig.submit("2", at: 1, wait: 0)
        #expect(rig.due(at: 1) == 20)
    }

    @Test
    func `a flush does not wait for the spacing, and the next one counts from it`() throws {
        let rig = try Rig(.debounce(3, spacing: 20))
        rig.submit("1", at: 0)
        rig.submit("2", at: 4)
        rig.flush("k", at: 10)
        rig.submit("3", at: 11)
        #expect(rig.due(at: 11) == 30)
        rig.flush(at: 12)
        rig.submit("4", at: 13)
        rig.advance(to: 100)
        #expect(rig.executions == ["3 trailing 1", "10 flush 2", "12 flush 3", "32 trailing 4"])
    }

    @Test
    func `a flush of nothing and a cancel leave the spacing as it was`() throws {
        let rig = try Rig(.debounce(3, spacing: 20))
        rig.submit("1", at: 0)
        rig.flush("k", at: 5)
        rig.submit("2", at: 6)
        rig.cancel("k", at: 7)
        rig.cancel(at: 8)
        rig.submit("3", at: 9)
        rig.advance(to: 100)
        #expect(rig.executions == ["3 trailing 1", "23 trailing 3"])
        #expect(rig.fate("2") == .cancelled)
    }

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

    @Test
    func `spacing counts due instants, however long handlers take`() throws {
        let rig = try Rig(.debounce(3, spacing: 20), handlersTakeTime: true)
        rig.submit("1", at: 0)
        rig.advance(to: 3)
        rig.submit("2", at: 4)
        rig.advance(to: 40)
        #expect(rig.executions == ["3 trailing 1"])
        rig.end("1")
        #expect(rig.executions == ["3 trailing 1", "23 trailing 2"])
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

    @Test(arguments: [22, 23])
    func `keys that are remembered for their spacing count towards the capacity`(instant: Int) throws {
        let rig = try Rig(.debounce(3, spacing: 20), capacity: 1)
        rig.submit("a1", "a", at: 0)
        rig.advance(to: 10)
        rig.submit("a2", "a", at: 11)
        rig.cancel("a", at: 12)
        rig.submit("b", "b", at: instant)
        #expect(rig.fate("b") == (instant == 22 ? .rejectedByCapacity : .pending))
        #expect(rig.fate("a2") == .cancelled)
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
