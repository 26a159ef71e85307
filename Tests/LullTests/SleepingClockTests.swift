import Lull
import TestSupport
import Testing

// These tests are about sleeps in real time. They assert how many there are, and what never happens too early.

@Suite("On a clock of the user's a debouncer", .timeLimit(.minutes(1)))
struct SleepingClockTests {
    /// The suspending clock, with a record of its sleeps.
    struct CountingClock: Clock {
        let sleeps = Record<Duration>()
        let cancelled = Record<Duration>()

        var now: SuspendingClock.Instant { .now }
        var minimumResolution: Duration { .nanoseconds(1) }

        func sleep(until deadline: SuspendingClock.Instant, tolerance: Duration?) async throws {
            let wait = now.duration(to: deadline)
            sleeps.add(wait)
            do { try await SuspendingClock().sleep(until: deadline, tolerance: tolerance) } catch {
                cancelled.add(wait)
                throw error
            }
        }

        /// Waits until a sleep has begun.
        func begins() async throws {
            try await waitUntil { !sleeps.all.isEmpty }
        }
    }

    @Test
    func `goes by its readings and its sleeps`() async throws {
        /// Runs at ten times the speed of the suspending clock, and counts the sleeps on it.
        struct FastClock: Clock {
            typealias Instant = OffsetInstant
            let start = SuspendingClock.now
            let sleeps = Record<Duration>()
            var now: Instant { Instant(offset: start.duration(to: .now) * 10) }
            var minimumResolution: Duration { .nanoseconds(10) }
            func sleep(until deadline: Instant, tolerance: Duration?) async throws {
                let left = now.duration(to: deadline)
                sleeps.add(left)
                try await SuspendingClock().sleep(for: left / 10)
            }
        }
        let clock = FastClock()
        let it = Debouncer(for: .milliseconds(300), clock: clock) { (value: Int) in value }
        it(1)
        #expect(try await Ended(it.outcome(of: 2)) == .executed(2))
        #expect(!clock.sleeps.all.isEmpty)
        let suspending = Debouncer(for: .milliseconds(5), clock: SuspendingClock()) { (value: Int) in value }
        #expect(try await Ended(suspending.outcome(of: 3)) == .executed(3))
    }

    @Test
    func `sleeps once under a long wait, however often it is flushed, cancelled and given values`() async throws {
        let clock = CountingClock()
        let it = Debouncer(for: .seconds(3600), clock: clock) { (_: Int) in }
        for value in 0..<100 {
            it(value)
            try await clock.begins()
            if value % 2 == 0 { await it.flushAndWait() } else { it.cancel() }
        }
        #expect(clock.sleeps.all.count == 1)
    }

    @Test
    func `goes on with a long sleep while shorter ones come and go`() async throws {
        let clock = CountingClock()
        let it = KeyedDebouncer(for: .seconds(3600), clock: clock) { (_: Int, value: Int) in value }
        it.submit(0, for: 0)
        for value in 1...10 {
            #expect(try await Ended(it.outcome(of: value, for: 1, after: .milliseconds(2))) == .executed(value))
        }
        #expect(clock.sleeps.all.count { $0 > .seconds(60) } == 1)
        #expect(clock.cancelled.all.isEmpty)
        it.cancel()
    }

    @Test
    func `is not woken too early by a sleep for an instant that is no longer wanted`() async throws {
        let clock = CountingClock()
        let it = Debouncer(for: .milliseconds(40), clock: clock) { (_: Int) in clock.now }
        it.submit(1, after: .milliseconds(20))
        try await clock.begins()
        it.cancel()
        let start = clock.now
        guard case .executed(let end) = try await it.outcome(of: 2) else {
            Issue.record("not executed")
            return
        }
        #expect(start.duration(to: end) >= .milliseconds(40))
    }

    @Test
    func `ends its sleeps when it is released`() async throws {
        let clock = CountingClock()
        do {
            let it = KeyedDebouncer(for: .seconds(3600), options: .init(atEnd: .drop), clock: clock) {
                (_: Int, _: Int) in
            }
            it.submit(1, for: 1)
            try await clock.begins()
            it.submit(1, for: 2, after: .seconds(1800))
            try await waitUntil { clock.sleeps.all.count >= 2 }
        }
        try await waitUntil { clock.cancelled.all.count >= 2 }
        #expect(clock.cancelled.all.count == 2)
    }

    /// A clock that the test sets, and on which nothing can sleep.
    struct SleeplessClock: Clock {
        typealias Instant = OffsetInstant

        let time = Guarded(Duration.zero)
        let attempts = Guarded(0)

        var now: Instant { Instant(offset: time.value) }
        var minimumResolution: Duration { .nanoseconds(1) }

        func sleep(until deadline: Instant, tolerance: Duration?) async throws {
            attempts.change { $0 += 1 }
            throw Refusal()
        }
    }

    @Test
    func `executes what is due, and not before, though sleeping throws; it asks again, less and less often`()
        async throws
    {
        let clock = SleeplessClock()
        let start = ContinuousClock.now
        let seen = Record<Int>()
        let it = Debouncer(for: .seconds(10), clock: clock) { (value: Int) in seen.add(value) }
        it(1)
        try await waitUntil { clock.attempts.value >= 6 }
        // The pauses before the last five of them: 1, 2, 4, 8 and 16 ms.
        #expect(start.duration(to: .now) >= .milliseconds(31))
        #expect(seen.all.isEmpty)
        #expect(it.counters.pending == 1)
        _ = clock.time.exchange(.seconds(10))
        try await waitUntil { !seen.all.isEmpty }
        #expect(seen.all == [1])
    }

    @Test
    func `does not ask a clock again that threw, once it has been released`() async throws {
        weak var attempts: Guarded<Int>?
        do {
            let clock = SleeplessClock()
            attempts = clock.attempts
            let it = Debouncer(for: .seconds(10), options: .init(atEnd: .drop), clock: clock) { (_: Int) in }
            it(1)
            try await waitUntil { clock.attempts.value >= 1 }
        }
        // Nobody has the clock any more.
        try await waitUntil { attempts == nil }
    }
}

/// An instant of a clock that begins at zero.
struct OffsetInstant: InstantProtocol {
    var offset: Duration
    func advanced(by duration: Duration) -> Self { Self(offset: offset + duration) }
    func duration(to other: Self) -> Duration { other.offset - offset }
    static func < (left: Self, right: Self) -> Bool { left.offset < right.offset }
}
