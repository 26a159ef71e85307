internal import LullCore
internal import LullDurable

/// A record as the engine keeps it: without its terminator.
typealias Record = [UInt8]

/// One execution for a session to carry out, whether the engine or a store decided it.
struct WorkItem {
    /// Identifies the execution among those that run.
    let id: Int64
    let key: Key
    /// The record, or with `collect` all of them.
    let batch: Batch<Record>
    /// Whether output shows the records as an array, even a single one: with `collect`.
    let isCollecting: Bool
    /// The number of records behind it.
    let count: Int
    let edge: Edge
    /// When it was due, and the instant of the first record behind it.
    let at: CoreInstant
    let first: CoreInstant
    /// For a run from a store: the number of the attempt, and its fence.
    var attempt: Int?
    var fence: Int64?

    /// Creates an item for an execution that the engine starts.
    init(_ execution: Execution<Key, Record>, isCollecting: Bool) {
        id = Int64(execution.run.serial)
        key = execution.key
        batch = execution.batch
        self.isCollecting = isCollecting
        count = execution.count
        edge = execution.edge
        at = execution.at
        first = execution.first
    }

    /// Creates an item for a run that was claimed from a store.
    ///
    /// - Parameter offset: The reading of the session's clock at the origin of the store's time.
    init(_ run: DurableRun, offset: CoreDuration, isCollecting: Bool) {
        id = run.id
        key = Key(bytes: run.key)
        var batch = Batch(run.values.last ?? [])
        batch.earlier = Array(run.values.dropLast())
        self.batch = batch
        self.isCollecting = isCollecting
        count = run.count
        edge = run.edge
        at = run.due.advanced(by: offset)
        first = run.first.advanced(by: offset)
        attempt = run.attempt
        fence = run.fence
    }
}
