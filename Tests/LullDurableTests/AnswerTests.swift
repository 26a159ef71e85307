import Lull
import LullCore
import LullDurable
import LullTesting
import TestSupport
import Testing

/// What a handler throws to say what is to become of its run.
@Suite("Answers of handlers")
struct AnswerTests {
    private let fixture = WorkerFixture()

    @Test
    func `a snooze spends no attempt, and is no failure`() async throws {
        let sync = try await fixture.debouncer()
        let seen = Record<Int>()
        let worker = fixture.work(sync) { execution in
            seen.add(execution.attempt)
            if seen.all.count <= 5 { throw Snooze(for: .seconds(10)) }
        }
        let receipt = try await sync.submit(1, for: "a")
        await fixture.advance(2)
        #expect(try await sync.state(of: receipt) == .snoozed(times: 1))
        await fixture.advance(50)
        #expect(seen.all == [1, 1, 1, 1, 1, 1] && fixture.done.all == ["a=1"] && fixture.failures.all == [])
        #expect(try await sync.status().snoozed == 5)
        #expect(sync.counters.attempts == 6 && sync.counters.failures == 0)
        worker.cancel()
        try await worker.value
    }

    @Test
    func `a retry after a time is an attempt, the last of which is the end`() async throws {
        let sync = try await fixture.debouncer()
        let worker = fixture.work(sync) { _ in throw RetryAfter(.seconds(60), because: "503") }
        let receipt = try await sync.submit(1, for: "a")
        await fixture.advance(61)
        #expect(try await sync.state(of: receipt) == .waitingForRetry(attempt: 1, error: "503"))
        await fixture.advance(1)
        #expect(try await sync.state(of: receipt) == .waitingForRetry(attempt: 2, error: "503"))
        await fixture.advance(60)
        #expect(try await sync.state(of: receipt) == .dead(error: "503"))
        #expect(fixture.failures.all.count == 3)
        worker.cancel()
        try await worker.value
    }

    @Test
    func `what is given up is dead at once, with its reason, and reported as the last attempt`() async throws {
        let sync = try await fixture.debouncer()
        let worker = fixture.work(sync) { _ in throw GiveUp("no such document") }
        let receipt = try await sync.submit(1, for: "a")
        await fixture.advance(2)
        #expect(try await sync.state(of: receipt) == .dead(error: "no such document"))
        #expect(fixture.failures.all.map { $0.hasSuffix("has failed, and was the last: no such document") } == [true])
        #expect(try await sync.status().givenUp == 1 && sync.counters.failures == 1)
        worker.cancel()
        try await worker.value
    }

    @Test
    func `a handler pauses the namespace for a time, after which everything goes on by itself`() async throws {
        let sync = try await fixture.debouncer()
        let isAway = Guarded(true)
        let worker = fixture.work(sync, maxConcurrent: 1) { _ in
            if isAway.exchange(false) { throw PauseFor(.seconds(60), because: "429 Too Many Requests") }
        }
        for key in ["a", "b"] { try await sync.submit(1, for: key) }
        await fixture.advance(2)
        #expect(try await sync.status().pause?.reason == "429 Too Many Requests")
        #expect(try await sync.status().pauseEndsIn == .seconds(60))
        await fixture.advance(59)
        #expect(fixture.done.all == [])
        await fixture.advance(1)
        #expect(fixture.done.all.sorted() == ["a=1", "b=1"])
        #expect(try await sync.status().pause == nil && fixture.failures.all == [])
        worker.cancel()
        try await worker.value
    }

    @Test
    func `a run whose pause could not be recorded is not given back before it is`() async throws {
        let sync = try await fixture.debouncer()
        let isAway = Guarded(true)
        let worker = fixture.work(sync) { _ in
            if isAway.exchange(false) { throw PauseFor(.seconds(60)) }
        }
        fixture.store.fails { if case .pause = $0 { .before(.refused("busy")) } else { nil } }
        let receipt = try await sync.submit(1, for: "a")
        await fixture.advance(3)
        #expect(try await sync.state(of: receipt) == .running(attempt: 1))
        #expect(try await sync.status().pause == nil)
        fixture.store.works()
        await fixture.advance(3)
        #expect(try await sync.status().pause != nil)
        #expect(try await sync.state(of: receipt) == .snoozed(times: 1))
        await fixture.advance(60)
        #expect(fixture.done.all == ["a=1"])
        worker.cancel()
        try await worker.value
    }

    @Test
    func `times below zero count as none, and endless ones as the far future`() async throws {
        let sync = try await fixture.debouncer()
        let isFirst = Guarded(true)
        let worker = fixture.work(sync) { execution in
            if execution.key == "never" { throw Snooze(for: .seconds(Int64.max)) }
            if isFirst.exchange(false) { throw Snooze(for: .seconds(-5)) }
        }
        try await sync.submit(1, for: "a")
        let receipt = try await sync.submit(1, for: "never")
        await fixture.advance(2)
        #expect(fixture.done.all == ["a=1"])
        await fixture.advance(10_000)
        #expect(try await sync.state(of: receipt) == .snoozed(times: 1))
        worker.cancel()
        try await worker.value
    }

    @Test
    func `delays between attempts follow the factor, and never overflow`() {
        let policy = RetryPolicy(initialDelay: .seconds(1), factor: 3, maxDelay: .seconds(100), jitter: 0)
        #expect((1...6).map { policy.delay(after: $0) } == [1, 3, 9, 27, 81, 100].map { .seconds($0) })
        let steady = RetryPolicy(initialDelay: .seconds(7), factor: 1, maxDelay: .seconds(100))
        #expect(steady.delay(after: .max) == .seconds(7))
        let endless = RetryPolicy(initialDelay: .seconds(1), factor: 1e300, maxDelay: .seconds(Int64.max), jitter: 1)
        var random = Jitter(seed: 1)
        for attempt in [2, 3, 64, Int.max] {
            #expect(endless.delay(after: attempt) == .infinite)
            #expect(endless.delay(after: attempt, &random) >= .zero)
        }
        #expect(RetryPolicy(initialDelay: .zero, maxDelay: .zero).delay(after: 9) == .zero)
    }

    @Test
    func `jitter shortens a delay by up to its fraction`() {
        var random = Jitter(seed: 7)
        for (jitter, least) in [(0.0, 100), (0.2, 80), (0.5, 50), (1, 0)] {
            let policy = RetryPolicy(initialDelay: .seconds(100), maxDelay: .seconds(100), jitter: jitter)
            let delays = (0..<1000).map { _ in policy.delay(after: 1, &random) }
            #expect(delays.allSatisfy { $0 >= .seconds(Int64(least)) && $0 <= .seconds(100) })
            #expect(Set(delays).count > 900 || jitter == 0)
        }
    }
}
