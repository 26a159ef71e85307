import Dispatch
import Lull
import LullDispatch
import LullTesting
import TestSupport
import Testing

/// Semantics, sections 6 and 7: what an execution tells is told before the next one of its key starts.
@Suite("The outcome of an execution")
struct TellingTests {
    let clock = ManualClock()
    let seen = Record<String>()

    /// Where the handler runs.
    enum Place: CaseIterable { case task, queue }

    /// A debouncer whose handler throws, and whose failure handler takes a second.
    private func failing(
        _ place: Place = .task, _ whileRunning: OverlapPolicy = .queue, maxConcurrent: Int? = nil
    ) -> KeyedDebouncer<String, Int, Void> {
        let onFailure: @Sendable (any Error, String) async -> Void = { [clock, seen] _, key in
            seen.add("\(key) failed")
            try? await clock.sleep(for: .seconds(1))
            seen.add("\(key) was told")
        }
        let options = DebounceOptions(maxConcurrent: maxConcurrent)
        return switch place {
        case .task:
            KeyedDebouncer(
                for: .seconds(1), whileRunning: whileRunning, options: options, clock: clock, onFailure: onFailure
            ) { [seen] (key: String, value: Int) in
                seen.add("\(key) \(value)")
                throw Refusal()
            }
        case .queue:
            KeyedDebouncer(
                for: .seconds(1), on: DispatchQueue(label: "q"), whileRunning: whileRunning, options: options,
                clock: clock, onFailure: onFailure
            ) { [seen] (key: String, value: Int) in
                seen.add("\(key) \(value)")
                throw Refusal()
            }
        }
    }

    @Test(arguments: Place.allCases)
    func `holds up the next execution of the key until the failure handler has ended`(_ place: Place) async {
        let it = failing(place)
        it.submit(1, for: "a")
        await clock.advance(by: .seconds(1))
        it.submit(2, for: "a")
        it.flush("a")
        await clock.advance(by: .zero)
        #expect(seen.all == ["a 1", "a failed"])
        #expect(it.counters.failed == 1)
        #expect(it.state(of: "a").running == 0 && it.state(of: "a").waiting == 1)
        await clock.advance(by: .seconds(1))
        #expect(seen.all == ["a 1", "a failed", "a was told", "a 2", "a failed"])
        await clock.advance(by: .seconds(1))
        #expect(it.state(of: "a").isDone)
        #expect(it.counters.addUp)
    }

    @Test
    func `holds up the next execution of the key until the completions have ended`() async {
        let it = Debouncer(collectingFor: .seconds(1), clock: clock) { [seen] (values: [Int]) in
            seen.add("\(values)")
        }
        for value in 1...2 {
            it.submit(value) { [clock, seen] _ in
                try? await clock.sleep(for: .seconds(value))
                seen.add("\(value) was told")
            }
        }
        await clock.advance(by: .seconds(1))
        it(3)
        it.flush()
        await clock.advance(by: .seconds(2))
        #expect(seen.all == ["[1, 2]", "1 was told", "2 was told", "[3]"])
    }

    @Test
    func `holds up no other key, and takes no slot`() async {
        let it = failing(maxConcurrent: 1)
        it.submit(1, for: "a")
        await clock.advance(by: .seconds(1))
        it.submit(2, for: "b")
        it.flush("b")
        await clock.advance(by: .zero)
        #expect(seen.all == ["a 1", "a failed", "b 2", "b failed"])
    }

    @Test
    func `holds up nothing under .concurrent`() async {
        let it = failing(.task, .concurrent)
        it.submit(1, for: "a")
        await clock.advance(by: .seconds(1))
        it.submit(2, for: "a")
        it.flush("a")
        await clock.advance(by: .zero)
        #expect(seen.all == ["a 1", "a failed", "a 2", "a failed"])
    }

    @Test(arguments: Place.allCases, [false, true])
    func `is told before a flush or a shut-down that waits returns`(_ place: Place, _ all: Bool) async {
        let it = failing(place)
        it.submit(1, for: "a")
        let flush = clock.task { [seen] in
            if all { await it.shutDownAndWait() } else { await it.flushAndWait("a") }
            seen.add("flushed")
        }
        await clock.advance(by: .seconds(1))
        _ = await flush.result
        #expect(seen.all == ["a 1", "a failed", "a was told", "flushed"])
    }

    @Test(arguments: [OverlapPolicy.queue, .cancelRunning])
    func `is told in a task that no cancel cancels`(_ rule: OverlapPolicy) async {
        let it = failing(.task, rule)
        it.submit(1, for: "a")
        await clock.advance(by: .seconds(1))
        it.submit(2, for: "a")
        it.flush("a")
        it.cancel("a", includingRunning: true)
        await clock.advance(by: .milliseconds(500))
        #expect(seen.all == ["a 1", "a failed"])
        await clock.advance(by: .milliseconds(500))
        #expect(seen.all == ["a 1", "a failed", "a was told"])
        #expect(it.counters.cancelled == 1)
    }

    @Test(arguments: Place.allCases)
    func `is told in order on the system's clock: no failure comes after a newer success`(_ place: Place) async {
        let tell: @Sendable (any Error) async -> Void = { [seen] _ in
            await Task.yield()
            seen.add("not saved")
        }
        let handler: @Sendable (Int) throws -> Void = { [seen] value in
            if value.isMultiple(of: 2) { throw Refusal() }
            seen.add("saved")
        }
        let save =
            switch place {
            case .task:
                Debouncer(for: .zero, edges: .leading, onFailure: tell) { @Sendable value in try handler(value) }
            case .queue:
                Debouncer(
                    for: .zero, on: DispatchQueue(label: "q"), edges: .leading, onFailure: tell, handler: handler)
            }
        for pair in 0..<50 {
            save(2 * pair)
            // This falls due while the one before is handled or told.
            save(2 * pair + 1)
            await save.flushAndWait()
        }
        #expect(seen.all == (0..<50).flatMap { _ in ["not saved", "saved"] })
    }
}
