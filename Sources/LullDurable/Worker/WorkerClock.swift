internal import Lull
internal import LullCore

/// A clock with its type erased: the present instant of a worker, and its sleep.
package struct WorkerClock: Sendable {
    /// Returns the present instant.
    let now: @Sendable () -> CoreInstant
    /// Suspends until an instant; throws when the task is cancelled.
    let sleep: @Sendable (CoreInstant) async throws -> Void
    /// The clock itself, if it tracks work.
    let observer: (any WorkObserver)?
    /// Whether it is the system's, so that timers of the system keep its time.
    let isSystem: Bool

    /// Clocks have limits, and some trap beyond them. A caller that wakes too early sleeps again.
    private static var longestSleep: CoreDuration { .seconds(365 * 24 * 3600) }

    package init<C: Clock<Duration>>(_ clock: C) {
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
        observer = clock as? any WorkObserver
        isSystem = clock is ContinuousClock
    }

    /// Starts a task that the clock tracks, if it tracks work.
    @discardableResult
    func spawn(
        _ name: String, on isolation: (any Actor)? = nil, preferring executor: OwnThread? = nil,
        _ body: @escaping TaskOperation
    ) -> Task<Void, any Error> {
        let work = TrackedWork { name }
        observer?.began(work)
        return launch(work, observer, on: isolation, preferring: executor) {
            defer { observer?.ended(work) }
            try await body()
        }
    }
}
