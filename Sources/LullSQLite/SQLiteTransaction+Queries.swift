internal import LullCore
package import LullDurable

// What the command line needs beyond the calls of a store.

extension SQLiteTransaction {
    /// Returns the names of all namespaces, in order.
    package func names() throws(DurableError) -> [String] {
        try table.connection.namespaces().map(\.name)
    }

    /// Returns the rules of a namespace; nil if it has never been opened.
    package func rules(of name: String) throws(DurableError) -> DurableRules? {
        try table.connection.namespace(named: name)?.rules
    }

    /// Returns the counts of one namespace.
    package mutating func status(of name: String) throws(DurableError) -> DurableStatus {
        try table.status(of: try namespace(name))
    }

    /// Returns a page of the keys that are not at rest, from `start` on, in the order of their bytes. A listing need not hold all keys.
    package mutating func list(
        in name: String, from start: [UInt8], limit: Int
    ) throws(DurableError) -> [DurableListing<[UInt8]>] {
        try table.list(prefix: [], from: start, limit: limit, in: try namespace(name))
    }
}
