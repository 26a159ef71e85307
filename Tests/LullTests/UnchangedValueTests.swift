import Dispatch
import Lull
import LullDispatch
import LullTesting
import TestSupport
import Testing

/// `removingDuplicates`: section 7 of the semantics.
@Suite("An execution with an unchanged value")
struct UnchangedValueTests {
    private let clock = ManualClock()
    private let seen = Record<String>()

    /// Handles at once; refuses a 2.
    private func saver(limit: RateLimit? = nil, maxConcurrent: Int? = nil) -> KeyedDebouncer<String, Int, Int> {
        KeyedDebouncer(
            for: .seconds(1), removingDuplicates: ==, options: .init(maxConcurrent: maxConcurrent, limit: limit),
            clock: clock, onFailure: { _, _ in }
        ) { [seen] key, value in
            seen.add("\(key)\(value)")
            if value == 2 { throw Refusal() }
            return value
        }
    }

    private func submit(_ values: [Int], for key: String = "a", to it: KeyedDebouncer<String, Int, Int>) async {
        for value in values {
            it.submit(value, for: key)
            await clock.advance(by: .seconds(1))
        }
    }

    @Test
    func `is left out, and its submits are absorbed`() async throws {
        let it = saver()
        await submit([1, 1, 3, 1], to: it)
        #expect(seen.all == ["a1", "a3", "a1"])
        let outcome = clock.task { try await it.outcome(of: 1, for: "a") }
        await clock.advance(by: .seconds(1))
        #expect(try await outcome.value == .absorbed)
        #expect(it.counters.absorbed == 2 && it.counters.executed == 3 && it.counters.addUp && it.state.isDone)
    }

    @Test
    func `is left out of its own key alone, also after a flush`() async {
        let it = saver()
        await submit([1], to: it)
        await submit([1], for: "b", to: it)
        it.submit(1, for: "b")
        it.flush()
        await clock.advance(by: .zero)
        #expect(seen.all == ["a1", "b1"] && it.counters.absorbed == 1)
    }

    @Test
    func `is handled after one that failed, since nobody knows what is there`() async {
        let it = saver()
        await submit([1, 2, 1, 1], to: it)
        #expect(seen.all == ["a1", "a2", "a1"])
    }

    @Test
    func `counts for no limit, and takes no slot from what waits`() async {
        let it = saver(limit: RateLimit(1, per: .seconds(10)), maxConcurrent: 1)
        await submit([1], to: it)
        await clock.advance(by: .seconds(9))
        it.submit(1, for: "a")
        it.submit(5, for: "b")
        await clock.advance(by: .seconds(1))
        #expect(seen.all == ["a1", "b5"], "b would have to wait if the start of a counted")
        #expect(it.counters.addUp && it.state.isDone)
    }

    @Test
    func `is no event that something has started`() async {
        let it = saver()
        var events = it.events().makeAsyncIterator()
        await submit([1, 1], to: it)
        var kinds: [Event<String>.Kind] = []
        for _ in 0..<5 { if let event = await events.next() { kinds.append(event.kind) } }
        #expect(kinds == [.submitted, .started, .executed, .submitted, .absorbed])
    }

    @Test
    func `is found after merging`() async {
        let merged = Throttler(
            every: .seconds(1), edges: .trailing, combining: .merge { $0 += $1 }, removingDuplicates: ==, clock: clock
        ) { [seen] (sum: Int) in seen.add("\(sum)") }
        for values in [[1, 2], [3], [2, 2]] {
            for value in values { merged(value) }
            await clock.advance(by: .seconds(1))
        }
        #expect(seen.all == ["3", "4"] && merged.counters.absorbed == 1)
    }

    @Test
    func `is found on a queue`() async {
        let queue = DispatchQueue(label: "handler")
        let it = Debouncer(for: .seconds(1), on: queue, removingDuplicates: ==, clock: clock) { [seen] (value: Int) in
            seen.add("\(value)")
        }
        for value in [1, 1, 2] {
            it(value)
            await clock.advance(by: .seconds(1))
        }
        #expect(seen.all == ["1", "2"] && it.counters.absorbed == 1)
    }

    @Test
    func `is handled where the equal value was replaced while it ran, and no outcome of it was told`() async {
        let doors = [Door(), Door()]
        let it = Debouncer(for: .seconds(1), removingDuplicates: ==, whileRunning: .replace, clock: clock) {
            [seen] (value: Int) in
            seen.add("\(value)")
            if seen.all.count < 3 { await doors[seen.all.count - 1].pass() }
        }
        let outcomes = Record<String>()
        for value in [1, 1] {
            it.submit(value) { outcomes.add("\($0)") }
            await clock.advance(by: .seconds(1), until: .started)
        }
        doors[0].open()
        await clock.advance(by: .seconds(1), until: .started)
        doors[1].open()
        await clock.advance(by: .seconds(1))
        #expect(seen.all == ["1", "1"] && outcomes.all == ["superseded", "executed()"])
        it.submit(1) { outcomes.add("\($0)") }
        await clock.advance(by: .seconds(2))
        #expect(outcomes.all.last == "absorbed")
    }

    @Test
    func `is remembered where the handler was told to stop and returned, for it was executed`() async {
        let door = Door()
        let it = Debouncer(for: .seconds(1), removingDuplicates: ==, whileRunning: .replace, clock: clock) {
            [seen] (value: Int) in
            seen.add("\(value)")
            await door.pass()
        }
        it(1)
        await clock.advance(by: .seconds(1), until: .started)
        it.cancel(includingRunning: true)
        door.open()
        await clock.advance(by: .zero)
        it(1)
        await clock.advance(by: .seconds(1))
        #expect(seen.all == ["1"] && it.counters.executed == 1 && it.counters.absorbed == 1)
    }

    @Test
    func `may be found by a comparison that calls the debouncer; what it cancels is not entered`() async {
        let (outcomes, holder) = (Record<String>(), Guarded<Debouncer<Int, Void>?>(nil))
        let it = Debouncer(
            for: .seconds(1),
            removingDuplicates: { older, newer in
                holder.value?.cancel(includingRunning: true)
                return older == newer
            }, clock: clock
        ) { [seen] (value: Int) in seen.add("\(value)") }
        holder.change { $0 = it }
        for value in 1...2 {
            it.submit(value) { outcomes.add("\(value) \($0)") }
            await clock.advance(by: .seconds(1))
        }
        #expect(seen.all == ["1"] && outcomes.all == ["1 executed()", "2 cancelled"])
        #expect(it.counters.addUp && it.state.isDone)
        holder.change { $0 = nil }
    }

    @Test
    func `is forgotten with the keys that have not started for longest, of more than twenty thousand`() async {
        // One after the other, so that they start in this order.
        let it = saver(maxConcurrent: 1)
        for key in 0...20_000 { it.submit(1, for: "\(key)") }
        await clock.advance(by: .seconds(1))
        let count = seen.all.count
        await submit([1], for: "20000", to: it)
        await submit([1], for: "10001", to: it)
        #expect(seen.all.count == count)
        await submit([1], for: "0", to: it)
        #expect(seen.all.count == count + 1)
    }
}
