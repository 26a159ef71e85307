import TestSupport
import Lull
import LullTesting
import Testing

/// Semantics, section 7: what becomes of a value that falls due while its key is busy.
@Suite("While an execution is running")
struct WhileRunningTests {
    let clock = ManualClock()
    let seen = Record<String>()
    let outcomes = Record<Ended<Int>>()
    let door = Door()

    /// A debouncer whose handler notes its beginning and end, and passes the door in between if the value is odd.
    func make(
        _ rule: OverlapPolicy, maxConcurrent: Int? = nil
    ) -> KeyedDebouncer<String, Int, Int> {
        KeyedDebouncer(
            for: .seconds(1), whileRunning: rule, options: .init(maxConcurrent: maxConcurrent), clock: clock,
            onFailure: { _, _ in }
        ) { [seen, door] (key: String, value: Int) in
            seen.add("+\(key)\(value)")
            if value % 2 == 1 { await door.pass() }
            seen.add("-\(key)\(value)")
            return value
        }
    }

    @Test
    func `a due value waits under queue, a later one takes its place, and it starts when the running one has ended`()
        async
    {
        let it = make(.queue)
        for value in [1, 2, 4] {
            it.submit(value, for: "a", into: outcomes)
            await clock.advance(by: .seconds(1), until: .started)
        }
        #expect(seen.all == ["+a1"])
        #expect(it.counters.pending == 1)
        #expect(it.counters.running == 1)
        door.open()
        await clock.advance(by: .zero)
        #expect(seen.all == ["+a1", "-a1", "+a4", "-a4"])
        #expect(Set(outcomes.all.map { "\($0)" }) == ["superseded", "executed(1)", "executed(4)"])
    }

    @Test
    func `a due value is dropped under skip, but a flush waits`() async {
        let it = make(.skip)
        it.submit(1, for: "a", into: outcomes)
        await clock.advance(by: .seconds(1), until: .started)
        it.submit(2, for: "a", into: outcomes)
        await clock.advance(by: .seconds(1), until: .started)
        it.submit(4, for: "a", into: outcomes)
        it.flush("a")
        await clock.advance(by: .zero, until: .started)
        #expect(outcomes.all == [.absorbed])
        door.open()
        await clock.advance(by: .zero)
        #expect(seen.all == ["+a1", "-a1", "+a4", "-a4"])
    }

    @Test
    func `both run under concurrent`() async {
        let it = make(.concurrent)
        for value in [1, 3] {
            it.submit(value, for: "a")
            await clock.advance(by: .seconds(1), until: .started)
        }
        #expect(seen.all == ["+a1", "+a3"])
        #expect(it.counters.running == 2)
        door.open()
        await clock.advance(by: .zero)
        #expect(it.counters.executed == 2)
    }

    @Test
    @MainActor
    func `the latest wins under cancelRunning: no stale answer comes after a newer one`() async {
        var shown: [Int] = []
        let failures = Record<String>()
        let outcomes = outcomes
        let clock = clock
        let search = Debouncer(
            for: .milliseconds(300), whileRunning: .cancelRunning, clock: clock,
            onFailure: { failures.add("\($0)") }
        ) { (query: Int) in
            try await clock.sleep(for: .seconds(10 - query))
            shown.append(query)
            return query
        }
        for query in 1...3 {
            search.submit(query, into: outcomes)
            await clock.advance(by: .seconds(1), until: .started)
        }
        await clock.advance(by: .seconds(20))
        #expect(shown == [3])
        #expect(Set(outcomes.all.map { "\($0)" }) == ["superseded", "executed(3)"])
        #expect(failures.all == [])
        #expect(search.counters.superseded == 2)
    }

    @Test
    func `a handler that ignores cancellation holds its key, and is executed`() async {
        let it = make(.cancelRunning)
        it.submit(1, for: "a", into: outcomes)
        await clock.advance(by: .seconds(1), until: .started)
        it.submit(2, for: "a", into: outcomes)
        it.submit(2, for: "b")
        await clock.advance(by: .seconds(1), until: .started)
        #expect(seen.all == ["+a1", "+b2", "-b2"])
        door.open()
        await clock.advance(by: .zero)
        #expect(seen.all == ["+a1", "+b2", "-b2", "-a1", "+a2", "-a2"])
        // Each outcome is delivered in a task of its own; these run in any order.
        #expect(Set(outcomes.all.map { "\($0)" }) == ["executed(1)", "executed(2)"])
        #expect(outcomes.all.count == 2)
    }

    @Test
    func `cancel(includingRunning: true) tells it to stop, and it ends as cancelled, without a failure`() async {
        let failures = Record<String>()
        let wait = Debouncer(for: .seconds(1), clock: clock, onFailure: { failures.add("\($0)") }) {
            [clock] (value: Int) in
            try await clock.sleep(for: .seconds(100))
            return value
        }
        wait.submit(1, into: outcomes)
        await clock.advance(by: .seconds(1))
        wait.cancel()
        #expect(wait.counters.running == 1)
        wait.cancel(includingRunning: true)
        await clock.advance(by: .zero)
        #expect(outcomes.all == [.cancelled])
        #expect(failures.all == [])
        #expect(wait.counters.cancelled == 1)
    }

    @Test
    func `at most maxConcurrent keys run at once, and slots are given in order of due instants`() async {
        let it = make(.queue, maxConcurrent: 2)
        for (value, key) in [(1, "a"), (3, "b"), (2, "c"), (4, "d")] {
            it.submit(value, for: key)
            await clock.advance(by: .milliseconds(1))
        }
        await clock.advance(by: .seconds(1), until: .started)
        #expect(seen.all == ["+a1", "+b3"])
        #expect(it.counters.pending == 2)
        // A later value of a key that waits for a slot takes its place, and its turn is that of its own instant.
        it.submit(6, for: "c")
        await clock.advance(by: .seconds(1), until: .started)
        door.open()
        await clock.advance(by: .zero)
        #expect(Set(seen.all.prefix(4)) == ["+a1", "+b3", "-a1", "-b3"] || seen.all.count == 8)
        #expect(!seen.all.contains("+c2"))
        #expect(it.counters.executed == 4)
        #expect(it.counters.superseded == 1)
    }

    @Test
    func `a handler that never returns keeps only its own key`() async {
        let it = make(.queue)
        it.submit(1, for: "stuck")
        await clock.advance(by: .seconds(1), until: .started)
        it.submit(2, for: "other")
        it.submit(2, for: "stuck")
        await clock.advance(by: .seconds(1), until: .started)
        #expect(seen.all == ["+stuck1", "+other2", "-other2"])
        door.open()
        await clock.advance(by: .zero)
    }

    @Test(arguments: [OverlapPolicy.queue, .cancelRunning, .skip])
    func `executions of one key never overlap and never start out of order`(rule: OverlapPolicy) async {
        let starts = Record<Int>()
        let running = Record<Int>()
        let it = Debouncer(for: .milliseconds(3), whileRunning: rule, clock: clock, onFailure: { _ in }) {
            [clock] (value: Int) in
            starts.add(value)
            running.add(1)
            defer { running.add(-1) }
            try await clock.sleep(for: .milliseconds(value % 11))
        }
        for value in 0..<200 {
            it(value)
            await clock.advance(by: .milliseconds(value % 7))
        }
        await clock.advance(by: .seconds(1))
        #expect(starts.all == starts.all.sorted())
        var depth = 0
        for change in running.all {
            depth += change
            #expect(depth <= 1)
        }
        #expect(it.counters.addUp)
        #expect(it.counters.pending + it.counters.running == 0)
    }
}
