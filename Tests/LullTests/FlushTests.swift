import TestSupport
import Dispatch
import LullTesting
import Testing

@testable import Lull
import LullDispatch
@testable import LullCore

/// Semantics, section 5.
@Suite("Flush, cancel and shut-down")
struct FlushTests {
    let clock = ManualClock()
    let seen = Record<Int>()
    let door = Door()

    /// A debouncer whose handler passes the door if the value is odd.
    func make(wait: Duration = .seconds(1)) -> KeyedDebouncer<String, Int, Void> {
        KeyedDebouncer(for: wait, clock: clock) { [seen, door] (_: String, value: Int) in
            if value % 2 == 1 { await door.pass() }
            seen.add(value)
        }
    }

    @Test
    func `flush executes what is pending now, of one key or of all in the order of their bursts`() async {
        let it = make()
        for (value, key) in [(2, "a"), (4, "b"), (6, "c")] { it.submit(value, for: key) }
        it.flush("b")
        await clock.advance(by: .zero)
        #expect(seen.all == [4])
        it.flush()
        await clock.advance(by: .zero)
        #expect(Set(seen.all) == [2, 4, 6])
        await clock.advance(by: .seconds(5))
        #expect(seen.all.count == 3)
    }

    @Test
    func `flushAndWait returns when the execution, and one that was running, have ended`() async throws {
        let it = make()
        it.submit(1, for: "a")
        await clock.advance(by: .seconds(1), until: .started)
        it.submit(2, for: "a")
        let returned = Record<Int>()
        let waiting = clock.task { [seen] in
            await it.flushAndWait("a")
            returned.add(seen.all.count)
        }
        await clock.advance(by: .zero, until: .started)
        #expect(returned.all == [])
        door.open()
        try await waiting.value
        #expect(returned.all == [2])
        #expect(seen.all == [1, 2])
    }

    @Test
    func `flushAndWait of all keys waits for all of them`() async {
        let it = make()
        for key in 0..<20 { it.submit(key * 2, for: "\(key)") }
        await it.flushAndWait()
        #expect(seen.all.count == 20)
    }

    @Test
    func `flushAndWait with nothing to wait for returns at once`() async {
        let it = make()
        await it.flushAndWait()
        await it.flushAndWait("a")
        await it.shutDownAndWait()
    }

    @Test
    func `flushAndWait follows the value that took the place of its own`() async throws {
        let it = make()
        it.submit(1, for: "a")
        await clock.advance(by: .seconds(1), until: .started)
        it.submit(2, for: "a")
        let returned = Record<Int>()
        let waiting = clock.task { [seen] in
            await it.flushAndWait("a")
            returned.add(seen.all.last ?? 0)
        }
        await clock.advance(by: .zero, until: .started)
        it.submit(4, for: "a")
        await clock.advance(by: .seconds(1), until: .started)
        door.open()
        try await waiting.value
        #expect(returned.all == [4])
        #expect(seen.all == [1, 4])
    }

    @Test
    func `cancelling a task that waits for a flush ends its wait; the work goes on`() async throws {
        let it = make()
        it.submit(1, for: "a")
        let waiting = clock.task { await it.flushAndWait() }
        await clock.advance(by: .zero, until: .started)
        waiting.cancel()
        try await waiting.value
        door.open()
        await it.flushAndWait()
        #expect(seen.all == [1])
    }

    @Test(arguments: [nil, "a"])
    func `a wait that was cancelled keeps nothing, however long the handler takes`(key: String?) async throws {
        let it = make()
        // One runs, and one waits behind it; other keys run, too.
        it.submit(1, for: "a")
        await clock.advance(by: .seconds(1), until: .started)
        it.submit(3, for: "a")
        for number in 0..<300 { it.submit(1, for: "\(number)") }
        it.flush()
        let waits = (0..<5).map { _ in
            clock.task { if let key { await it.flushAndWait(key) } else { await it.flushAndWait() } }
        }
        await clock.advance(by: .zero, until: .started)
        #expect(it.waiterCount == 10)
        for wait in waits.dropLast() {
            wait.cancel()
            try await wait.value
        }
        #expect(it.waiterCount == 2)
        door.open()
        try await waits[4].value
        await clock.advance(by: .zero)
        #expect(it.waiterCount == 0)
        #expect(it.counters.executed == 302)
    }

    @Test
    func `cancel drops what is pending and what waits, and leaves the running execution alone`() async {
        let it = make()
        it.submit(1, for: "a")
        await clock.advance(by: .seconds(1), until: .started)
        it.submit(2, for: "a")
        await clock.advance(by: .seconds(1), until: .started)
        it.submit(4, for: "a")
        it.submit(6, for: "b")
        it.cancel()
        #expect(it.counters.cancelled == 3)
        door.open()
        await clock.advance(by: .seconds(5))
        #expect(seen.all == [1])
        #expect(it.counters.addUp)
    }

