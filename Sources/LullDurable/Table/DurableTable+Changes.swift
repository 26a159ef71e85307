package import LullCore

// Flushing and cancelling as steps on a table: of one key, or of all.

/// What is done to the work of a key, or of all keys.
package enum DurableChange: Hashable, Sendable {
    /// What is pending, held or between two attempts becomes ready now, and the gate idle.
    case flush
    /// What no worker has is dropped, and the gate becomes idle.
    case cancel

    /// Returns the count that the call answers: of keys or of submits.
    func apply(
        to row: inout DurableRow, at now: CoreInstant, by rules: DurableRules, _ ended: inout [EndedSubmits]
    ) -> Int {
        switch self {
        case .flush: row.flush(at: now, by: rules, &ended) ? 1 : 0
        case .cancel: row.cancel(at: now, by: rules, &ended)
        }
    }
}

/// A change of all keys of a selection: the rows that a namespace had when it began, in the order of their insertion,
/// of which some are done.
///
/// A store whose steps lock out others makes the change in several steps: what is submitted between them stays as it
/// is.
package struct DurableSweep<Place: Sendable>: Sendable {
    fileprivate let selection: DurableSelection
    /// The rows that are left.
    package fileprivate(set) var rest: ArraySlice<Place>
    /// When the change began.
    fileprivate let began: CoreInstant
    /// The count so far.
    package fileprivate(set) var count = 0
    /// What the selection has so far, if nothing is changed.
    package fileprivate(set) var found = DurableSelection.Count()

    /// Whether no row is left.
    package var isComplete: Bool { rest.isEmpty }
}

extension DurableTable {
    /// Changes the work of a key: see ``ChangeTarget/keys(_:)``.
    ///
    /// - Returns: 1 if it was flushed, or the number of submits that were cancelled.
    package mutating func change(
        _ change: DurableChange, _ key: [UInt8], in namespace: DurableNamespace, at now: CoreInstant
    ) throws(DurableError) -> Int {
        guard let old = try find(key, in: namespace) else { return 0 }
        return try self.change(change, old, in: namespace, at: now)
    }

    /// Changes the keys of a selection in one step: see ``ChangeTarget/selection(_:)``.
    package mutating func change(
        _ change: DurableChange, matching selection: DurableSelection, in namespace: DurableNamespace,
        at now: CoreInstant
    ) throws(DurableError) -> Int {
        var sweep = try sweep(of: namespace, matching: selection, at: now)
        try self.change(change, &sweep, atMost: .max, in: namespace, at: now)
        return sweep.count
    }

    /// Begins a change of the keys of a selection, or a count of them.
    package mutating func sweep(
        of namespace: DurableNamespace, matching selection: DurableSelection, at now: CoreInstant
    ) throws(DurableError) -> DurableSweep<Place> {
        DurableSweep(selection: selection, rest: try places(matching: selection, in: namespace)[...], began: now)
    }

    /// Goes on with a change of the keys of a selection, or a count of them.
    ///
    /// - Parameters:
    ///   - change: What is done, the same in each step; nil to count what might be.
    ///   - sweep: The rows that are left, and the count so far.
    ///   - limit: The most rows that are changed in this step.
    ///   - namespace: The namespace with which the change began.
    ///   - now: The instant of this step.
    package mutating func change(
        _ change: DurableChange?, _ sweep: inout DurableSweep<Place>, atMost limit: Int, in namespace: DurableNamespace,
        at now: CoreInstant
    ) throws(DurableError) {
        for place in sweep.rest.prefix(limit) {
            sweep.rest.removeFirst()
            // The place may have been given to another row.
            guard let old = try entry(at: place, in: namespace), old.row.hadWork(at: sweep.began),
                sweep.selection.includes(old.key, old.row, at: now, by: namespace.rules)
            else { continue }
            if let change {
                sweep.count += try self.change(change, old, in: namespace, at: now)
            } else {
                sweep.found.add(old.row, at: now, by: namespace.rules)
            }
        }
    }

    private mutating func change(
        _ change: DurableChange, _ old: DurableEntry, in namespace: DurableNamespace, at now: CoreInstant
    ) throws(DurableError) -> Int {
        var row = old.row
        var ended: [EndedSubmits] = []
        let count = change.apply(to: &row, at: now, by: namespace.rules, &ended)
        try write(row, of: old.key, from: old, isWorkers: false, ended, at: now, in: namespace)
        return count
    }
}

extension DurableRow {
    /// Whether any of the work that a change concerns was there at an instant; true if there is none, but a gate.
    fileprivate func hadWork(at instant: CoreInstant) -> Bool {
        let firsts = [
            pending == nil ? nil : gate.first, ready?.first, run.flatMap { $0.isInBackoff ? $0.value.first : nil },
        ].compactMap { $0 }
        return firsts.isEmpty || firsts.contains { $0 <= instant }
    }
}
