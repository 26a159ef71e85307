/// What has happened in a namespace since it was created, or in a step: the counters of a ``DurableStatus``.
package struct DurableTotals: Hashable, Sendable {
    /// ``DurableStatus/attempts``.
    package var attempts: Int
    /// ``DurableStatus/lostLeases``.
    package var lostLeases: Int
    /// ``DurableStatus/runs``.
    package var runs: Int
    /// ``DurableStatus/executed``.
    package var executed: Int
    /// ``DurableStatus/failures``.
    package var failures: Int
    /// ``DurableStatus/restarted``.
    package var restarted: Int
    /// ``DurableStatus/snoozed``.
    package var snoozed = 0
    /// ``DurableStatus/givenUp``.
    package var givenUp = 0
    /// ``DurableStatus/overdue``.
    package var overdue = 0

    package init(
        attempts: Int = 0, lostLeases: Int = 0, runs: Int = 0, executed: Int = 0, failures: Int = 0, restarted: Int = 0
    ) {
        self.attempts = attempts
        self.lostLeases = lostLeases
        self.runs = runs
        self.executed = executed
        self.failures = failures
        self.restarted = restarted
    }

    package static func += (sum: inout DurableTotals, step: DurableTotals) {
        sum.attempts += step.attempts
        sum.lostLeases += step.lostLeases
        sum.runs += step.runs
        sum.executed += step.executed
        sum.failures += step.failures
        sum.restarted += step.restarted
        sum.snoozed += step.snoozed
        sum.givenUp += step.givenUp
        sum.overdue += step.overdue
    }

    /// Counts an attempt that begins.
    mutating func countAttempt(of run: DurableRow.Run) {
        attempts += 1
        // Each later claim of a run has a later fence.
        guard run.fence == run.id else { return }
        runs += 1
        executed += run.value.count
    }
}

extension DurableStatus {
    /// Adds the counters of a part of the namespace.
    package mutating func add(_ totals: DurableTotals) {
        attempts += totals.attempts
        lostLeases += totals.lostLeases
        runs += totals.runs
        executed += totals.executed
        failures += totals.failures
        restarted += totals.restarted
        snoozed += totals.snoozed
        givenUp += totals.givenUp
        overdue += totals.overdue
    }
}
