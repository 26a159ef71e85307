internal import LullCore
package import LullDurable

// Deleting a namespace: in steps, between which other processes write, since its ends may be millions. It disappears in the last one.

extension SQLiteTransaction {
    /// The most rows of a table that a step deletes.
    private static let forgottenRows = 5000

    /// Deletes some of a namespace that has no work, and at the end the namespace itself.
    ///
    /// - Returns: Whether nothing is left of it.
    package mutating func forgetSome(of name: String) throws(DurableError) -> Bool {
        let namespace = try namespace(name)
        // Work may have come since the last step.
        let status = try status(of: namespace)
        if status.hasWork { throw .hasWork(status) }
        // Keys without work whose gates are not idle.
        let statement = try connection[.someRows]
        statement.bind(":namespace", namespace.id)
        statement.bind(":limit", Self.forgottenRows)
        let rest = try entries(statement)
        for entry in rest {
            base = max(base, entry.row.generation)
            try delete(entry, in: namespace)
        }
        if rest.count == Self.forgottenRows { return false }
        for query in [Query.forgetEndsOfNamespace, .forgetTokensOfNamespace, .forgetValuesOfNamespace] {
            if try run(query, on: namespace, limit: Self.forgottenRows) == Self.forgottenRows { return false }
        }
        for query in [
            Query.forgetSpentOfNamespace, .forgetTallyOfNamespace, .forgetWorkersOfNamespace, .forgetNamespace,
        ] {
            try run(query, on: namespace)
        }
        tallies = tallies.filter { $0.key.namespace != namespace.id }
        forgetCachedNamespaces()
        return true
    }

    /// - Returns: The number of rows deleted.
    @discardableResult
    private func run(_ query: Query, on namespace: DurableNamespace, limit: Int? = nil) throws(DurableError) -> Int {
        let statement = try connection[query]
        statement.bind(":namespace", namespace.id)
        if let limit { statement.bind(":limit", limit) }
        let before = connection.rowsWritten
        try statement.run()
        return Int(connection.rowsWritten &- before)
    }
}
