internal import LullCore
internal import Synchronization

/// An execution or a callback, as a clock tracks it (``WorkObserver``).
///
/// While a handler runs, ``current`` is its execution, also in the tasks that it creates.
package final class Work: Sendable {
    /// The work that the current task belongs to.
    @TaskLocal package static var current: Work?

    /// Whether the current task is part of a handler or a callback, and not of the program or of a test.
    static var isHandling: Bool { current.map { !$0.isOfTest } ?? false }

    /// Names the work in messages, by its key.
    package var name: String { describe() }

    /// The run of the handler, and the number of its runtime. Nil for other work: callbacks, and tasks of a test.
    private let handled: (runtime: UInt64, run: RunID)?
    /// Whether it is a task of a test, which waits for what it tests as the test itself does.
    let isOfTest: Bool
    private let describe: @Sendable () -> String

    /// Makes work that is no run of a handler.
    package init(ofTest isOfTest: Bool = false, describe: @escaping @Sendable () -> String) {
        handled = nil
        self.isOfTest = isOfTest
        self.describe = describe
    }

    init(handling run: RunID, of runtime: UInt64, describe: @escaping @Sendable () -> String) {
        handled = (runtime, run)
        isOfTest = false
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

/// Observes tracked work, and calls that wait.
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

    /// A task of the program's or of a test's, which is no part of a handler, begins to wait in a call. The caller is
    /// that task.
    func began(_ wait: Wait)

    /// It no longer waits. Called once for every ``began(_:)``, and may come before that.
    func ended(_ wait: Wait)
}

/// A clock that calls where others sleep, as those for tests do. Other clocks are used by their `sleep(until:)`.
package protocol CallbackClock<Duration>: Clock where Duration == Swift.Duration {
    /// Calls `body` once, when the clock has reached the instant. May do so before it returns.
    ///
    /// - Parameter site: Where the program makes what waits.
    func wake(at instant: Instant, for site: SourceSite, _ body: @escaping @Sendable () -> Void)
}
