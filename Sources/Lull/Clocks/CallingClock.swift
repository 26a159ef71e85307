internal import LullCore

/// A clock that calls where others sleep, as those for tests do.
final class CallingClock<C: CallbackClock>: WakingClock, @unchecked Sendable {
    // Proof of @unchecked Sendable: what varies is only touched while `lock` is held; `wake` is set before the first
    // wake-up is scheduled.
    private let clock: C
    private let origin: C.Instant
    private let site: SourceSite
    let workObserver: (any WorkObserver)?
    var wake: @Sendable (WakeSource) -> Void = { _ in }
    private let lock = Lock()
    /// The earliest call that the clock has been asked for and has not made.
    private var next: Call?

    /// A call that the clock has been asked for.
    private final class Call: @unchecked Sendable {
        // Proof of @unchecked Sendable: `isMade` is only touched while the lock of the clock is held.
        let instant: CoreInstant
        var isMade = false

        init(_ instant: CoreInstant) {
            self.instant = instant
        }
    }

    init(_ clock: C, _ site: SourceSite) {
        self.clock = clock
        self.site = site
        workObserver = clock as? any WorkObserver
        origin = clock.now
    }

    func now() -> CoreInstant {
        CoreInstant.origin.advanced(by: CoreDuration(origin.duration(to: clock.now)))
    }

    /// Asks the clock for a call, unless it is going to make one that is no later: such a clock takes nothing back.
    /// When this returns, the call has been asked for, whatever other threads do.
    func scheduleWakeUp(at instant: CoreInstant, stamp: UInt64, after source: WakeSource?) {
        guard instant != .farFuture else { return }
        guard lock.withLock({ isEarliest(instant) }) else { return }
        let call = Call(instant)
        let end = origin.advanced(by: Duration(CoreInstant.origin.duration(to: instant)))
        clock.wake(at: end, for: site) { [weak self] in self?.make(call) }
        lock.withLock {
            if !call.isMade, isEarliest(instant) { next = call }
        }
    }

    func removeClient() {}

    private func isEarliest(_ instant: CoreInstant) -> Bool {
        next.map { instant < $0.instant } ?? true
    }

    private func make(_ call: Call) {
        lock.withLock {
            call.isMade = true
            if next === call { next = nil }
        }
        wake(.byClock)
    }
}
