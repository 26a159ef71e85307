import Foundation
import Synchronization

/// What a handler does in these rows: it keeps the value, and counts how often it was called.
final class Sink: Sendable {
    private let executions = Atomic(0)
    private let last = Atomic(-1)

    var count: Int { executions.load(ordering: .acquiring) }

    func take(_ value: Int) {
        last.store(value, ordering: .relaxed)
        executions.add(1, ordering: .releasing)
    }

    /// Waits until there were that many executions, looking rarely: its own processor time counts in some rows.
    func waitFor(_ number: Int = 1) {
        while count < number { usleep(2000) }
    }

    /// Waits for the only execution, of `value`: work that was not done may not count as fast.
    func expect(only value: Int) {
        waitFor()
        precondition(count == 1, "a burst was executed \(count) times: the machine paused for longer than the wait")
        precondition(last.load(ordering: .relaxed) == value, "a burst was executed with another value than its last")
    }
}
