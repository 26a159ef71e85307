import Dispatch
import Lull
import LullDispatch
import LullTesting
import TestSupport
import Testing

/// `.replace`: section 7 of the semantics.
@Suite("A handler whose running executions are replaced")
struct ReplaceTests {
    private let clock = ManualClock()
    private let seen = Record<String>()
    private let door = Door()

    /// Takes ten seconds for each value; with 1, waits at the door, and ignores that it is cancelled.
    private func search(maxConcurrent: Int? = nil) -> Debouncer<Int, Int> {
        Debouncer(
            for: .seconds(1), whileRunning: .replace, options: .init(maxConcurrent: maxConcurrent), clock: clock,
            onFailure: { [seen] in seen.add("failed: \($0)") }
        ) { [clock, door, seen] (value: Int) in
            seen.add("begins \(value)")
            if value == 1 { await door.pass() } else { try await clock.sleep(for: .seconds(10)) }
            seen.add("ends \(value)")
            return value
        }
    }

    @Test(arguments: [1, 2])
    func `starts the newer value at once, and the older one is superseded then, whatever it does`(first: Int) async {
        let it = search()
        let outcomes = Record<String>()
        it.submit(first) { outcomes.add("\(first): \($0)") }
        await clock.advance(by: .seconds(2), until: .started)
        it.submit(4) { outcomes.add("4: \($0)") }
        await clock.advance(by: .seconds(1), until: .started)
        await clock.advance(by: .zero, until: .started)
        #expect(seen.all == ["begins \(first)", "begins 4"])
        #expect(outcomes.all == ["\(first): superseded"])
        #expect(it.state.running == 1 && it.counters.superseded == 1 && it.counters.addUp)
        door.open()
        await clock.advance(by: .seconds(10))
        #expect(outcomes.all == ["\(first): superseded", "4: executed(4)"])
        #expect(seen.all.contains("ends 1") == (first == 1), "which goes on, and counts for nothing")
        #expect(it.counters.executed == 1 && it.counters.failed == 0 && it.counters.addUp && it.state.isDone)
    }

    @Test
    func `tells observers once that it is superseded`() async {
        let it = search()
        var events = it.events().makeAsyncIterator()
        it.submit(2)
        await clock.advance(by: .seconds(1))
        it.submit(4)
        await clock.advance(by: .seconds(12))
        var kinds: [Event<NoKey>.Kind] = []
        for _ in 0..<6 { if let event = await events.next() { kinds.append(event.kind) } }
        #expect(kinds == [.submitted, .started, .submitted, .superseded, .started, .executed])
    }

    @Test
    func `keeps the slot of the older one until that ends`() async {
        let it = search(maxConcurrent: 1)
        it.submit(1)
        await clock.advance(by: .seconds(2), until: .started)
        it.submit(4)
        await clock.advance(by: .seconds(1), until: .started)
        #expect(seen.all == ["begins 1"] && it.state.waiting == 1 && it.counters.superseded == 1)
        door.open()
        await clock.advance(by: .seconds(20))
        #expect(seen.all == ["begins 1", "ends 1", "begins 4", "ends 4"])
    }

    @Test
    func `waits with a flush for the older one, too`() async {
        let it = search()
        it.submit(1)
        await clock.advance(by: .seconds(2), until: .started)
        it.submit(4)
        let flushing = clock.task {
            await it.flushAndWait()
            seen.add("flushed")
        }
        await clock.advance(by: .seconds(20), until: .started)
        #expect(seen.all.contains("ends 4") && !seen.all.contains("flushed"))
        door.open()
        _ = await flushing.result
        #expect(seen.all == ["begins 1", "begins 4", "ends 4", "ends 1", "flushed"])
    }

    @Test
    func `an answer of what was cancelled before does not come after a newer one`() async {
        let it = search()
        let outcomes = Record<String>()
        it.submit(1) { outcomes.add("1: \($0)") }
        await clock.advance(by: .seconds(2), until: .started)
        it.cancel(includingRunning: true)
        it.submit(4) { outcomes.add("4: \($0)") }
        await clock.advance(by: .seconds(12), until: .started)
        await clock.advance(by: .zero, until: .started)
        #expect(outcomes.all == ["1: cancelled", "4: executed(4)"])
        door.open()
        await it.flushAndWait()
        #expect(outcomes.all.count == 2 && it.counters.cancelled == 1 && it.counters.executed == 1)
    }

    @Test
    func `on a queue, tells the callers of a handler that still runs`() async {
        let (door, begun) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let it = Debouncer(
            for: .zero, on: DispatchQueue(label: "it", attributes: .concurrent), whileRunning: .replace
        ) { (value: Int) -> Int in
            begun.signal()
            if value == 1 { door.wait() }
            return value
        }
        let outcomes = Record<String>()
        it.submit(1) { outcomes.add("1: \($0)") }
        await blocking { begun.wait() }
        #expect((try? await it.outcome(of: 2).get()) == 2)
        try? await waitUntil { outcomes.all == ["1: superseded"] }
        #expect(outcomes.all == ["1: superseded"])
        door.signal()
        await it.flushAndWait()
        #expect(it.counters.executed == 1 && it.counters.superseded == 1 && it.counters.addUp)
    }

    @Test
    func `under load from many tasks one outcome each, and the last value is executed`() async {
        let it = KeyedDebouncer(for: .zero, whileRunning: .replace) { (_: Int, value: Int) in
            await Task.yield()
            return value
        }
        await fromEightTasks { task, value in
            if value % 5 == 0 {
                _ = try? await it.outcome(of: value, for: task % 3)
            } else {
                it.submit(value, for: task % 3)
            }
        }
        #expect((try? await it.outcome(of: 7, for: 0).get()) == 7)
        await it.flushAndWait()
        #expect(it.counters.submitted == 4001 && it.counters.addUp && it.state.isDone)
        #expect(it.counters.failed == 0)
    }
}
