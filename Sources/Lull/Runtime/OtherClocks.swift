internal import LullCore

/// Any clock of the user's, by its own `sleep(until:)`.
///
/// The clock is never called while a lock is held: it may call the client in turn. One thread at a time carries out what
/// has been decided, and looks afterwards whether something else has been decided meanwhile.
final class SleepingClock<C: Clock>: WakingClock, @unchecked Sendable where C.Duration == Duration {
    // Proof of @unchecked Sendable: what varies is only touched while `lock` is held; `task` in `deinit` as well.
    private let clock: C
    private let origin: C.Instant
    private let tolerance: Duration?
    private let lock = Lock()
    private var stamp: UInt64 = 0
    /// When to wake.
    private var decided = CoreInstant.farFuture
    /// For when a sleep has been arranged.
    private var arranged = CoreInstant.farFuture
    /// The number of that sleep.
    private var sleep: UInt64 = 0
    private var task: Task<Void, Never>?
    /// Whether a thread is carrying out what has been decided.
    private var isArranging = false

    init(_ clock: C, _ tolerance: CoreDuration) {
        self.clock = clock
        self.tolerance = tolerance > .zero ? Duration(tolerance) : nil
        origin = clock.now
    }

    deinit {
        task?.cancel()
    }

    override func now() -> CoreInstant {
        CoreInstant.origin.advanced(by: CoreDuration(origin.duration(to: clock.now)))
    }

    override func arrange(_ alarm: CoreInstant, stamp: UInt64, after waking: Waking?) {
        let begins = lock.withLock { () -> Bool in
            guard stamp > self.stamp else { return false }
            self.stamp = stamp
            decided = alarm
            defer { isArranging = true }
            return !isArranging
        }
        guard begins else { return }
        while let (instant, number, old) = nextStep() {
            old?.cancel()
            if instant != .farFuture { begin(number, until: instant) }
        }
    }

    /// What is still to be arranged, and the sleep that it replaces.
    private func nextStep() -> (instant: CoreInstant, number: UInt64, old: Task<Void, Never>?)? {
        lock.withLock {
            guard decided != arranged else {
                isArranging = false
                return nil
            }
            arranged = decided
            sleep += 1
            return (arranged, sleep, task.take())
        }
    }

    private func begin(_ number: UInt64, until instant: CoreInstant) {
        let now = now()
        let wait = min(now.duration(to: instant), longestSleep)
        let end = origin.advanced(by: Duration(CoreInstant.origin.duration(to: now.advanced(by: wait))))
        let new = Task.detached { [weak self, clock, tolerance] in
            do { try await clock.sleep(until: end, tolerance: tolerance) } catch { return }
            self?.ring(number)
        }
        lock.withLock { if sleep == number { task = new } }
    }

    private func ring(_ number: UInt64) {
        let isLatest = lock.withLock { () -> Bool in
            guard sleep == number, arranged != .farFuture else { return false }
            if decided == arranged { decided = .farFuture }
            arranged = .farFuture
            return true
        }
        if isLatest { wake(.byClock) }
    }
}

/// A clock that is told of the work it wakes.
final class TrackingClock<C: WorkTrackingClock>: WakingClock, @unchecked Sendable {
    // Proof of @unchecked Sendable: what varies is only touched while `lock` is held.
    private let clock: C
    private let origin: C.Instant
    private let lock = Lock()
    /// The earliest call that the clock has been asked for, and has not made.
    private var next: Call?

    /// A call that the clock has been asked for.
    private final class Call: @unchecked Sendable {
        // Proof of @unchecked Sendable: `hasCome` is only touched while the lock of the clock is held.
        let instant: CoreInstant
        var hasCome = false

        init(_ instant: CoreInstant) {
            self.instant = instant
        }
    }

    init(_ clock: C) {
        self.clock = clock
        origin = clock.now
    }

    override func now() -> CoreInstant {
        CoreInstant.origin.advanced(by: CoreDuration(origin.duration(to: clock.now)))
    }

    /// Asks for a call, unless there is one to come that is no later: such a clock takes nothing back. When it returns, the
    /// call has been asked for, whatever other threads do.
    override func arrange(_ alarm: CoreInstant, stamp: UInt64, after waking: Waking?) {
        guard alarm != .farFuture else { return }
        guard lock.withLock({ isEarliest(alarm) }) else { return }
        let call = Call(alarm)
        let end = origin.advanced(by: Duration(CoreInstant.origin.duration(to: alarm)))
        clock.wake(at: end) { [weak self] in self?.ring(call) }
        lock.withLock {
            if !call.hasCome, isEarliest(alarm) { next = call }
        }
    }

    private func isEarliest(_ alarm: CoreInstant) -> Bool {
        next.map { alarm < $0.instant } ?? true
    }

    private func ring(_ call: Call) {
        lock.withLock {
            call.hasCome = true
            if next === call { next = nil }
        }
        wake(.byClock)
    }

    override var observer: (any WorkObserver)? { clock }
}
