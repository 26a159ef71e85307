import Foundation
import LullCore
import TestSupport
import Testing

@testable import Lull

/// The calls that a clock of the user's may make while it is called.
@Suite("A clock that calls the debouncer back", .timeLimit(.minutes(1)))
struct ClockCallTests {
    /// The code that the clock runs when it is called. Calls by this code do not run it again.
    final class CallBack: Sendable {
        private let body = Guarded<(@Sendable () -> Void)?>(nil)
        let calls = Guarded(0)

        func set(_ body: (@Sendable () -> Void)?) { _ = self.body.exchange(body) }

        func call() {
            guard let now = body.exchange(nil) else { return }
            calls.change { $0 += 1 }
            now()
            _ = body.exchange(now)
        }
    }

    /// The suspending clock; calls back whenever it is asked for the time, and when it is asked to sleep.
    struct CallingClock: Clock {
        let onNow = CallBack()
        let onSleep = CallBack()
        private let base = SleepingClockTests.CountingClock()

        var now: SuspendingClock.Instant {
            onNow.call()
            return .now
        }

        var minimumResolution: Duration { .nanoseconds(1) }

        func sleep(until deadline: SuspendingClock.Instant, tolerance: Duration?) async throws {
            onSleep.call()
            try await base.sleep(until: deadline, tolerance: tolerance)
        }
    }

    @Test
    func `may submit while it is asked to sleep, and nothing is forgotten`() async throws {
        let clock = CallingClock()
        let (wanted, seen) = (Record<Int>(), Record<Int>())
        let it = KeyedDebouncer(for: .seconds(3600), clock: clock) { (key: Int, _: Int) in seen.add(key) }
        // In each sleep it wants another one that is shorter.
        clock.onSleep.set {
            let key = 20 - wanted.all.count
            guard key > 0 else { return }
            wanted.add(key)
            it.submit(1, for: key, after: .milliseconds(key))
        }
        it.submit(1, for: 21, after: .milliseconds(100))
        try await waitUntil { Set(seen.all) == Set(wanted.all + [21]) }
        #expect(clock.onSleep.calls.value > 0)
        clock.onSleep.set(nil)
    }

    @Test
    func `is not asked for the time with a lock held while there is an observer`() async throws {
        let clock = CallingClock()
        let it = KeyedDebouncer(for: .milliseconds(2), clock: clock) { (key: Int, _: Int) in key }
        let events = it.events()
        clock.onNow.set {
            _ = it.counters
            it.submit(1, for: 1)
        }
        for _ in 0..<20 { _ = try await it.outcome(of: 0, for: 0) }
        clock.onNow.set(nil)
        await it.shutDownAndWait()
        #expect(it.counters.addUp && it.counters.executed >= 20)
        #expect(clock.onNow.calls.value > 0)
        withExtendedLifetime(events) {}
    }

    @Test
    func `may submit while it is asked for a call, or for the time, and nothing is forgotten`() async throws {
        let clock = Steps()
        let seen = Record<Int>()
        let it = KeyedDebouncer(for: .seconds(10), clock: clock) { (key: Int, _: Int) in seen.add(key) }
        let next = Guarded(10)
        // In each call it wants another one that is earlier.
        clock.onCall.set {
            let key = next.change { next in
                next -= 1
                return next
            }
            if key > 0 { it.submit(key, for: key, after: .seconds(key)) }
        }
        it.submit(10, for: 10)
        for second in 1...100 { clock.goOn(to: .seconds(second)) }
        try await waitUntil { Set(seen.all) == Set(1...10) }
        #expect(clock.onCall.calls.value > 8)
        clock.onCall.set(nil)
    }

    @Test
    func `may replace a value when it learns that an execution waits for its outcome`() async throws {
        let clock = Steps()
        let inner = Debouncer(for: .seconds(10), clock: clock) { (value: Int) in value }
        let ends = Record<Ended<Int>>()
        let outer = Debouncer(for: .seconds(1), clock: clock) { (value: Int) in
            ends.add(Ended(try await inner.outcome(of: value)))
        }
        clock.onSleep.set { inner.submit(2) }
        outer.submit(1)
        clock.goOn(to: .seconds(1))
        try await waitUntil { !ends.all.isEmpty }
        #expect(ends.all == [.superseded])
        clock.onSleep.set(nil)
    }

    /// Makes the calls it was asked for once it may go on.
    final class Steps: CallbackClock, WorkObserver, Sendable {
        typealias Instant = OffsetInstant

        let onCall = CallBack()
        let onSleep = CallBack()
        private let state = Guarded((now: Duration.zero, calls: [(at: Duration, body: @Sendable () -> Void)]()))

        var now: Instant {
            onCall.call()
            return Instant(offset: state.value.now)
        }

        var minimumResolution: Duration { .nanoseconds(1) }

        func sleep(until deadline: Instant, tolerance: Duration?) async throws {
            await withCheckedContinuation { continuation in
                wake(at: deadline, for: SourceSite(#fileID, #line)) { continuation.resume() }
            }
        }

        func wake(at instant: Instant, for site: SourceSite, _ body: @escaping @Sendable () -> Void) {
            state.change { $0.calls.append((instant.offset, body)) }
            onCall.call()
        }

        func goOn(to offset: Duration) {
            let due = state.change { state in
                state.now = offset
                let due = state.calls.filter { $0.at <= offset }
                state.calls.removeAll { $0.at <= offset }
                return due
            }
            for call in due { call.body() }
        }

        func began(_ work: TrackedWork) {}
        func entered(_ work: TrackedWork, on actor: (any Actor)?) {}
        func resumed(_ work: TrackedWork, isUnseen: Bool) {}
        func paused(_ work: TrackedWork) {}
        func slept(_ work: TrackedWork) { onSleep.call() }
        func woke(_ work: TrackedWork) {}
        func ended(_ work: TrackedWork) {}
        func began(_ wait: WaitingCall) {}
        func ended(_ wait: WaitingCall) {}
    }
}
