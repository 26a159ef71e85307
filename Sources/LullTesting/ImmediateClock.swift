public import Lull

/// A clock that does not make anybody wait: a sleep ends at once, and time jumps to its end.
///
/// For tests and previews of code whose waits are not what matters. No test has to advance it: a submit falls due
/// before its call returns.
///
/// ```swift
/// let save = Debouncer(for: .seconds(2), clock: ImmediateClock()) { (draft: String) in draft.count }
/// guard case .executed(2) = try await save.outcome(of: "ab") else { Issue.record("not executed"); return }
/// ```
///
/// Every submit is therefore a burst of its own, and executed: nothing is coalesced while it is pending, whatever the
/// wait, and a throttler holds nothing back. Only what falls due while the handler runs is coalesced, as
/// `whileRunning` says. To test which values are left out, use a ``ManualClock``.
///
/// Executions are tasks, as on other clocks: `outcome(of:)` and `flushAndWait()` return when they have ended. Code that
/// sleeps in a loop without an end, such as a poller, goes on without a pause; each sleep gives other tasks a turn.
public final class ImmediateClock: CallbackClock, @unchecked Sendable {
    // Proof of @unchecked Sendable: what varies is only accessed while `lock` is held.
    private let lock = Lock()
    private var latest = Instant.zero
    /// The calls that are still to be made, while one is.
    private var calls: [(at: Instant, body: @Sendable () -> Void)] = []
    private var isCalling = false

    /// An instant, as on a manual clock.
    public typealias Instant = ManualClock.Instant

    /// Creates a clock at ``ManualClock/Instant/zero``.
    public init() {}

    /// The end of the latest sleep so far.
    public var now: Instant {
        lock.withLock { latest }
    }

    /// One nanosecond, the shortest step of the clock.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// Moves the clock to the instant, if that is later than ``now``, and returns after other tasks had a turn.
    ///
    /// - Parameters:
    ///   - instant: The instant at which the sleep ends.
    ///   - tolerance: Ignored.
    /// - Throws: `CancellationError` if the task is cancelled.
    public func sleep(until instant: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        lock.withLock { latest = max(latest, instant) }
        await Task.yield()
    }

    /// Moves the clock to the instant, and calls `body`, before this returns unless it is in such a call itself.
    package func wake(at instant: Instant, for site: SourceSite, _ body: @escaping @Sendable () -> Void) {
        // One after the other: a call that asks for the next one would be nested in it, thousands deep.
        let isFirst = lock.withLock {
            calls.append((instant, body))
            defer { isCalling = true }
            return !isCalling
        }
        guard isFirst else { return }
        while let body = next() { body() }
    }

    private func next() -> (@Sendable () -> Void)? {
        lock.withLock {
            guard !calls.isEmpty else {
                isCalling = false
                return nil
            }
            let call = calls.removeFirst()
            latest = max(latest, call.at)
            return call.body
        }
    }
}
