import Lull
import LullTesting
import TestSupport
import Testing

/// What users of other libraries have reported, and does not happen here: docs/faults.md has the reports.
@Suite("Faults of others")
struct KnownFaultTests {
    private let clock = ManualClock()
    private let seen = Record<String>()

    /// lodash#3051: a throttle ran at its trailing edge, and again at the next call a moment later.
    @Test
    func `a throttle never runs twice within its interval, also after a trailing run`() async {
        let start = clock.now
        let throttle = Throttler(every: .seconds(1), clock: clock) { [seen, clock] (value: String) in
            seen.add("\(value) at \(start.duration(to: clock.now))")
        }
        throttle("a")
        await clock.advance(by: .milliseconds(500))
        throttle("b")
        await clock.advance(by: .milliseconds(550))
        throttle("c")
        await clock.advance(by: .seconds(2))
        #expect(seen.all == ["a at 0.0 seconds", "b at 1.0 seconds", "c at 2.0 seconds"])
    }

    /// swift-async-algorithms#299: an element that came right at the deadline of another let older ones through, as
    /// late as the end.
    @Test
    func
        `a debounced sequence delivers the newest element of each burst, also if one comes at the deadline of another`()
        async
    {
        let (letters, input) = AsyncStream.makeStream(of: String.self)
        let start = clock.now
        let consumer = clock.task { [seen, clock] in
            for await letter in letters.debounced(for: .seconds(3), clock: clock) {
                seen.add("\(letter) at \(start.duration(to: clock.now).components.seconds)")
            }
        }
        await clock.advance(by: .zero, until: .started)
        for letter in "ab--cd-e-f---gh" {
            if letter != "-" { input.yield(String(letter)) }
            await clock.advance(by: .seconds(1), until: .started)
        }
        input.finish()
        await clock.advance(by: .zero, until: .started)
        _ = await consumer.result
        // b and its deadline belong to the burst before c.
        #expect(seen.all == ["b at 4", "f at 12", "h at 15"])
    }

    /// kubernetes#126027: a delay that was replaced by none stayed, and ran as well.
    @Test
    func `a call with a long delay while the handler runs is a run of its own, after that delay`() async {
        let start = clock.now
        let sync = Debouncer(for: .seconds(1), clock: clock) { [seen, clock] (item: String) in
            seen.add("\(item) at \(start.duration(to: clock.now).components.seconds)")
            try await clock.sleep(for: .seconds(60))
        }
        sync.submit("now", after: .zero)
        await clock.advance(by: .seconds(1))
        sync.submit("later", after: .seconds(18_000))
        await clock.advance(by: .seconds(18_000))
        #expect(seen.all == ["now at 0", "later at 18001"])
        await clock.advance(by: .seconds(18_000))
        #expect(seen.all.count == 2)
    }

    /// restate#5017: a delay of more than two years ended the process, since the timer takes no longer one.
    @Test
    func `a delay of 289 years waits as long as it is, and a later call replaces it, also by the system's clock`()
        async throws
    {
        let years = Duration.seconds(2_540_000 * 3600)
        let save = Debouncer(for: .seconds(1), clock: clock) { [seen] (draft: String) in seen.add(draft) }
        save.submit("far", after: years)
        await clock.advance(by: years - .seconds(1))
        #expect(seen.all == [])
        #expect(save.state.timeUntilDue == .seconds(1))
        await clock.advance(by: .seconds(1))
        #expect(seen.all == ["far"])

        let live = Debouncer(for: .seconds(1)) { [seen] (draft: String) in seen.add(draft) }
        live.submit("far", after: years)
        #expect(live.state.timeUntilDue.map { $0 > years - .seconds(3600) && $0 <= years } == true)
        guard case .executed = try await live.outcome(of: "near", after: .zero) else {
            Issue.record("the later call was not executed")
            return
        }
        #expect(seen.all == ["far", "near"])
        #expect(live.state.timeUntilDue == nil)
    }

    /// swift-clocks#27: the clock was advanced before the code under test slept on it.
    @Test
    func `an advance returns when the handlers that it started have ended, also on a busy machine`() async {
        let busy = (0..<8).map { _ in
            Task(priority: .high) { while !Task.isCancelled { await Task.yield() } }
        }
        let save = Debouncer(for: .seconds(2), clock: clock) { [seen, clock] (draft: String) in
            for _ in 0..<5 { await Task.yield() }
            try await clock.sleep(for: .seconds(1))
            seen.add(draft)
        }
        for round in 1...200 {
            save("draft \(round)")
            await clock.advance(by: .seconds(3))
            #expect(seen.all.count == round)
        }
        #expect(seen.all.last == "draft 200")
        for task in busy { task.cancel() }
    }
}
