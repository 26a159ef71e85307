internal import LullCore
package import LullDurable

// What the command line asks beyond the calls of a store.

extension SQLiteTransaction {
    /// The rules of a namespace; nil if it has never been opened.
    package func rules(of name: String) throws(DurableError) -> DurableRules? {
        try table.connection.namespace(named: name)?.rules
    }

    /// A page of the keys that are not at rest, from one on, in the order of their bytes: a listing need not hold all.
    package mutating func list(
        in name: String, from start: [UInt8], limit: Int
    ) throws(DurableError) -> [DurableListing<[UInt8]>] {
        try table.list(prefix: [], from: start, limit: limit, in: try namespace(name))
    }
}
