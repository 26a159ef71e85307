import LullReference
import Testing

@testable import LullCore
@testable import LullEngine

/// Many keys: counts and memory, never milliseconds.
///
/// Set `LULL_KEYS` for more keys.
@Suite("Scale", .serialized)
struct ScaleTests {
    #if DEBUG
        static let keys = environment("LULL_KEYS", default: 50_000)
    #else
        static let keys = environment("LULL_KEYS", default: 1_000_000)
    #endif

    @Test
    func `all of many pending keys are executed, once, in order, and their memory is given back`() throws {
        var engine = Engine<Int, Int>(try Setup(.debounce(wait: .seconds(1))))
        for key in 0..<Self.keys { _ = engine.submit(key, for: key, at: CoreInstant(key)) }
        #expect(engine.openKeyCount == Self.keys)
        let peak = engine.footprint

        var expected = 0
        while engine.alarm < .farFuture {
            // A few at a time, as a driver does.
            for action in engine.advance(to: CoreInstant(.max - 1), limit: 1000).more {
                guard case .start(let execution) = action else { continue }
                if execution.key != expected { Issue.record("\(execution.key) instead of \(expected)") }
                expected += 1
                _ = engine.ended(execution.run, .returned)
            }
        }
        #expect(expected == Self.keys)
        #expect(engine.counters.executed == Self.keys)
        #expect(engine.checkInvariants() == [])
        #expect(engine.core.slots.count == 0 && engine.core.keyExecutions.count == 0)
        #expect(engine.core.deadlines.count == 0)
        let rest = engine.footprint
        print("\(Self.keys) keys: \(peak / Self.keys) bytes each, key and value among them; \(rest) bytes afterwards")
        #expect(peak <= Self.keys * (110 + 16) + 1 << 20)
        #expect(rest <= 1 << 16)
    }

    @Test
    func `many keys that wait to start are executed, once, in order`() throws {
        var engine = Engine<Int, Int>(try Setup(.debounce(wait: 1), maxConcurrent: 1))
        for key in 0..<Self.keys { _ = engine.submit(key, for: key, at: CoreInstant(key), wait: 0) }
        var actions = engine.advance(to: CoreInstant(Self.keys)).more
        var order: [Int] = []
        while case .start(let execution)? = actions.first {
            order.append(execution.key)
            actions = engine.ended(execution.run, .returned).1.more
        }
        #expect(order == Array(0..<Self.keys))
        #expect(engine.core.slots.count == 0 && engine.core.startQueue.count == 0)
    }

    @Test(arguments: [false, true])
    func `keys that come and go with long deadlines do not make the engine grow`(isThrottle: Bool) throws {
        let policy: Policy = isThrottle ? try .throttle(interval: .seconds(3600)) : try .debounce(wait: .seconds(3600))
        var engine = Engine<Int, Int>(try Setup(policy))
        for round in 0..<Self.keys {
            let at = CoreInstant(round)
            for action in engine.submit(round, for: round, at: at).more {
                if case .start(let execution) = action { _ = engine.ended(execution.run, .returned) }
            }
            if round >= 1000 { _ = engine.cancel(round - 1000, at: at) }
        }
        #expect(engine.core.slots.count <= 1000)
        #expect(max(engine.core.deadlines.count, engine.core.idleQueue.count) <= 3000)
        #expect(engine.core.keyIndex.capacity <= 8192)
        #expect(engine.footprint <= 1 << 20)
    }

    @Test
    func `a burst on few keys needs memory for few keys`() throws {
        var engine = Engine<Int, Int>(try Setup(.debounce(wait: .seconds(1), maxWait: .seconds(5))))
        for submit in 0..<Self.keys { _ = engine.submit(submit, for: submit % 4, at: CoreInstant(submit)) }
        #expect(engine.footprint < 1 << 13)
        #expect(engine.counters.superseded == Self.keys - 4)
        #expect(engine.core.deadlines.count == 4)
    }
}

extension Engine {
    /// The bytes that the engine's own data structures hold, without what keys and values refer to.
    fileprivate var footprint: Int {
        core.slots.footprint + core.keyExecutions.footprint + core.deadlines.footprint + core.idleQueue.footprint
            + core.keyIndex.footprint
            + core.startQueue.pages.count * Heap<QueuedStart>.pageSize * MemoryLayout<QueuedStart>.stride
    }
}
