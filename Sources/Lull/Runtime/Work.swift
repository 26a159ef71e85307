internal import LullCore
internal import Synchronization

/// An execution or a callback, as a clock tracks it (``WorkTrackingClock``).
///
/// While a handler runs, ``current`` is its execution, also in the tasks that it creates.
package final class Work: Sendable {
    /// The work that the current task belongs to.
    @TaskLocal package static var current: Work?

    /// Names the work in messages, by its key.
    package var name: String { describe() }

    /// The run of the handler, and the number of its runtime. Nil for other work: callbacks, and tasks of a test.
    private let handled: (runtime: UInt64, run: RunID)?
    private let describe: @Sendable () -> String

    /// Makes work that is no run of a handler.
    package init(describe: @escaping @Sendable () -> String) {
        handled = nil
        self.describe = describe
    }

    init(handling run: RunID, of runtime: UInt64, describe: @escaping @Sendable () -> String) {
        handled = (runtime, run)
        self.describe = describe
    }

    /// Returns the run, if it is one of the handler of the runtime with that number. It may have ended.
    func run(of runtime: UInt64) -> RunID? {
        guard let handled, handled.runtime == runtime else { return nil }
        return handled.run
    }
}

/// Numbers runtimes. Unlike an address, a number is never used again.
enum RuntimeNumber {
    private static let last = Atomic<UInt64>(0)

    static func next() -> UInt64 {
        last.wrappingAdd(1, ordering: .relaxed).newValue
    }
}

/// Observes tracked work.
///
/// ``began(_:)`` comes before the call or the wake-up that caused the execution returns.
package protocol WorkObserver: Sendable {
    /// The work has been decided on and will run. May be called under a lock: it only takes note.
    func began(_ work: Work)

    /// Its operation is entered.
    ///
    /// - Parameter actor: The actor that it is on, if its jobs there are not reported and it is not the main actor.
    func entered(_ work: Work, on actor: (any Actor)?)

    /// One of its tasks is to run, for the first time or again. Counted: a task may have several children.
    ///
    /// Jobs on the main actor, and on other actors that have an executor of their own, are not reported.
    ///
    /// - Parameter isUnseen: Whether that comes from a place of which nothing is reported, other than the main actor.
    func resumed(_ work: Work, isUnseen: Bool)

    /// It has run as far as it can there. Called once for every ``resumed(_:isUnseen:)``.
    func paused(_ work: Work)

    /// It waits for a debouncer on this clock. Counted.
    func slept(_ work: Work)

    /// It goes on. Called once for every ``slept(_:)``.
    func woke(_ work: Work)

    /// Its handler has ended, and its outcomes have been delivered.
    func ended(_ work: Work)
}

/// A clock that tracks the work it wakes, as one for tests does. Other clocks are used by their `sleep(until:)`.
package protocol WorkTrackingClock<Duration>: Clock, WorkObserver where Duration == Swift.Duration {
    /// Calls `body` once, when the clock has reached the instant, and not before this call has returned.
    func wake(at instant: Instant, _ body: @escaping @Sendable () -> Void)
}
