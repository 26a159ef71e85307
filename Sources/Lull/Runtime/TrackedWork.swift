internal import LullCore
internal import Synchronization

/// An execution or a callback, as a clock tracks it (``WorkObserver``).
///
/// While a handler runs, ``current`` is its execution, also in the tasks that it creates.
package final class TrackedWork: Sendable {
    /// The work that the current task belongs to.
    @TaskLocal package static var current: TrackedWork?

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
