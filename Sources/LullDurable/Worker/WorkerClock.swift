internal import Lull
internal import LullCore

/// A clock with its type erased: what time it is for a worker, and how it sleeps.
struct WorkerClock: Sendable {
    /// The present instant.
    let now: @Sendable () -> CoreInstant
    /// Suspends until an instant; throws when the task is cancelled.
    let sleep: @Sendable (CoreInstant) async throws -> Void
    /// Told of what a worker does, if the clock wants to know.
    let observer: (any WorkObserver)?

    /// Clocks have limits, and some trap beyond them; who wakes too early sleeps again.
    private static var longestSleep: CoreDuration { .seconds(365 * 24 * 3600) }

    init<C: Clock<Duration>>(_ clock: C) {
        let origin = clock.now
        let now: @Sendable () -> CoreInstant = {
            CoreInstant.origin.advanced(by: CoreDuration(origin.duration(to: clock.now)))
        }
        self.now = now
        sleep = { instant in
            let end = min(instant, now().advanced(by: Self.longestSleep))
            let wake = origin.advanced(by: Duration(CoreInstant.origin.duration(to: end)))
            try await clock.sleep(until: wake, tolerance: nil)
        }
        observer = clock as? any WorkTrackingClock<Duration>
    }
}
