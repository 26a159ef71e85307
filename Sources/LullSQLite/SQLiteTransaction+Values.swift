internal import LullCore
package import LullDurable

// The values of `collect`: each is a row of its own under the generation of its submit. A submit therefore costs the same however many
// values there are, and values that become due, are claimed or die are a range of rows that need not move.

extension DurableNamespace {
    /// Whether values are rows of their own.
    var collects: Bool { rules.combination == .collect }
}

extension SQLiteTransaction {
    /// The most values that are deleted when a range ends, and in each later transaction until none is left: a large range must
    /// not delay other writers.
    static let mostDeleted = 256

    /// Inserts the values of a batch that come from the caller.
    func insertValues(
        _ batch: Batch<DurablePayload>?, of key: [UInt8], in namespace: DurableNamespace
    ) throws(DurableError) {
        guard let batch else { return }
        for case .bytes(let value, let generation) in batch.values {
            let statement = try connection[.insertValue]
            statement.bind(":namespace", namespace.id)
            statement.bind(":key", blob: key)
            statement.bind(":generation", generation)
            statement.bind(":value", blob: value)
            try statement.run()
        }
    }

    /// Reads the values of a run.
    func values(
        of run: DurableRow.Ready, of key: [UInt8], in namespace: DurableNamespace
    ) throws(DurableError) -> [[UInt8]] {
        let statement = try range(.values, run.submits, of: key, namespace.id)
        defer { statement.reset() }
        var values: [[UInt8]] = []
        while try statement.next() { values.append(statement.blob(0)) }
        guard values.count == run.count else {
            throw connection.damage("\(values.count) values of \(run.count) submits")
        }
        return values
    }

    package mutating func generation(
        ofValue index: Int, in ready: DurableRow.Ready, of key: [UInt8], in namespace: DurableNamespace
    ) throws(DurableError) -> Int64? {
        let statement = try range(.generationOfValue, ready.submits, of: key, namespace.id)
        defer { statement.reset() }
        statement.bind(":index", index)
        guard try statement.next() else { throw connection.damage("fewer than \(ready.count) values that are ready") }
        return statement.integer(0)
    }

    package mutating func dropValues(
        of submits: ClosedRange<Int64>, of key: [UInt8], in namespace: DurableNamespace
    ) throws(DurableError) {
        if namespace.collects { _ = try deleteValues(submits, of: key, namespace.id, limit: -1) }
    }

    /// Deletes the values of a range that has ended: all, or some now and the rest in later transactions.
    func releaseValues(
        of submits: ClosedRange<Int64>, of key: [UInt8], in namespace: DurableNamespace
    ) throws(DurableError) {
        guard namespace.collects else { return }
        let deleted = try deleteValues(submits, of: key, namespace.id, limit: Self.mostDeleted)
        if deleted < Self.mostDeleted { return }
        try range(.insertSpent, submits, of: key, namespace.id).run()
    }

    /// Deletes some of the values that were too many for the step in which they ended (the ranges in `spent`).
    func deleteReleasedValues(atMost limit: Int = mostDeleted) throws(DurableError) {
        var left = limit
        while left > 0 {
            let spent = try connection[.spent]
            defer { spent.reset() }
            guard try spent.next() else { return }
            let (id, namespace, key) = (spent.integer(0), spent.integer(1), spent.blob(2))
            let submits = try spent.range(3, 4)
            spent.reset()
            let deleted = try deleteValues(submits, of: key, namespace, limit: left)
            if deleted == left { return }
            let statement = try connection[.deleteSpent]
            statement.bind(":id", id)
            try statement.run()
            left -= max(1, deleted)
        }
    }

    /// Deletes at most `limit` values of a range.
    ///
    /// - Returns: The number of values deleted.
    private func deleteValues(
        _ submits: ClosedRange<Int64>, of key: [UInt8], _ namespace: Int64, limit: Int
    ) throws(DurableError) -> Int {
        let statement = try range(.deleteValues, submits, of: key, namespace)
        statement.bind(":limit", limit)
        let before = connection.rowsWritten
        try statement.run()
        return Int(connection.rowsWritten &- before)
    }

    /// Returns a statement with its parameters for a range of a key's values bound.
    private func range(
        _ query: Query, _ submits: ClosedRange<Int64>, of key: [UInt8], _ namespace: Int64
    ) throws(DurableError) -> Statement {
        let statement = try connection[query]
        statement.bind(":namespace", namespace)
        statement.bind(":key", blob: key)
        statement.bind(":first", submits.lowerBound)
        statement.bind(":last", submits.upperBound)
        return statement
    }
}
