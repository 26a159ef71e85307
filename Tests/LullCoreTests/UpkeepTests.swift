import LullReference
import Testing

@testable import LullCore
@testable import LullEngine

/// The work of one call is bounded, however many keys there are: counted in steps, not in time.
@Suite("Upkeep")
struct UpkeepTests {
    /// Counts how often its keys are hashed.
    private final class Counter {
        var hashes = 0
        var worst = 0

        func call(_ body: () -> Void) {
            hashes = 0
            body()
            worst = max(worst, hashes)
        }
    }

    private struct Key: Hashable {
        var name: Int
        var counter: Counter

        static func == (left: Key, right: Key) -> Bool { left.name == right.name }

        func hash(into hasher: inout Hasher) {
            counter.hashes += 1
            hasher.combine(name)
        }
    }

    @Test
    func `no call hashes more than its own key, to find it and to store it, while many come and go`() throws {
        let counter = Counter()
        var engine = Engine<Key, Int>(try Setup(.debounce(10)))
        let keys = (0..<ScaleTests.keys / 2).map { Key(name: $0, counter: counter) }
        for key in keys { counter.call { _ = engine.submit(1, for: key, at: .origin) } }
        for key in keys.dropLast(keys.count / 2) { counter.call { _ = engine.cancel(key, at: .origin) } }
        while engine.alarm <= CoreInstant(10) {
            counter.call {
                for action in engine.advance(to: CoreInstant(10), limit: 1).more {
                    if case .start(let execution) = action { _ = engine.ended(execution.run, .returned) }
                }
            }
        }
        #expect(engine.core.slots.count == 0)
        #expect(counter.worst == 2)
    }

    @Test
    func `a wake-up with a limit postpones no more than sixteen deadlines for each execution it might do`() throws {
        var engine = Engine<Int, Int>(try Setup(.debounce(10)))
        for at in [0, 5] {
            for key in 0..<5000 { _ = engine.submit(key, for: key, at: CoreInstant(at)) }
        }
        var calls = 0
        while engine.alarm <= CoreInstant(10) {
            let before = engine.core.deadlines.allEntries.count { $0.at == 10 }
            #expect(engine.advance(to: CoreInstant(10), limit: 4).more.isEmpty)
            let after = engine.core.deadlines.allEntries.count { $0.at == 10 }
            if before - after > 64 { Issue.record("\(before - after) at once") }
            calls += 1
        }
        #expect(calls >= 5000 * 2 / 64 && calls <= 5000 * 3 / 64)
        #expect(engine.alarm == CoreInstant(15))
        #expect(engine.checkInvariants() == [])
    }

    @Test
    func `stale entries are found little by little, and are never many more than current ones`() throws {
        var engine = Engine<Int, Int>(try Setup(.debounce(10)))
        for key in 0..<5000 { _ = engine.submit(key, for: key, at: .origin, wait: CoreDuration(1 << 40)) }
        // Each key is due earlier and earlier: every submit leaves a stale entry.
        for round in 1..<12 {
            for key in 0..<5000 {
                _ = engine.submit(key, for: key, at: .origin, wait: CoreDuration(1 << (40 - round)))
                if engine.core.deadlines.count > 3 * 5000 { Issue.record("\(engine.core.deadlines.count) entries") }
            }
        }
        #expect(engine.checkInvariants() == [])
        for key in 0..<5000 { _ = engine.cancel(key, at: .origin) }
        #expect(engine.core.deadlines.count <= 200)
        #expect(engine.checkInvariants() == [])
    }

