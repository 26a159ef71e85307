import TestSupport
import Dispatch
import Lull
import LullDispatch
import Testing

// The scheduler sends its block to the queue of the handler, which may be busy or suspended. What needs no handler goes
// on all the same.

@Suite("While the handler's queue is busy", .timeLimit(.minutes(1)))
struct BusyQueueTests {
    @Test
    func `what falls due is noticed, as often as it happens`() async throws {
        let queue = DispatchQueue(label: "suspended")
        queue.suspend()
        let handled = Record<Int>()
        let it = KeyedDebouncer(for: .milliseconds(1), on: queue) { (key: Int, _: Int) in handled.add(key) }
        for key in 1...3 {
            it.submit(0, for: key)
            try await waitUntil { it.counters.running >= key }
        }
        #expect(it.counters.pending == 0)
        #expect(handled.all.isEmpty)
        queue.resume()
        await it.flushAndWait()
        #expect(handled.all == [1, 2, 3])
    }

    @Test
    func `a value that loses its place has its outcome`() async throws {
        let queue = DispatchQueue(label: "suspended")
        queue.suspend()
        let it = Debouncer(for: .milliseconds(1), on: queue) { (value: Int) in value }
        it(1)
        try await waitUntil { it.counters.running >= 1 }
        async let second = it.outcome(of: 2)
        try await waitUntil { it.counters.submitted >= 2 && it.state.pending == 0 }
        it(3)
        #expect(try await Ended(second) == .superseded)
        queue.resume()
        await it.flushAndWait()
        #expect(it.counters.executed == 2)
    }

    @Test
    func `a concurrent queue runs executions side by side, however many have fallen due at once`() async throws {
        let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
        let meeting = DispatchSemaphore(value: 0)
        // Each of the first three waits for the last one.
        let it = KeyedDebouncer(for: .seconds(3600), on: queue) { (key: Int, _: Int) in
            if key < 4 { meeting.wait() } else { for _ in 1...3 { meeting.signal() } }
        }
        for key in 1...4 { it.submit(0, for: key) }
        await it.flushAndWait()
        #expect(it.counters.executed == 4)
    }

    @Test
    func `on a concurrent queue an execution that waits for one that is due later does not hold it up`() async throws {
        let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
        let meeting = DispatchSemaphore(value: 0)
        let due = Guarded(ContinuousClock.now)
        let late = Record<Duration>()
        let it = KeyedDebouncer(for: .zero, on: queue) { (key: Int, _: Int) in
            if key == 1 { return meeting.wait() }
            late.add(due.value.duration(to: .now))
            meeting.signal()
        }
        for _ in 1...100 {
            it.submit(0, for: 1, after: .milliseconds(1))
            _ = due.exchange(.now + .milliseconds(4))
            it.submit(0, for: 2, after: .milliseconds(4))
            try await waitUntil { it.counters.running + it.counters.pending == 0 }
        }
        #expect(it.counters.executed == 200)
        // This is about real time: of a hundred, a quarter comes before the check for missed ones.
        #expect(late.all.sorted()[25] < .milliseconds(1.5))
    }
}
