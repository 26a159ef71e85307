import Lull
import LullTesting
import TestSupport
import Testing

/// Semantics, section 6: every submit has exactly one outcome.
@Suite("The outcome of a submit")
struct OutcomeTests {
    let clock = ManualClock()
    let outcomes = Record<Ended<Int>>()

    @Test
    func `is executed, with the handler's result, for the value that was handled, and superseded for those before`()
        async
    {
        let double = Debouncer(for: .seconds(1), clock: clock) { (value: Int) in value * 2 }
        for value in 1...3 { double.submit(value, into: outcomes) }
        await clock.advance(by: .zero)
        #expect(outcomes.all == [.superseded, .superseded])
        await clock.advance(by: .seconds(1))
        #expect(outcomes.all == [.superseded, .superseded, .executed(6)])
        #expect(double.counters.addUp)
    }

    @Test
    func `is superseded when a submit of which nobody awaits the outcome takes the value's place`() async {
        let double = Debouncer(for: .seconds(1), clock: clock) { (value: Int) in value * 2 }
        double.submit(1, into: outcomes)
        for value in 2...3 { double(value) }
        await clock.advance(by: .zero)
        #expect(outcomes.all == [.superseded])
        #expect(double.counters.superseded == 2 && double.counters.pending == 1)
    }

    @Test
    func `is failed, with the handler's error`() async {
        let fail = Debouncer(for: .seconds(1), clock: clock, onFailure: { _ in }) { (_: Int) -> Int in throw Refusal() }
        fail.submit(1, into: outcomes)
        await clock.advance(by: .seconds(1))
        #expect(outcomes.all == [.failed(Refusal())])
    }

    @Test
    func `is the same for all values of a batch`() async {
        let sum = Debouncer(collectingFor: .seconds(1), clock: clock) { (values: [Int]) in values.reduce(0, +) }
        for value in 1...3 { sum.submit(value, into: outcomes) }
        await clock.advance(by: .seconds(1))
        #expect(outcomes.all == [.executed(6), .executed(6), .executed(6)])
        #expect(sum.counters.executed == 3)
    }

    @Test
    func `is the same for all values that were merged`() async {
        let sum = Debouncer(for: .seconds(1), combining: .merge(+=), clock: clock) { (value: Int) in value }
        for value in 1...3 { sum.submit(value, into: outcomes) }
        await clock.advance(by: .seconds(1))
        #expect(outcomes.all == [.executed(6), .executed(6), .executed(6)])
    }

    @Test
    func `is absorbed for what comes into a leading-only window, or later under first`() async {
        let leading = Debouncer(for: .seconds(1), edges: .leading, clock: clock) { (value: Int) in value }
        leading.submit(1, into: outcomes)
        await clock.advance(by: .zero)
        leading.submit(2, into: outcomes)
        await clock.advance(by: .seconds(1))
        let first = Debouncer(for: .seconds(1), combining: .first, clock: clock) { (value: Int) in value }
        first.submit(3, into: outcomes)
        first.submit(4, into: outcomes)
        await clock.advance(by: .zero)
        await clock.advance(by: .seconds(1))
        #expect(outcomes.all == [.executed(1), .absorbed, .absorbed, .executed(3)])
    }

    @Test
    func `is cancelled when it is cancelled`() async {
        let wait = KeyedDebouncer(for: .seconds(1), clock: clock) { (_: String, value: Int) in value }
        wait.submit(1, for: "a", into: outcomes)
        wait.submit(2, for: "b", into: outcomes)
        wait.cancel("a")
        await clock.advance(by: .seconds(1))
        #expect(outcomes.all == [.cancelled, .executed(2)])
    }

    @Test
    func `is rejected after shut-down, and over capacity`() async {
        let wait = KeyedDebouncer(
            for: .seconds(1), options: .init(capacity: 1), clock: clock
        ) { (_: String, value: Int) in value }
        wait.submit(1, for: "a", into: outcomes)
        wait.submit(2, for: "b", into: outcomes)
        await clock.advance(by: .zero)
        #expect(outcomes.all == [.rejected(.overCapacity)])
        wait.submit(3, for: "a", into: outcomes)
        wait.shutDown()
        await clock.advance(by: .zero)
        wait.submit(4, for: "a", into: outcomes)
        await clock.advance(by: .zero)
        #expect(wait.counters.rejected == 2)
        #expect(Set(outcomes.all.map { "\($0)" }).count == 4)
        #expect(outcomes.all.last == .rejected(.shutDown))
        #expect(wait.counters.addUp)
    }

    @Test
    func `is told when a value is not kept with others, since it comes too late or the debouncer is full or shut down`()
        async
    {
        let sum = KeyedThrottler(
            collectingEvery: .seconds(1), edges: .leading, options: .init(capacity: 1), clock: clock
        ) { (_: String, values: [Int]) in values.reduce(0, +) }
        sum.submit(1, for: "a", into: outcomes)
        sum.submit(2, for: "a", into: outcomes)
        sum.submit(3, for: "b", into: outcomes)
        sum.shutDown()
        sum.submit(4, for: "a", into: outcomes)
        await clock.advance(by: .zero)
        #expect(Set(outcomes.all.map { "\($0)" }).count == 4)
        for outcome in [Ended<Int>.executed(1), .absorbed, .rejected(.overCapacity), .rejected(.shutDown)] {
            #expect(outcomes.all.contains(outcome))
        }
        #expect(sum.counters.addUp)
    }

    @Test
    @MainActor
    func `can be awaited, and the value is submitted before the call suspends`() async throws {
        let double = Debouncer(for: .milliseconds(20)) { (value: Int) in value * 2 }
        async let first = Ended(double.outcome(of: 1))
        async let second = Ended(double.outcome(of: 2, after: .milliseconds(1)))
        let all = try await [first, second]
        #expect(all.contains(.superseded))
        #expect(all.contains(.executed(2)) || all.contains(.executed(4)))
    }

    @Test
    @MainActor
    func `keeps the order of the submits of one actor, awaited or not`() async throws {
        for _ in 0..<100 {
            let echo = Debouncer(for: .seconds(100), options: .init(atEnd: .drop)) { (value: Int) in value }
            let awaited = Task { try await echo.outcome(of: 1) }
            let later = Task { echo(2) }
            await later.value
            #expect(try await Ended(awaited.value) == .superseded)
        }
    }

    @Test
    func `is awaited no longer when the awaiting task is cancelled; the submit keeps its course`() async {
        let seen = Record<Int>()
        let keep = Debouncer(for: .seconds(1), clock: clock) { (value: Int) in seen.add(value) }
        let task = clock.task { try await keep.outcome(of: 1) }
        await clock.advance(by: .zero, until: .started)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(keep.counters.pending == 1)
        await clock.advance(by: .seconds(1))
        #expect(seen.all == [1])
    }

    @Test(.ownThreads)
    func `comes for each of a million submits before the first await`() async {
        let echo = KeyedDebouncer(collectingFor: .seconds(1), clock: clock) { (_: Int, values: [Int]) in values.count }
        let count = 1_000_000
        for value in 0..<count { echo.submit(value, for: value % 7) }
        let outcome = Record<Ended<Int>>()
        echo.submit(count, for: 0, into: outcome)
        await clock.advance(by: .seconds(1))
        #expect(echo.counters.executed == count + 1)
        #expect(outcome.all == [.executed(count / 7 + 2)])
    }
}
