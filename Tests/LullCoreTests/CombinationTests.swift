import LullReference
import Testing

@testable import LullCore
@testable import LullEngine

/// Section 8 of the semantics, and the fate of displaced values by section 6.
@Suite("Combination")
struct CombinationTests {
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

    @Test
    func `a large batch comes out whole, part by part`() throws {
        var engine = Engine<Int, Int>(try Setup(.debounce(10), combination: .collect, maxBatch: 100))
        for value in 0..<100_050 { _ = engine.submit(value, for: 1, at: .origin) }
        var actions = engine.advance(to: CoreInstant(10))
        var values: [Int] = []
        while case .start(let execution) = actions.more.first {
            #expect(execution.batch.size == min(100, 100_050 - values.count))
            values += execution.batch.values
            actions = engine.ended(execution.run, .returned).1
        }
        #expect(values == Array(0..<100_050))
        #expect(engine.counters.addUp && engine.counters.executed == 100_050)
    }
}
