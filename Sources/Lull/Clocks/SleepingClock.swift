internal import LullCore

/// A clock of the user's, used by its `sleep(until:)`.
///
/// The clock is called without a lock: it may call the client. Sleeps are cancelled only when the client has gone
/// (``Sleeps``).
final class SleepingClock<C: Clock>: WakingClock, @unchecked Sendable where C.Duration == Duration {
    // Proof of @unchecked Sendable: what varies is only touched while `lock` is held; `sleeps` in `deinit` as well;
    // `wake` is set before the first wake-up is scheduled.
    private let clock: CoreClock<C>
    private let tolerance: Duration?
    var wake: @Sendable (WakeSource) -> Void = { _ in }
    private let lock = Lock()
    private var stamp: UInt64 = 0
    /// The wake-up that was asked for last.
    private var wanted = CoreInstant.farFuture
    private var sleeps = Sleeps<Task<Void, Never>>()

    init(_ clock: C, _ tolerance: CoreDuration) {
        self.clock = CoreClock(clock)
        self.tolerance = tolerance > .zero ? Duration(tolerance) : nil
    }

    deinit {
        for sleep in sleeps.all { sleep.handle.cancel() }
    }

    func now() -> CoreInstant { clock.now }

    func scheduleWakeUp(at instant: CoreInstant, stamp: UInt64, after source: WakeSource?) {
        lock.withLock {
            guard stamp > self.stamp else { return }
            self.stamp = stamp
            wanted = instant
            startSleep()
        }
    }

    func removeClient() {}

    /// Starts a sleep until the wake-up that is wanted, unless one ends by then. The caller holds the lock.
    private func startSleep() {
        guard sleeps.needsAnother(until: wanted) else { return }
        let task = Task.detached { [weak self, clock, tolerance, wanted] in
            guard await clock.sleep(until: wanted, tolerance) else { return }
            self?.sleepHasEnded(wanted)
        }
        sleeps.begin(until: wanted, task)
    }

    private func sleepHasEnded(_ end: CoreInstant) {
        let isWanted = lock.withLock {
            sleeps.end(end)
            if wanted <= end { return true }
            // The wake-up has been put off since.
            startSleep()
            return false
        }
        if isWanted { wake(.byClock) }
    }
}

/// A clock of the user's in the core's instants.
private struct CoreClock<C: Clock>: Sendable where C.Duration == Duration {
    private let clock: C
    private let origin: C.Instant

    init(_ clock: C) {
        self.clock = clock
        origin = clock.now
    }

    var now: CoreInstant { CoreInstant.origin.advanced(by: CoreDuration(origin.duration(to: clock.now))) }

    /// Sleeps until an instant, or for as long as a clock is asked to sleep at once.
    ///
    /// A sleep may throw though nothing has cancelled it. Then the clock is asked again after a millisecond, and less
    /// and less often, until it sleeps or has reached the instant.
    ///
    /// - Returns: Whether the sleep has ended by itself; false if the task was cancelled.
    func sleep(until instant: CoreInstant, _ tolerance: Duration?) async -> Bool {
        var pause = Duration.milliseconds(1)
        while true {
            let now = now
            guard now < instant else { return true }
            let end = now.advanced(by: min(now.duration(to: instant), longestSleep))
            do {
                try await clock.sleep(
                    until: origin.advanced(by: Duration(CoreInstant.origin.duration(to: end))), tolerance: tolerance)
                return true
            } catch {
                do { try await Task.sleep(for: pause) } catch { return false }
                pause = min(pause * 2, .seconds(1))
            }
        }
    }
}

/// The sleeps of a client or of the scheduler that are under way.
///
/// None is cancelled because an earlier or a later one is needed: Swift keeps the memory of a cancelled sleep until its
/// end. One that ends too early is good enough, since another can follow it; one for a later instant goes on meanwhile,
/// and is there when it is needed. So a sleep is started only if all others end too late.
struct Sleeps<Handle> {
    /// By their ends, the earliest last. There is one for each end.
    private(set) var all: [(end: CoreInstant, handle: Handle)] = []

    /// Whether none ends by the instant, or up to `slack` later.
    func needsAnother(until instant: CoreInstant, slack: CoreDuration = .zero) -> Bool {
        instant.advanced(by: slack) < all.last?.end ?? .farFuture
    }

    /// Adds a sleep that ``needsAnother(until:slack:)`` has asked for.
    mutating func begin(until end: CoreInstant, _ handle: Handle) {
        all.append((end, handle))
    }

    /// Removes the sleep with that end, which is over.
    mutating func end(_ end: CoreInstant) {
        all.removeAll { $0.end == end }
    }
}