    @Test
    @MainActor
    func `a handler that was not entered before cancel(includingRunning: true) is not entered after it`() async {
        let outcomes = Record<Ended<Int>>()
        var shown: [Int] = []
        let it = Debouncer(for: .seconds(1), edges: [.leading, .trailing], clock: clock) { (value: Int) in
            shown.append(value)
            return value
        }
        // The main actor is ours: the handler of the leading edge cannot be entered before we let go of it.
        it.submit(1, into: outcomes)
        it.cancel(includingRunning: true)
        await clock.advance(by: .seconds(1))
        #expect(shown == [])
        #expect(outcomes.all == [.cancelled])
        #expect(it.counters.cancelled == 1)
        it.submit(2, into: outcomes)
        await clock.advance(by: .seconds(1))
        #expect(shown == [2])
    }

    @Test
    func `a handler that waits for its queue is not entered after a cancel that the release of a value makes`() {
        let queue = DispatchQueue(label: "handlers")
        let it = KeyedDebouncer(for: .seconds(1000), on: queue) { [seen] (key: Int, _: CallingKey) in seen.add(key) }
        queue.suspend()
        it.submit(CallingKey(0) { it.cancel(includingRunning: true) }, for: 1)
        it.submit(CallingKey(0) {}, for: 2)
        it.flush()
        queue.resume()
        for _ in 0..<3 { queue.sync {} }
        #expect(seen.all == [1])
        #expect(it.counters.cancelled == 1)
    }

    @Test
    func `a flush makes the gate idle, so that the next submit leads again`() async {
        let it = Debouncer(for: .seconds(1), edges: [.leading, .trailing], clock: clock) { [seen] (value: Int) in
            seen.add(value)
        }
        it(1)
        await clock.advance(by: .zero)
        it.flush()
        it(2)
        await clock.advance(by: .zero)
        #expect(seen.all == [1, 2])
    }

    @Test
    func `shut-down executes what is pending and rejects what comes after`() async {
        let it = make()
        it.submit(1, for: "a")
        it.submit(2, for: "b")
        it.shutDown()
        it.submit(4, for: "c")
        door.open()
        await it.shutDownAndWait()
        #expect(Set(seen.all) == [1, 2])
        #expect(it.counters.rejected == 1)
        #expect(it.counters.addUp)
    }

    @Test
    func `shut-down drops what is pending when asked to, and awaits what runs`() async throws {
        let it = make()
        it.submit(1, for: "a")
        await clock.advance(by: .seconds(1), until: .started)
        it.submit(2, for: "a")
        it.submit(4, for: "b")
        let waiting = clock.task { await it.shutDownAndWait(droppingPending: true) }
        await clock.advance(by: .zero, until: .started)
        #expect(it.counters.running == 1)
        door.open()
        try await waiting.value
        #expect(seen.all == [1])
    }
}

extension Coalescer {
    /// How many entries are kept for callers that wait, in the runtime and in the engine.
    fileprivate var waiterCount: Int {
        runtime.lock.withLock { runtime.waiters.count + runtime.engine.waiters.count }
    }
}

@Suite("When the last reference is released")
struct AtEndTests {
    let clock = ManualClock()
    let seen = Record<Int>()

    func submitAndForget(_ atEnd: EndPolicy, _ outcomes: Record<Ended<Int>>) {
        let it = Debouncer(for: .seconds(1), options: .init(atEnd: atEnd), clock: clock) { [seen] (value: Int) in
            seen.add(value)
            return value
        }
        it.submit(7, into: outcomes)
    }

    @Test
    func `pending values are executed when due, by default`() async {
        let outcomes = Record<Ended<Int>>()
        submitAndForget(.executeWhenDue, outcomes)
        await clock.advance(by: .milliseconds(999))
        #expect(seen.all == [])
        await clock.advance(by: .milliseconds(1))
        #expect(seen.all == [7])
        #expect(outcomes.all == [.executed(7)])
    }

    @Test
    func `pending values are executed at once, if so set up`() async {
        let outcomes = Record<Ended<Int>>()
        submitAndForget(.flush, outcomes)
        await clock.advance(by: .zero)
        #expect(seen.all == [7])
        #expect(outcomes.all == [.executed(7)])
    }

    @Test
    func `pending values are dropped, if so set up, and no caller waits forever`() async {
        let outcomes = Record<Ended<Int>>()
        submitAndForget(.drop, outcomes)
        await clock.advance(by: .seconds(5))
        #expect(seen.all == [])
        #expect(outcomes.all == [.cancelled])
    }

    @Test(arguments: [EndPolicy.executeWhenDue, .flush, .drop])
    func `nothing stays alive once nothing is pending`(atEnd: EndPolicy) async throws {
        final class Token: Sendable {}
        weak var token: Token?
        weak var runtime: Runtime<NoKey, Int, Void>?
        do {
            let strong = Token()
            token = strong
            let it = Debouncer(
                for: .seconds(1), options: .init(atEnd: atEnd), clock: clock
            ) { (_: Int) in _ = strong }
            it(1)
            runtime = it.runtime
        }
        await clock.advance(by: .seconds(1))
        // The thread that has just reported the end may not have left the closure.
        try await waitUntil { runtime == nil && token == nil }
    }
}
