import TestSupport
import Dispatch
import Lull
import LullDispatch
import LullTesting
import Testing

@Suite("A handler")
struct HandlerTests {
    let clock = ManualClock()

    @Test
    @MainActor
    func `runs on the main actor when it was written there`() async {
        var status = 0
        let show = Debouncer(for: .seconds(1), clock: clock) { (value: Int) in
            MainActor.assertIsolated()
            status = value
        }
        show(7)
        await clock.advance(by: .seconds(1))
        #expect(status == 7)
    }

    actor Counter {
        var total = 0
        var debouncer: Debouncer<Int, Int>?

        func start(_ clock: ManualClock) {
            debouncer = Debouncer(for: .seconds(1), clock: clock) { (value: Int) in
                self.total += value
                return self.total
            }
        }

        func submit(_ value: Int) {
            debouncer?.submit(value)
        }
    }

    @Test
    func `runs on the actor instance that it was written in`() async {
        let counter = Counter()
        await counter.start(clock)
        await counter.submit(2)
        await clock.advance(by: .seconds(1))
        #expect(await counter.total == 2)
    }

    @Test
    func `runs on the queue that it was given`() async {
        let queue = DispatchQueue(label: "handlers")
        let seen = Record<Int>()
        let show = Debouncer(for: .seconds(1), on: queue, clock: clock) { (value: Int) in
            dispatchPrecondition(condition: .onQueue(queue))
            seen.add(value)
        }
        let report = KeyedThrottler(every: .seconds(1), on: queue, clock: clock) { (key: Int, value: Int) in
            dispatchPrecondition(condition: .onQueue(queue))
            seen.add(key + value)
        }
        report.submit(1, for: 10)
        await clock.advance(by: .zero)
        show(7)
        await clock.advance(by: .seconds(1))
        #expect(seen.all == [11, 7])
    }

    @Test
    func `gets all values in order with collecting, and merged on a queue`() async {
        let seen = Record<[Int]>()
        let task = KeyedDebouncer(collectingFor: .seconds(1), clock: clock) { (_: String, values: [Int]) in
            seen.add(values)
        }
        let queued = Throttler(
            every: .seconds(1), on: DispatchQueue(label: "q"), edges: .trailing, combining: .merge { $0 += $1 },
            clock: clock
        ) { (values: [Int]) in seen.add(values) }
        for value in 1...3 { task.submit(value, for: "a") }
        await clock.advance(by: .seconds(1))
        for value in 4...6 { queued.submit([value]) }
        await clock.advance(by: .seconds(1))
        #expect(seen.all == [[1, 2, 3], [4, 5, 6]])
    }

    @Test
    func `gets the first value, or the values merged, as it was set up`() async {
        let seen = Record<Set<Int>>()
        let first = Debouncer(for: .seconds(1), combining: .first, clock: clock) { (value: Set<Int>) in seen.add(value)
        }
        let merged = Debouncer(
            for: .seconds(1), combining: .merge { $0.formUnion($1) }, clock: clock
        ) { (value: Set<Int>) in seen.add(value) }
        for value in 1...3 { first([value]) }
        await clock.advance(by: .seconds(1))
        for value in 1...3 { merged([value]) }
        await clock.advance(by: .seconds(1))
        #expect(seen.all == [[1], [1, 2, 3]])
    }

    @Test
    func `merges in the order of the submits`() async {
        let seen = Record<String>()
        let text = Debouncer(for: .seconds(1), combining: .merge { $0 += $1 }, clock: clock) { (text: String) in
            seen.add(text)
        }
        for letter in ["a", "b", "c", "d"] { text(letter) }
        await clock.advance(by: .seconds(1))
        #expect(seen.all == ["abcd"])
    }

    @Test
    func `that throws is reported to the failure handler, once an execution, with the key`() async {
        let failures = Record<String>()
        let levels = KeyedDebouncer(
            for: .seconds(1), clock: clock,
            onFailure: { error, key in failures.add("\(key): \(error)") }
        ) { (_: String, value: Int) in
            if value < 0 { throw Refusal() }
        }
        levels.submit(-1, for: "a")
        levels.submit(-2, for: "a")
        levels.submit(1, for: "b")
        await clock.advance(by: .seconds(1))
        #expect(failures.all == ["a: Refusal(reason: \"no\")"])
        #expect(levels.counters.failed == 1)
        #expect(levels.counters.executed == 1)
    }

    @Test
    func `that throws on a queue is reported as well`() async {
        let failures = Record<String>()
        let save = Debouncer(
            for: .seconds(1), on: DispatchQueue(label: "q"), clock: clock, onFailure: { failures.add("\($0)") }
        ) { (_: Int) in throw Refusal() }
        save(1)
        await clock.advance(by: .seconds(1))
        #expect(failures.all.count == 1)
    }

    @Test
    func `never runs on the caller's stack`() async {
        // With the main actor held by the test, a handler that ran inside `submit` would be seen.
        await MainActor.run {
            let seen = Record<Int>()
            let show = Debouncer(for: .zero, edges: .leading, clock: ManualClock()) { @MainActor (value: Int) in
                seen.add(value)
            }
            show(1)
            show.flush()
            #expect(seen.all == [])
        }
    }
}
