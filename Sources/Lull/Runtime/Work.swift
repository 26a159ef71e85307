/// An execution, seen from a clock that keeps track of the work it wakes (``WorkTrackingClock``).
///
/// While a handler runs, ``current`` is its execution, also in the tasks that it creates.
public final class Work: Sendable {
    /// The execution on whose behalf the present task runs.
    @TaskLocal public static var current: Work?

    /// Says which key is executed, for messages.
    public var name: String { describe() }

    let owner: ObjectIdentifier
    private let describe: @Sendable () -> String

    init(owner: ObjectIdentifier, describe: @escaping @Sendable () -> String) {
        self.owner = owner
        self.describe = describe
    }
}

/// A clock that wants to know when the work it woke is done, as one for tests does.
///
/// Any other clock is used by its `sleep(until:)`. Each execution is announced before the call or the wake-up that caused
/// it returns, so that a clock that has called a wake-up knows of everything that came of it.
public protocol WorkTrackingClock<Duration>: Clock where Duration == Swift.Duration {
    /// Calls `body` once, when the clock has reached the instant. Must not call it before it returns.
    func wake(at instant: Instant, _ body: @escaping @Sendable () -> Void)

    /// An execution has been decided on and will run.
    func began(_ work: Work)

    /// It runs, having been entered or having waited for something. Counted: a task may have several children.
    func resumed(_ work: Work)

    /// It has run as far as it could, and waits for something or is about to end. Once for every ``resumed(_:)``.
    func paused(_ work: Work)

    /// It waits for another debouncer on this clock, and goes on when that has done what it waits for. Counted.
    func slept(_ work: Work)

    /// It goes on. Once for every ``slept(_:)``.
    func woke(_ work: Work)

    /// Its handler has ended, and everybody who waits for it has been told.
    func ended(_ work: Work)
}
