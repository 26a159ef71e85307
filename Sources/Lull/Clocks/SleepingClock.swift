internal import LullCore

/// A clock of the user's, used by its `sleep(until:)`.
///
/// The clock is never called with a lock held, since it may call the client. One thread at a time starts and cancels sleeps,
/// until what is arranged is what was asked for last.
final class SleepingClock<C: Clock>: WakingClock, @unchecked Sendable where C.Duration == Duration {
    // Proof of @unchecked Sendable: what varies is only touched while `lock` is held; `task` in `deinit` as well; `wake` is set
    // before the first wake-up is scheduled.
    private let clock: C
    private let origin: C.Instant
    private let tolerance: Duration?
    var wake: @Sendable (WakeSource) -> Void = { _ in }
    private let lock = Lock()
    private var stamp: UInt64 = 0
    /// The wake-up that was asked for last.
    private var wanted = CoreInstant.farFuture
    /// The end of the sleep that is under way.
    private var arranged = CoreInstant.farFuture
    /// The number of that sleep.
    private var sleep: UInt64 = 0
    private var task: Task<Void, Never>?
    /// Whether a thread is starting and cancelling sleeps.
    private var isArranging = false

    init(_ clock: C, _ tolerance: CoreDuration) {
        self.clock = clock
        self.tolerance = tolerance > .zero ? Duration(tolerance) : nil
        origin = clock.now
    }

    deinit {
        task?.cancel()
    }

    func now() -> CoreInstant {
        CoreInstant.origin.advanced(by: CoreDuration(origin.duration(to: clock.now)))
    }

    func scheduleWakeUp(at instant: CoreInstant, stamp: UInt64, after source: WakeSource?) {
        let arranges = lock.withLock { () -> Bool in
            guard stamp > self.stamp else { return false }
            self.stamp = stamp
            wanted = instant
            defer { isArranging = true }
            return !isArranging
        }
        guard arranges else { return }
        while let (instant, number, old) = nextSleep() {
            old?.cancel()
            if instant != .farFuture { start(number, until: instant) }
        }
    }

    func removeClient() {}

    /// Returns the sleep that is to be started, and the one that it replaces; nil if what is arranged is what is wanted.
    private func nextSleep() -> (instant: CoreInstant, number: UInt64, old: Task<Void, Never>?)? {
        lock.withLock {
            guard wanted != arranged else {
                isArranging = false
                return nil
            }
            arranged = wanted
            sleep += 1
            return (arranged, sleep, task.take())
        }
    }

    private func start(_ number: UInt64, until instant: CoreInstant) {
        let now = now()
        let wait = min(now.duration(to: instant), longestSleep)
        let end = origin.advanced(by: Duration(CoreInstant.origin.duration(to: now.advanced(by: wait))))
        let new = Task.detached { [weak self, clock, tolerance] in
            do { try await clock.sleep(until: end, tolerance: tolerance) } catch { return }
            self?.sleepHasEnded(number)
        }
        lock.withLock { if sleep == number { task = new } }
    }

    private func sleepHasEnded(_ number: UInt64) {
        let isLatest = lock.withLock { () -> Bool in
            guard sleep == number, arranged != .farFuture else { return false }
            if wanted == arranged { wanted = .farFuture }
            arranged = .farFuture
            return true
        }
        if isLatest { wake(.byClock) }
    }
}
