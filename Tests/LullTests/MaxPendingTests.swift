@testable import Lull
import LullTesting
import TestSupport
import Testing

/// `maxPending` and `overflow`: section 7 of the semantics.
@Suite("A bound of what is pending")
struct MaxPendingTests {
    private let clock = ManualClock()
    private let seen = Record<String>()
    private let outcomes = Record<String>()

    /// Collects three events at most; the first upload waits at the door.
    private func uploads(
        _ overflow: OverflowPolicy, door: Door? = nil, whileRunning: OverlapPolicy = .queue
    ) -> Debouncer<Int, Void> {
        Debouncer(
            collectingFor: .seconds(1), whileRunning: whileRunning,
            options: .init(maxPending: 3, overflow: overflow), clock: clock
        ) { [seen] (events: [Int]) in
            seen.add("\(events)")
            if seen.all.count == 1 { await door?.pass() }
            try Task.checkCancellation()
        }
    }

    private func submit(_ values: ClosedRange<Int>, to it: Debouncer<Int, Void>) {
        for value in values { it.submit(value) { [outcomes] in outcomes.add("\(value): \($0)") } }
    }

    @Test(arguments: [
        (OverflowPolicy.reject, ["[1]", "[2, 3, 4]"], "rejected(LullCore.Rejection.tooManyPending)"),
        (.dropNewest, ["[1]", "[2, 3, 4]"], "absorbed"), (.dropOldest, ["[1]", "[4, 5, 6]"], "superseded"),
    ])
    func `refuses what is beyond it, drops it, or lets the oldest make room`(
        overflow: OverflowPolicy, expected: [String], fate: String
    ) async {
        let door = Door()
        let it = uploads(overflow, door: door)
        submit(1...1, to: it)
        await clock.advance(by: .seconds(1), until: .started)
        submit(2...6, to: it)
        #expect(it.state.pending == 3 && it.counters.addUp)
        door.open()
        await clock.advance(by: .seconds(2))
        #expect(seen.all == expected)
        let dropped = overflow == .dropOldest ? [2, 3] : [5, 6]
        let executed = overflow == .dropOldest ? [1, 4, 5, 6] : [1, 2, 3, 4]
        let expectedOutcomes = dropped.map { "\($0): \(fate)" } + executed.map { "\($0): executed()" }
        #expect(outcomes.all.sorted() == expectedOutcomes.sorted())
        #expect(it.counters.addUp && it.state.isDone)
    }

    @Test
    func `lets the oldest of what waits behind a handler make room, and what was interrupted and went back`() async {
        let door = Door()
        let it = uploads(.dropOldest, door: door, whileRunning: .restart)
        submit(1...2, to: it)
        await clock.advance(by: .seconds(1), until: .started)
        submit(3...4, to: it)
        await clock.advance(by: .seconds(1), until: .started)
        door.open()
        await clock.advance(by: .zero)
        #expect(seen.all == ["[1, 2]", "[1, 2, 3, 4]"], "what goes back was accepted, and stays")
        submit(5...9, to: it)
        await clock.advance(by: .seconds(1))
        #expect(seen.all.last == "[7, 8, 9]" && it.counters.addUp && it.state.isDone)
    }

    @Test
    func `counts over all keys, and drops of the key whose submit is oldest`() async {
        let it = KeyedDebouncer(
            for: .seconds(1), options: .init(maxPending: 2, overflow: .dropOldest), clock: clock
        ) { [seen] (key: String, value: Int) in seen.add("\(key)\(value)") }
        it.submit(1, for: "a")
        it.submit(2, for: "b")
        it.submit(3, for: "a")
        it.submit(4, for: "c")
        #expect(it.state(of: "b") == it.state(of: "none"), "b was older than the newer value of a")
        await clock.advance(by: .seconds(1))
        #expect(seen.all.sorted() == ["a3", "c4"] && it.counters.superseded == 2 && it.counters.addUp)
    }

    @Test
    func `is a rule for settings`() {
        #expect(throws: PolicyError.maxPendingBelowOne(0)) {
            try Setup(.debounce(for: .seconds(1)), maxPending: 0)
        }
    }
}
