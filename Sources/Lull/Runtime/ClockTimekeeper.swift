internal import LullCore

/// Any clock of the user's, by its own `sleep(until:)`.
final class ClockTimekeeper<C: Clock>: Timekeeper, @unchecked Sendable where C.Duration == Duration {
    // Proof of @unchecked Sendable: `task` is only touched in `arrange`, under the timekeeper's lock, and in `deinit`.
    private let clock: C
    private let origin: C.Instant
    private var task: Task<Void, Never>?

    init(_ clock: C) {
        self.clock = clock
        origin = clock.now
    }

    deinit {
        task?.cancel()
    }

    override func now() -> CoreInstant {
        CoreInstant.origin.advanced(by: CoreDuration(origin.duration(to: clock.now)))
    }

    override func arrange(_ instant: CoreInstant, afterWaking: Bool) {
        task?.cancel()
        task = nil
        guard instant != .farFuture else { return }
        let wait = min(now().duration(to: instant), longestSleep)
        let end = origin.advanced(by: Duration(CoreInstant.origin.duration(to: now().advanced(by: wait))))
        task = Task.detached { [weak self, clock] in
            do { try await clock.sleep(until: end, tolerance: nil) } catch { return }
            self?.rang()
        }
    }
}

/// A clock that is told of the work it wakes.
final class TrackingTimekeeper<C: WorkTrackingClock>: Timekeeper, @unchecked Sendable {
    // Proof of @unchecked Sendable: a clock is Sendable, an instant as well, and both are constant.
    private let clock: C
    private let origin: C.Instant

    init(_ clock: C) {
        self.clock = clock
        origin = clock.now
    }

    override func now() -> CoreInstant {
        CoreInstant.origin.advanced(by: CoreDuration(origin.duration(to: clock.now)))
    }

    override func arrange(_ instant: CoreInstant, afterWaking: Bool) {
        guard instant != .farFuture else { return }
        let end = origin.advanced(by: Duration(CoreInstant.origin.duration(to: instant)))
        clock.wake(at: end) { [weak self] in self?.rang() }
    }

    override var observer: (any WorkObserver)? { clock }
}
