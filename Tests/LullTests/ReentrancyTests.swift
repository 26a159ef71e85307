import TestSupport
import Lull
import LullTesting
import Testing

/// Calls that a handler makes to its own debouncer and key (semantics, section 5).
@Suite("From inside its handler a debouncer")
struct ReentrancyTests {
    let clock = ManualClock()

    /// Holds a debouncer for its own handler.
    final class Owner<D: AnyObject & Sendable>: Sendable {
        private let debouncer = Guarded<D?>(nil)

        var it: D? {
            get { debouncer.value }
            set { _ = debouncer.exchange(newValue) }
        }
    }

    @Test
    func `takes a submit under the same key, which opens a new burst`() async {
        let seen = Record<Int>()
        let owner = Owner<Debouncer<Int, Void>>()
        let count = Debouncer(for: .seconds(1), clock: clock) { (value: Int) in
            seen.add(value)
            if value < 3 { owner.it?.submit(value + 1) }
        }
        owner.it = count
        count(1)
        await clock.advance(by: .seconds(1))
        #expect(seen.all == [1])
        await clock.advance(by: .seconds(10))
        #expect(seen.all == [1, 2, 3])
        owner.it = nil
    }

    @Test
    func `is flushed and cancelled without running the handler recursively`() async {
        let seen = Record<String>()
        let owner = Owner<KeyedDebouncer<String, Int, Void>>()
        let count = KeyedDebouncer(for: .seconds(1), clock: clock) { (key: String, value: Int) in
            seen.add("in \(value)")
            if value == 1 {
                owner.it?.submit(2, for: key)
                owner.it?.flush(key)
                owner.it?.submit(3, for: key)
                owner.it?.cancel(key)
            }
            seen.add("out \(value)")
        }
        owner.it = count
        count.submit(1, for: "a")
        await clock.advance(by: .seconds(1))
        #expect(seen.all == ["in 1", "out 1"])
        #expect(count.counters.cancelled == 2)
        owner.it = nil
    }

    @Test
    func `does not wait for itself in flushAndWait and shutDownAndWait`() async {
        let seen = Record<Int>()
        let owner = Owner<Debouncer<Int, Void>>()
        let count = Debouncer(for: .seconds(1), clock: clock) { (value: Int) in
            guard value == 1 else { return seen.add(value) }
            owner.it?.submit(2)
            await owner.it?.flushAndWait()
            await owner.it?.shutDownAndWait()
            owner.it?.submit(3)
            seen.add(value)
        }
        owner.it = count
        count(1)
        await clock.advance(by: .seconds(1))
        #expect(seen.all == [1, 2])
        #expect(count.counters.rejected == 1)
        owner.it = nil
    }

    @Test
    func `may lose its last handle`() async {
        let owner = Owner<Debouncer<Int, Void>>()
        let seen = Record<Int>()
        owner.it = Debouncer(for: .seconds(1), clock: clock) { (value: Int) in
            if value == 1 { owner.it?.submit(2) }
            owner.it = nil
            seen.add(value)
        }
        owner.it?.submit(1)
        await clock.advance(by: .seconds(2))
        #expect(seen.all == [1, 2])
    }

    @Test
    func `waits for another debouncer's executions`() async {
        let seen = Record<String>()
        let inner = Debouncer(for: .seconds(1), clock: clock) { (value: Int) in
            try await clock.sleep(for: .seconds(1))
            seen.add("inner \(value)")
        }
        let outer = Debouncer(for: .seconds(1), clock: clock) { (value: Int) in
            inner(value)
            await inner.flushAndWait()
            seen.add("outer \(value)")
        }
        outer(1)
        await clock.advance(by: .seconds(1), until: .started)
        await clock.advance(by: .seconds(1))
        #expect(seen.all == ["inner 1", "outer 1"])
    }
}
