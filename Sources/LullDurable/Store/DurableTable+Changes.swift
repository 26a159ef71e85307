package import LullCore

// Flushing and cancelling as steps on a table: of one key, or of all.

/// What is done to the work of a key, or of all keys.
package enum DurableChange: Hashable, Sendable {
    /// What is pending or between two attempts becomes ready: see ``DurableStore/flush(_:in:)``.
    case flush
    /// What no worker has is dropped: see ``DurableStore/cancel(_:in:)``.
    case cancel

    /// Returns the count that the call answers: of keys or of submits.
    func apply(
        to row: inout DurableRow, at now: CoreInstant, by rules: DurableRules, _ endings: inout [DurableEnding]
    ) -> Int {
        switch self {
        case .flush: row.flush(at: now, by: rules, &endings) ? 1 : 0
        case .cancel: row.cancel(at: now, by: rules, &endings)
        }
    }
}

/// A change of all keys: the rows that a namespace had when it began, in the order of their insertion, of which some are done.
///
/// A store whose steps lock out others makes the change in several steps: what is submitted between them stays as it is.
package struct DurableSweep: Hashable, Sendable {
    /// The rows that are left.
    fileprivate var rest: ArraySlice<Int64>
    /// When the change began.
    fileprivate let began: CoreInstant
    /// The count so far.
    public fileprivate(set) var count = 0

    /// Whether no row is left.
    package var isComplete: Bool { rest.isEmpty }
}

extension DurableTable {
    /// Changes the work of a key, or of all keys in one step: that of ``DurableStore/flush(_:in:)`` and
    /// ``DurableStore/cancel(_:in:)``.
    ///
    /// - Returns: The number of keys that were flushed, or of submits that were cancelled.
    package mutating func change(
        _ change: DurableChange, _ key: [UInt8]?, in namespace: DurableNamespace, at now: CoreInstant
    ) throws(DurableError) -> Int {
        guard let key else {
            var sweep = try sweep(of: namespace, at: now)
            try self.change(change, &sweep, atMost: .max, in: namespace, at: now)
            return sweep.count
        }
        guard let old = try find(key, in: namespace) else { return 0 }
        return try self.change(change, old, in: namespace, at: now)
    }

    /// Begins a change of all keys.
    package mutating func sweep(
        of namespace: DurableNamespace, at now: CoreInstant
    ) throws(DurableError) -> DurableSweep {
        DurableSweep(rest: try handles(in: namespace)[...], began: now)
    }

    /// Goes on with a change of all keys.
    ///
    /// - Parameters:
    ///   - change: What is done, the same in each step.
    ///   - sweep: The rows that are left, and the count so far.
    ///   - limit: The most rows that are changed in this step.
    ///   - namespace: The namespace with which the change began.
    ///   - now: The instant of this step.
    package mutating func change(
        _ change: DurableChange, _ sweep: inout DurableSweep, atMost limit: Int, in namespace: DurableNamespace,
        at now: CoreInstant
    ) throws(DurableError) {
        for handle in sweep.rest.prefix(limit) {
            sweep.rest.removeFirst()
            // A handle may have been given to another row.
            guard let old = try entry(of: handle, in: namespace), old.row.hadWork(at: sweep.began) else { continue }
            sweep.count += try self.change(change, old, in: namespace, at: now)
        }
    }

    private mutating func change(
        _ change: DurableChange, _ old: DurableEntry, in namespace: DurableNamespace, at now: CoreInstant
    ) throws(DurableError) -> Int {
        var row = old.row
        var endings: [DurableEnding] = []
        let count = change.apply(to: &row, at: now, by: namespace.rules, &endings)
        try write(row, of: old.key, from: old, isWorkers: false, endings, at: now, in: namespace)
        return count
    }
}

extension DurableRow {
    /// Whether any of the work that a change concerns was there at an instant; true if there is none, but a gate.
    fileprivate func hadWork(at instant: CoreInstant) -> Bool {
        let firsts = [
            pending == nil ? nil : gate.first, ready?.first, run.flatMap { $0.isInBackoff ? $0.value.first : nil },
        ].compactMap(\.self)
        return firsts.isEmpty || firsts.contains { $0 <= instant }
    }
}