    @Test(arguments: 0..<8)
    func `no current entry is lost when time advances during a pass`(seed: Int) throws {
        var random = SplitMix(seed: UInt64(seed))
        let policy: Policy = random.oneIn(2) ? try .debounce(5000) : try .debounce(5000, [.leading, .trailing])
        var engine = Engine<Int, Int>(try Setup(policy))
        var now = 0
        var sweeps = 0
        for step in 0..<4000 {
            let key = Int.random(in: 0..<25, using: &random)
            let wait = CoreDuration(Int.random(in: 0...random.pick([10, 300, 5000]), using: &random))
            _ = engine.submit(step, for: key, at: CoreInstant(now), wait: wait)
            if engine.core.deadlines.isCompacting || engine.core.idleQueue.isCompacting { sweeps += 1 }
            if random.oneIn(5) {
                now += random.pick([1, 7, 40])
                _ = engine.advance(to: CoreInstant(now), limit: 1)
            }
            if step % 5 == 0 { #expect(engine.checkInvariants() == []) }
        }
        #expect(sweeps > 10)
        #expect(engine.core.deadlines.count <= 400)
    }

    @Test
    func `the queue of starts drops what is cancelled or replaced`() throws {
        let rig = try Rig(.debounce(10), maxConcurrent: 1, handlersTakeTime: true)
        rig.submit("first", "first", at: 0, wait: 0)
        for round in 1...1000 {
            rig.submit("\(round)", "k", at: round, wait: 0)
            rig.cancel("k", at: round)
        }
        #expect(rig.engine.core.startQueue.count <= 70)
        #expect(rig.broken == [])
    }

    // MARK: - The next deadline

    /// Refines with a small budget until the result is exact.
    private func refined(
        _ engine: inout Engine<Int, Int>, at instant: Int, budget: Int
    ) -> (due: CoreInstant?, calls: Int) {
        for calls in 1..<100_000 {
            let (isExact, due) = engine.refineNextDue(at: CoreInstant(instant), budget: budget)
            if isExact { return (due, calls) }
        }
        Issue.record("there is no end to it")
        return (nil, 0)
    }

    @Test
    func `the next deadline of many keys is found in bounded steps, as exactly as by visiting all`() throws {
        var engine = Engine<Int, Int>(try Setup(.debounce(1000)))
        #expect(refined(&engine, at: 0, budget: 1) == (nil, 1))
        for key in 0..<5000 { _ = engine.submit(key, for: key, at: CoreInstant(key / 100)) }
        #expect(refined(&engine, at: 50, budget: 1) == (CoreInstant(1000), 1))
        for key in 0..<4900 { _ = engine.submit(key, for: key, at: CoreInstant(500)) }
        for key in 4900..<4950 { _ = engine.cancel(key, at: CoreInstant(500)) }
        let (due, calls) = refined(&engine, at: 500, budget: 100)
        #expect(due == CoreInstant(1049) && calls > 10 && calls < 200)
        #expect(engine.checkInvariants() == [])
        #expect(refined(&engine, at: 500, budget: 1) == (due, 1), "the result is kept")
    }

    @Test(arguments: 0..<40)
    func `the next deadline is the right one after random calls`(seed: Int) throws {
        var random = SplitMix(seed: UInt64(seed))
        let policies: [Policy] = [
            try .debounce(20), try .debounce(20, maxWait: 35), try .debounce(20, [.leading, .trailing], .extend),
            try .throttle(20),
        ]
        var engine = Engine<Int, Int>(try Setup(random.pick(policies)))
        var now = 0
        for step in 0..<400 {
            now += random.pick([0, 0, 1, 3])
            let key = Int.random(in: 0..<60, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0: _ = engine.cancel(key, at: CoreInstant(now))
            case 1: _ = engine.flush(key, at: CoreInstant(now))
            case 2:
                // Only a few steps: other calls come between.
                _ = engine.refineNextDue(at: CoreInstant(now), budget: 2)
            case 3...5:
                repeat { _ = engine.advance(to: CoreInstant(now), limit: 1) } while engine.alarm <= CoreInstant(now)
                let expected = engine.nextDue(at: CoreInstant(now))
                #expect(refined(&engine, at: now, budget: random.pick([1, 7])).due == expected)
            default:
                let wait = random.oneIn(3) ? CoreDuration(random.pick([1, 5, 40, 300])) : nil
                _ = engine.submit(step, for: key, at: CoreInstant(now), wait: wait)
            }
            if step % 10 == 0 { #expect(engine.checkInvariants() == []) }
        }
    }

    @Test(arguments: [CombinationRule.latest, .collect])
    func `the order of submits has hardly more than those that are kept`(combination: CombinationRule) throws {
        var engine = Engine<Int, Int>(
            try Setup(.debounce(wait: 10), combination: combination, maxPending: 100, overflow: .dropOldest))
        // One key stays, and is the oldest.
        _ = engine.submit(0, for: -1, at: CoreInstant(0), wait: .infinite)
        for number in 1...20_000 {
            let at = CoreInstant(number * 5)
            var actions = engine.submit(number, for: number % 7, at: at).more
            while case .start(let execution)? = actions.popLast() { _ = engine.ended(execution.run, .returned) }
            #expect(engine.core.keptOrder.queued < 2 * 100 + 70)
        }
        #expect(engine.counters.addUp && engine.counters.executed > 1000)
    }
}
