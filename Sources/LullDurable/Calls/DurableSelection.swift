package import LullCore

/// Some of the keys, or of the dead runs, of a namespace: those that meet every condition. For calls on many of them at
/// once.
///
/// ```swift
/// try await sync.flush(matching: DurableSelection(prefix: "customer-7/"))
/// let retries = try await sync.retry(matching: DurableSelection(error: "503"))
/// ```
public struct DurableSelection: Hashable, Sendable {
    /// The bytes with which a key begins; none for all keys. Strings are UTF-8, numbers decimal digits.
    public var prefix: [UInt8]
    /// How old it is at least; nil for any age. Of a key, the oldest submit counts whose value no worker has; of a dead
    /// run, its death.
    public var age: Duration?
    /// A part of the latest error, compared byte by byte; nil for any error or none. A key has one while its run waits
    /// for another attempt.
    public var error: String?

    /// Creates a selection.
    ///
    /// - Parameters:
    ///   - prefix: The beginning of keys; empty for all keys.
    ///   - age: How old it is at least; nil for any age.
    ///   - error: A part of the latest error; nil for any error or none.
    public init(prefix: String = "", olderThan age: Duration? = nil, error: String? = nil) {
        self.init(prefix: Array(prefix.utf8), olderThan: age, error: error)
    }

    package init(prefix: [UInt8], olderThan age: Duration?, error: String?) {
        self.prefix = prefix
        self.age = age.map { max(.zero, $0) }
        self.error = error?.withoutZeros
    }

    /// Everything.
    public static let all = DurableSelection()
}

extension DurableSelection {
    /// How much a selection has: the answer of ``DurableCoalescer/count(matching:)``.
    public struct Count: Hashable, Sendable {
        /// The number of keys that a flush of the selection would change.
        public var flushable = 0
        /// The number of keys of which a cancel of the selection would discard anything.
        public var cancellable = 0
        /// The number of dead runs.
        public var dead = 0

        /// Creates the count of nothing.
        package init() {}
    }
}

extension DurableSelection {
    /// How many dead runs are retried or discarded in one call of a store.
    package static let step = 100

    /// Whether it is all that there is under a prefix.
    package var isPrefixAlone: Bool { age == nil && error == nil }

    /// Returns whether a key meets the conditions.
    package func includes(
        _ key: [UInt8], _ row: DurableRow, at now: CoreInstant, by rules: DurableRules
    ) -> Bool {
        guard key.starts(with: prefix) else { return false }
        if isPrefixAlone { return true }
        var row = row
        var ended: [EndedSubmits] = []
        row.settle(at: now, by: rules, &ended)
        let waiting = row.run.flatMap { $0.isInBackoff ? $0 : nil }
        if let error {
            guard let text = waiting?.error, text.contains(error.utf8) else { return false }
        }
        guard let age else { return true }
        let firsts = [row.pending == nil ? nil : row.gate.first, row.ready?.first, waiting?.value.first]
        guard let first = firsts.compactMap({ $0 }).min() else { return false }
        return first.advanced(by: CoreDuration(age)) <= now
    }

    /// Returns whether a dead run meets the conditions.
    package func includes(deadRunOf key: [UInt8], _ error: [UInt8]?, diedAt at: CoreInstant, at now: CoreInstant)
        -> Bool
    {
        guard key.starts(with: prefix), age.map({ at.advanced(by: CoreDuration($0)) <= now }) ?? true else {
            return false
        }
        guard let part = self.error else { return true }
        return error?.contains(part.utf8) ?? false
    }
}

extension DurableSelection.Count {
    /// Counts a key that meets the conditions.
    package mutating func add(_ row: DurableRow, at now: CoreInstant, by rules: DurableRules) {
        func changes(_ change: DurableChange) -> Bool {
            var row = row
            var ended: [EndedSubmits] = []
            return change.apply(to: &row, at: now, by: rules, &ended) > 0
        }
        if changes(.flush) { flushable += 1 }
        if changes(.cancel) { cancellable += 1 }
    }
}

extension [UInt8] {
    /// Whether a text is a part of these bytes.
    fileprivate func contains(_ part: String.UTF8View) -> Bool {
        part.count <= count && (0...count - part.count).contains { self[$0...].starts(with: part) }
    }
}
