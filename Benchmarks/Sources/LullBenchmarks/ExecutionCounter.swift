import Foundation
import Synchronization

/// The work of the handlers in these rows: stores the value, and counts the calls.
final class ExecutionCounter: Sendable {
    private let executions = Atomic(0)
    private let last = Atomic(-1)

    var count: Int { executions.load(ordering: .acquiring) }

    func take(_ value: Int) {
        last.store(value, ordering: .relaxed)
        executions.add(1, ordering: .releasing)
    }

    /// Waits for this many executions. It polls rarely, since its own processor time counts in some rows.
    func waitFor(_ number: Int = 1) {
        while count < number { usleep(2000) }
    }

    /// Waits for the only execution, of `value`, so that work that was not done does not count as fast.
    func expect(only value: Int) {
        waitFor()
        precondition(count == 1, "a burst was executed \(count) times: the machine paused for longer than the wait")
        precondition(last.load(ordering: .relaxed) == value, "a burst was executed with another value than its last")
    }
}
