internal import Lull
internal import LullCore

/// What a server of rows does: it loads rows, and writes what steps have changed of them if they are still as they were
/// read. Everything happens on the thread of the store.
package protocol RowServer: AnyObject {
    /// Loads what a request names, into a table that was loaded before or a new one.
    func load(
        _ request: LoadRequest, into table: LoadedTable?, _ done: @escaping (Result<LoadedRows, DurableError>) -> Void)

    /// Writes changes in one atomic act, each if its key is as it was read and nobody else has taken it; and reads the
    /// values of runs behind it.
    func store(
        _ request: StoreRequest, _ done: @escaping (Result<StoredRows, DurableError>) -> Void)

    /// Calls a function after a pause.
    func delay(_ call: @escaping () -> Void)

    /// Ends a transaction in which nothing is written. What it has locked is free when `done` is called.
    func end(_ transaction: Int, _ done: @escaping () -> Void)
}

extension RowServer {
    package func end(_ transaction: Int, _ done: @escaping () -> Void) { done() }
}

/// Where a step is made: a shard of a namespace.
package struct ShardPlace: Hashable, Sendable {
    package var namespace: String
    package var shard: Int

    package init(_ namespace: String, _ shard: Int) { (self.namespace, self.shard) = (namespace, shard) }
}

package struct LoadRequest: Sendable {
    package var place: ShardPlace
    package var deadline: ContinuousClock.Instant
    /// The keys of the steps, some of them perhaps several times.
    package var keys: [[UInt8]] = []
    /// Rows, ends, tokens and dead runs; how many rows that are due.
    package var wanted: LoadedTable.Missing
    /// Whether the keys are taken for a moment, so that nobody else changes them.
    package var takes: Bool
    /// Whether it is a worker's, whose keys may be taken where that costs nothing.
    package var isWorkers = false
    /// The transaction in which other rows of the step were loaded.
    package var transaction: Int?
}

/// What was loaded.
package struct LoadedRows {
    package var table: LoadedTable
    /// The due keys that nobody else finds for a moment, and the keys that somebody else has taken.
    package var hidden: Set<[UInt8]> = []
    package var refused: Set<[UInt8]> = []
    /// The transaction of the server that has begun with this: until it is stored, or ended.
    package var transaction: Int?

    package init(_ table: LoadedTable) { self.table = table }
}

package struct StoreRequest {
    package var place: ShardPlace
    package var deadline: ContinuousClock.Instant
    package var changes: [LoadedKey]
    package var table: LoadedTable
    /// Whether it is a worker's, which may work where there is no room for more.
    package var isWorkers: Bool
    /// Whether the keys were taken.
    package var takes: Bool
    /// The transaction in which the rows were loaded.
    package var transaction: Int?
    /// At most so many runs workers may have before this, if that matters.
    package var mostLeases: Int?
    /// The values to be read.
    package var values: [(key: [UInt8], numbers: Range<Int64>)] = []
}

/// What was written.
package struct StoredRows: Sendable {
    /// Whether nothing was written, since the settings of the namespace have changed or others have claimed.
    package var isStale = false
    /// The keys of which nothing was written.
    package var conflicts: Set<[UInt8]> = []
    /// The values that were asked for.
    package var values: [[[UInt8]]] = []

    package init() {}
}
