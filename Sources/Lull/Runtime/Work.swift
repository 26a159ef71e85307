internal import LullCore
internal import Synchronization

/// An execution, seen from a clock that keeps track of the work it wakes (``WorkTrackingClock``).
///
/// While a handler runs, ``current`` is its execution, also in the tasks that it creates.
@usableFromInline
package final class Work: Sendable {
    /// The execution on whose behalf the present task runs.
    @TaskLocal package static var current: Work?

    /// Says which key is executed, for messages.
    package var name: String { describe() }

    /// The run of a handler, and the number of the debouncer whose handler it is. Nil for all other work: callbacks, and
    /// what others keep track of.
    private let handled: (debouncer: UInt64, run: RunID)?
    private let describe: @Sendable () -> String

    /// Work that is no run of a handler.
    package init(describe: @escaping @Sendable () -> String) {
        handled = nil
        self.describe = describe
    }

    init(handling run: RunID, of debouncer: UInt64, describe: @escaping @Sendable () -> String) {
        handled = (debouncer, run)
        self.describe = describe
    }

    /// The run that this is, if it is one of that debouncer's handler. It may have ended meanwhile.
    func run(of debouncer: UInt64) -> RunID? {
        guard let handled, handled.debouncer == debouncer else { return nil }
        return handled.run
    }
}

/// Numbers debouncers and throttlers, each once in the life of the process: unlike an address, a number is never used again.
enum DebouncerNumber {
    private static let last = Atomic<UInt64>(0)

    static func next() -> UInt64 {
        last.wrappingAdd(1, ordering: .relaxed).newValue
    }
}

/// Is told what executions do.
///
/// Each execution is announced before the call or the wake-up that caused it returns.
@usableFromInline
package protocol WorkObserver: Sendable {
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

/// A clock that wants to know when the work it woke is done, as one for tests does.
///
/// Any other clock is used by its `sleep(until:)`.
@usableFromInline
package protocol WorkTrackingClock<Duration>: Clock, WorkObserver where Duration == Swift.Duration {
    /// Calls `body` once, when the clock has reached the instant. Must not call it before it returns.
    func wake(at instant: Instant, _ body: @escaping @Sendable () -> Void)
}
