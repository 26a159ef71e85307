import Dispatch
import Lull
import LullDispatch
import LullTesting
import TestSupport
import Testing

/// `.share`: section 7 of the semantics.
@Suite("A handler whose running executions are shared")
struct ShareTests {
    private let clock = ManualClock()
    private let seen = Record<String>()
    private let outcomes = Record<String>()

    /// Takes ten seconds for each request.
    private func requests(capacity: Int? = nil, throwing: Bool = false) -> KeyedDebouncer<String, Int, Int> {
        KeyedDebouncer(
            for: .seconds(1), whileRunning: .share, options: .init(capacity: capacity), clock: clock,
            onFailure: { _, _ in }
        ) { [clock, seen] key, value in
            seen.add("\(key) \(value)")
            try await clock.sleep(for: .seconds(10))
            if throwing { throw Refusal() }
            return value
        }
    }

    private func submit(_ value: Int, for key: String = "a", to it: KeyedDebouncer<String, Int, Int>) {
        it.submit(value, for: key) { [outcomes] in outcomes.add("\(value): \($0)") }
    }

    @Test
    func `gives callers that come meanwhile the answer of the request that is under way`() async {
        let it = requests()
        submit(1, to: it)
        await clock.advance(by: .seconds(2))
        submit(2, to: it)
        it.submit(3, for: "a")
        submit(4, to: it)
        submit(5, for: "b", to: it)
        #expect(it.state(of: "a") == it.state(of: "a") && it.state(of: "a").running == 4)
        await clock.advance(by: .seconds(20))
        #expect(seen.all == ["a 1", "b 5"])
        #expect(outcomes.all.sorted() == ["1: executed(1)", "2: executed(1)", "4: executed(1)", "5: executed(5)"])
        #expect(it.counters.executed == 5 && it.counters.addUp && it.state.isDone)
        submit(6, to: it)
        await clock.advance(by: .seconds(20))
        #expect(seen.all.last == "a 6" && outcomes.all.last == "6: executed(6)")
    }

    @Test
    func `takes what comes while something is pending, which waits then`() async {
        let it = requests()
        submit(1, to: it)
        await clock.advance(by: .milliseconds(500))
        submit(2, to: it)
        await clock.advance(by: .seconds(1))
        #expect(seen.all == ["a 2"])
        it.cancel("a", includingRunning: true)
        submit(3, to: it)
        await clock.advance(by: .seconds(20))
        #expect(seen.all == ["a 2", "a 3"], "what was told to stop is not joined")
        #expect(outcomes.all == ["1: superseded", "2: cancelled", "3: executed(3)"])
    }

    @Test
    func `a submit of the handler itself is not shared, and not lost`() async {
        let pages = Record<Int>()
        let holder = Guarded<Debouncer<Int, Void>?>(nil)
        let it = Debouncer(for: .seconds(1), whileRunning: .share, clock: clock) { (page: Int) in
            pages.add(page)
            if page < 3 { holder.value?.submit(page + 1) }
        }
        _ = holder.exchange(it)
        it.submit(1)
        await clock.advance(by: .seconds(10))
        #expect(pages.all == [1, 2, 3])
        _ = holder.exchange(nil)
    }

    @Test
    func `shares a failure, too, which is told once to the failure handler`() async {
        let it = requests(throwing: true)
        submit(1, to: it)
        await clock.advance(by: .seconds(2))
        submit(2, to: it)
        await clock.advance(by: .seconds(20))
        #expect(outcomes.all.count == 2 && outcomes.all.allSatisfy { $0.contains("failed") })
        #expect(it.counters.failed == 2 && it.counters.addUp)
    }

    @Test
    func `lets a key join that runs where no more keys may be open`() async {
        let it = requests(capacity: 1)
        submit(1, to: it)
        await clock.advance(by: .seconds(2))
        submit(2, for: "b", to: it)
        submit(3, to: it)
        submit(4, for: "c", to: it)
        await clock.advance(by: .seconds(20))
        #expect(seen.all == ["a 1", "b 2"])
        #expect(it.counters.executed == 3 && it.counters.rejected == 1 && it.counters.addUp)
    }

    @Test
    func `on a queue, joins a handler that runs`() async {
        let (door, begun) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let it = Debouncer(for: .zero, on: DispatchQueue(label: "it"), whileRunning: .share) { (value: Int) -> Int in
            begun.signal()
            door.wait()
            return value
        }
        it.submit(1)
        await blocking { begun.wait() }
        for value in 2...3 { it.submit(value) { [outcomes] in outcomes.add("\(value): \($0)") } }
        door.signal()
        await it.flushAndWait()
        #expect(Set(outcomes.all) == ["2: executed(1)", "3: executed(1)"])
        #expect(it.counters.executed == 3 && it.counters.addUp)
    }

    @Test
    func `under load from many tasks each caller gets an answer`() async {
        let it = KeyedDebouncer(for: .zero, whileRunning: .share) { (_: Int, value: Int) in
            await Task.yield()
            return value
        }
        await fromEightTasks { task, value in
            switch try? await it.outcome(of: value, for: task % 3) {
            case .executed?, .superseded?: break
            case let outcome: Issue.record("\(String(describing: outcome))")
            }
            it.submit(value, for: task % 3)
        }
        await it.flushAndWait()
        #expect(it.counters.submitted == 8000 && it.counters.addUp && it.state.isDone)
    }
}
