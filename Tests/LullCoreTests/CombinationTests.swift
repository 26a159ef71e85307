import LullReference
import Testing

@testable import LullCore

/// Section 8 of the semantics, and the fate of displaced values by section 6.
@Suite("Combination")
struct CombinationTests {
    @Test
    func `latest keeps the last value; the others are superseded, each when it is displaced`() throws {
        let rig = try Rig(.debounce(10), combination: .latest)
        for value in ["1", "2", "3"] { rig.submit(value, at: 0) }
        #expect(rig.fates("1", "2", "3") == [.superseded, .superseded, .pending])
        rig.advance(to: 10)
        #expect(rig.executions == ["10 trailing 3 ×3"])
    }

    @Test
    func `first keeps the first value; the others are absorbed`() throws {
        let rig = try Rig(.debounce(10), combination: .first)
        for value in ["1", "2", "3"] { rig.submit(value, at: 0) }
        #expect(rig.fates("1", "2", "3") == [.pending, .absorbed, .absorbed])
        rig.advance(to: 10)
        #expect(rig.executions == ["10 trailing 1 ×3"])
    }

    @Test
    func `collect keeps all of them in order, and all of them share one fate`() throws {
        let rig = try Rig(.debounce(10), combination: .collect, handlersTakeTime: true)
        for value in ["1", "2", "3"] { rig.submit(value, at: 0) }
        rig.advance(to: 10)
        #expect(rig.executions == ["10 trailing 1+2+3 ×3"])
        rig.end("3", .threw)
        #expect(rig.fates("1", "2", "3") == [.failed, .failed, .failed])
        #expect(rig.engine.counters.failed == 3)
        #expect(rig.broken == [])
    }

    @Test
    func `cancelled together, collected values are counted one by one`() throws {
        let rig = try Rig(.debounce(10), combination: .collect)
        for value in ["1", "2", "3"] { rig.submit(value, at: 0) }
        rig.cancel("k", at: 1)
        #expect(rig.engine.counters.cancelled == 3)
        #expect(rig.fates("1", "2", "3") == [.cancelled, .cancelled, .cancelled])
    }

    @Test
    func `the value that completes the count takes part in the combination`() throws {
        for (combination, execution) in [(CombinationRule.latest, "2 maxCount 3 ×3"), (.first, "2 maxCount 1 ×3")] {
            let rig = try Rig(.debounce(10, maxCount: 3), combination: combination)
            for (instant, value) in ["1", "2", "3"].enumerated() { rig.submit(value, at: instant) }
            #expect(rig.executions == [execution])
            #expect(rig.broken == [])
        }
    }

    @Test
    func `every displaced value is handed out, so that it is released outside the driver's lock`() throws {
        let rig = try Rig(.debounce(10), combination: .latest)
        rig.submit("1", at: 0)
        #expect(rig.last.displaced == nil)
        rig.submit("2", at: 0)
        #expect(rig.last.displaced == "1")
        #expect(rig.last.fate == .superseded)
    }

    @Test
    func `the engine retains nothing of a value`() throws {
        final class Token: Sendable {}
        for combination in [.latest, .first, .collect] as [CombinationRule] {
            weak var pending: Token?
            weak var waiting: Token?
            var engine = Engine<Int, Token>(
                try Setup(.debounce(wait: 10), combination: combination, maxConcurrent: 1))
            do {
                let (first, second, third) = (Token(), Token(), Token())
                (waiting, pending) = (second, third)
                for (key, token) in [first, second, third].enumerated() {
                    _ = engine.submit(token, for: key, at: .origin, wait: CoreDuration(key * 10))
                }
                _ = engine.advance(to: CoreInstant(15))
                _ = engine.cancel(at: CoreInstant(16))
            }
            #expect(waiting == nil)
            #expect(pending == nil)
        }
    }

    @Test
    func `a batch of one needs no array; a larger one is in order`() {
        var batch = Batch(1)
        #expect(batch.values == [1] && batch.size == 1)
        #expect(batch.add(2, by: .collect) == nil)
        #expect(batch.add(3, by: .collect) == nil)
        #expect(batch.values == [1, 2, 3] && batch.size == 3)
        #expect(batch.add(Batch(4), by: .collect) == nil)
        #expect(batch.values == [1, 2, 3, 4])
        #expect(batch.add(Batch(5), by: .first) == Batch(5))
        #expect(batch.values == [1, 2, 3, 4])
        #expect(batch.add(Batch(6), by: .latest)?.values == [1, 2, 3, 4])
        #expect(batch.values == [6])
    }
}
