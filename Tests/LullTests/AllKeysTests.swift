import Dispatch
import LullTesting
import TestSupport
import Testing

@testable import Lull
import LullDispatch

/// Semantics, section 5: with so many keys that a call for all of them comes to them in portions.
@Suite("Calls for all keys")
struct AllKeysTests {
    private let clock = ManualClock()
    private let seen = Record<Int>()
    private let keys = 2000

    private func make(edges: Edges = .trailing) -> KeyedDebouncer<Int, Int, Void> {
        KeyedDebouncer(for: .seconds(1), edges: edges, clock: clock) { [seen] (key: Int, value: Int) in
            seen.add(value)
        }
    }

    @Test
    func `a flush executes what is pending under every key`() async {
        let it = make()
        for key in 0..<keys { it.submit(key, for: key) }
        await it.flushAndWait()
        #expect(Set(seen.all) == Set(0..<keys) && seen.all.count == keys)
        #expect(it.counters.executed == keys)
        #expect(it.keyCount == 0)
    }

    @Test
    func `a cancel drops what is pending under every key, and leaves the keys idle`() async {
        let it = make(edges: [.leading, .trailing])
        for key in 0..<keys { it.submit(-key, for: key) }
        await clock.advance(by: .zero)
        for key in 0..<keys { it.submit(key, for: key) }
        it.cancel()
        #expect(it.counters.cancelled == keys)
        #expect(it.state.pending == 0 && it.state.timeUntilDue == nil)
        it.submit(7, for: 7)
        await clock.advance(by: .zero)
        #expect(seen.all.last == 7, "an idle gate leads again")
    }

    @Test
    func `a shut-down that flushes executes everything, and what comes later is rejected`() async {
        let it = make()
        for key in 0..<keys { it.submit(key, for: key) }
        await it.shutDownAndWait()
        it.submit(1, for: 1)
        #expect(it.counters.executed == keys && it.counters.rejected == 1)
    }

    @Test
    func `the next due instant is known among many keys, and after some of them have been put off`() async {
        let it = make()
        for key in 0..<keys { it.submit(key, for: key, after: .seconds(10 + key)) }
        for key in 0..<keys - 5 { it.submit(key, for: key, after: .seconds(100_000)) }
        #expect(it.state.timeUntilDue == .seconds(10 + keys - 5))
        await clock.advance(by: .seconds(10 + keys - 4))
        #expect(it.state.timeUntilDue == .seconds(1))
        #expect(seen.all == [keys - 5, keys - 4])
    }

    @Test
    func `submits of other threads in between are neither lost nor executed twice, and every count adds up`() async {
        let handled = Record<Int>()
        let it = KeyedDebouncer(for: .seconds(1000), on: DispatchQueue(label: "handled")) { (_: Int, value: Int) in
            handled.add(value)
        }
        let keys = keys
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<2 {
                group.addTask {
                    for round in 0..<20 {
                        for key in 0..<keys where key % 2 == worker { it.submit(round, for: key) }
                        #expect(it.counters.addUp)
                    }
                }
            }
            group.addTask { for _ in 0..<20 { it.flush() } }
            group.addTask { for _ in 0..<20 { it.cancel(includingRunning: true) } }
            group.addTask { for _ in 0..<20 { await it.flushAndWait() } }
        }
        await it.flushAndWait()
        let counters = it.counters
        #expect(counters.addUp && counters.submitted == 20 * keys)
        #expect(counters.pending + counters.running + counters.failed + counters.absorbed == 0)
        #expect(handled.all.count == counters.executed)
    }

    @Test(arguments: [OverlapPolicy.queue, .skip])
    func `keys and values are released, and outside the lock, whatever is called`(_ rule: OverlapPolicy) async throws {
        try await withinReason {
            let holder = Guarded<KeyedDebouncer<CallingKey, CallingKey, Void>?>(nil)
            let it = KeyedDebouncer(
                for: .milliseconds(1), on: DispatchQueue(label: "it"), maxCount: 40,
                combining: .merge { $0 = $1 }, whileRunning: rule,
                options: .init(maxBatch: 3, maxConcurrent: 2, capacity: 300)
            ) { (_: CallingKey, _: CallingKey) in }
            _ = holder.exchange(it)
            let call: @Sendable () -> Void = { _ = holder.value?.counters }
            let events = it.events(bufferingNewest: 8)
            let recording = it.startRecording(limit: 8)
            var random = StressTests.Random(state: 5)
            for round in 0..<20_000 {
                let key = CallingKey(Int.random(in: 0..<400, using: &random), call)
                switch Int.random(in: 0..<1000, using: &random) {
                case 0: it.flush()
                case 1: it.cancel(includingRunning: round.isMultiple(of: 2))
                case 2..<20: it.cancel(key)
                case 20..<40: it.flush(key)
                case 40: _ = recording.trace()
                default: it.submit(CallingKey(round, call), for: key)
                }
            }
            it.shutDown(droppingPending: true)
            #expect(it.counters.addUp)
            withExtendedLifetime(events) {}
            _ = holder.exchange(nil)
        }
    }

    @Test
    func `a handler that throws while a cancel is on its way to the key leaves the key idle`() async throws {
        let door = Door()
        let it = KeyedDebouncer<Int, Int, Void>(for: .seconds(1), clock: clock, onFailure: { _, _ in }) { _, _ in
            await door.pass()
            throw Refusal()
        }
        it.submit(1, for: 1)
        it.flush()
        let runtime = it.runtime
        let now = runtime.now
        var sweep = runtime.lock.withLock { runtime.engine.beginSweep(.cancel(running: true), at: now, waiter: nil) }
        door.open()
        while it.state.running > 0 { await Task.yield() }
        runtime.handle { runtime.engine.continueSweep(&sweep, limit: .max) }
        try await waitUntil { it.state.isDone }
        #expect(it.counters.cancelled == 1)
    }
}
