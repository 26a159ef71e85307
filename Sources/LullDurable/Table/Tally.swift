package import LullCore

// The counts of a namespace, as stores keep them so that `status` need not read every row: each step that changes rows
// changes them with it. No step notes that time passes, so rows are counted as they are stored, by the period in which
// they wake: what was pending in those of past periods has fallen due since.

/// The counts of some rows as they are stored.
package struct Tally: Equatable, Sendable {
    package var pending = 0
    package var ready = 0
    package var running = 0
    package var retrying = 0
    /// Those that are pending and have nothing ready: when they fall due, another key is ready.
    package var due = 0
    /// Those that are pending and wait for another attempt after a failure or a snooze: when they fall due, `latest`
    /// drops the run.
    package var replaced = 0

    package init() {}

    /// Counts a row.
    package init(_ row: DurableRow) {
        let isHeld = row.ready?.isHeld == true
        if row.pending != nil || isHeld { pending = 1 }
        if row.ready != nil, !isHeld { ready = 1 } else if row.pending != nil { due = 1 }
        guard let run = row.run else { return }
        if run.isInBackoff { retrying = 1 } else { running = 1 }
        if run.givesWay { replaced = pending }
    }

    package var isZero: Bool { self == Tally() }

    package static func += (sum: inout Tally, other: Tally) { sum.add(other, 1) }
    package static func -= (sum: inout Tally, other: Tally) { sum.add(other, -1) }

    private mutating func add(_ other: Tally, _ sign: Int) {
        pending += sign * other.pending
        ready += sign * other.ready
        running += sign * other.running
        retrying += sign * other.retrying
        due += sign * other.due
        replaced += sign * other.replaced
    }

    /// Returns the counts after what is pending has fallen due.
    private func fallenDue(by rules: DurableRules) -> Tally {
        var tally = self
        tally.ready += due
        if rules.combination == .latest { tally.retrying -= replaced }
        (tally.pending, tally.due, tally.replaced) = (0, 0, 0)
        return tally
    }

    /// Returns the sum of the tallies of periods, of which those before `present` are over.
    package static func sum(
        _ tallies: [(period: Int64, tally: Tally)], present: Int64, by rules: DurableRules
    ) -> Tally {
        tallies.reduce(into: Tally()) { sum, next in
            sum += next.period >= present ? next.tally : next.tally.fallenDue(by: rules)
        }
    }
}

/// The rows that a status looks at because they have woken since they were written: ``most`` of them, and no more.
package struct WokenRows {
    /// The most rows of each list.
    package static let most = 500

    /// Those that woke first.
    private let first: [DurableRow]
    /// Those that woke first in the present period, if there are more than ``first``.
    private let recent: [DurableRow]?

    /// Creates a list.
    ///
    /// - Parameters:
    ///   - first: The rows that woke first.
    ///   - recent: Returns those that woke first in the present period.
    package init(
        _ first: [DurableRow], recent: () throws(DurableError) -> [DurableRow]
    ) throws(DurableError) {
        self.first = first
        self.recent = first.count < Self.most ? nil : try recent()
    }

    /// Whether these are all.
    fileprivate var isComplete: Bool { recent == nil }
    fileprivate var counted: [DurableRow] { recent ?? first }

    /// Returns for how long the oldest work that waits for a worker has waited. What has waited longest has woken
    /// first, but for a value that is ready behind a run.
    fileprivate func oldestDue(
        _ ready: CoreInstant?, _ status: DurableStatus, at now: CoreInstant
    ) -> Duration? {
        var seen = DurableStatus(namespace: status.namespace, rules: status.rules)
        for row in first { seen.add(row, at: now) }
        if let ready { seen.noteWaiting(since: ready, at: now) }
        return seen.oldestDue
    }
}

extension DurableStatus {
    /// Adds what a store has counted.
    ///
    /// If more rows have woken than it looks at, those of past periods are counted by their tallies: one whose delay
    /// was restarted counts as ready from the instant at which it would have been without.
    ///
    /// - Parameters:
    ///   - tallies: The tallies of periods.
    ///   - present: The present period.
    ///   - woken: The rows that have woken.
    ///   - oldestReady: The earliest instant at which a value fell due that is stored as ready.
    package mutating func add(
        _ tallies: [(period: Int64, tally: Tally)], present: Int64, _ woken: WokenRows, oldestReady: CoreInstant?,
        at now: CoreInstant
    ) {
        var sum = Tally.sum(tallies, present: woken.isComplete ? .min : present, by: rules)
        var seen = DurableStatus(namespace: namespace, rules: rules)
        for row in woken.counted {
            sum -= Tally(row)
            seen.add(row, at: now)
        }
        pending += sum.pending + seen.pending
        ready += sum.ready + seen.ready
        running += sum.running + seen.running
        retrying += sum.retrying + seen.retrying
        if let oldest = woken.oldestDue(oldestReady, self, at: now) { oldestDue = max(oldestDue ?? .zero, oldest) }
    }
}
