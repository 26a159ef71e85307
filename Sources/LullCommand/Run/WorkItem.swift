internal import LullCore
internal import LullDurable
internal import LullEngine

/// A record as the engine keeps it: without its terminator.
typealias Record = [UInt8]

/// One execution for a session to carry out, whether the engine or a store decided it.
struct WorkItem: Sendable {
    /// Identifies the execution among those that run.
    let id: Int64
    let key: Key
    /// The records as they were submitted.
    private let batch: Batch<Record>
    let combining: CombineRule
    let due: Gate.Due
    /// For a run from a store: the number of the attempt, its fence, and the context of its last value.
    var attempt: Int?
    var fence: Int64?
    var context: String?

    /// Creates an item for an execution that the engine starts.
    init(_ execution: Execution<Key, Record>, _ combining: CombineRule) {
        id = Int64(execution.run.serial)
        key = execution.key
        batch = execution.batch
        self.combining = combining
        due = execution.due
    }

    /// Creates an item for a run that was claimed from a store.
    ///
    /// - Parameter offset: The reading of the session's clock at the origin of the store's time.
    init(_ run: DurableRun, offset: CoreDuration, _ combining: CombineRule) {
        id = run.number
        key = Key(bytes: run.key)
        var batch = Batch(run.values.last ?? [])
        batch.earlier = Array(run.values.dropLast())
        self.batch = batch
        self.combining = combining
        due = Gate.Due(
            at: run.due.advanced(by: offset), cause: run.cause, count: run.count, first: run.first.advanced(by: offset))
        attempt = run.attempt
        fence = run.fence
        context = run.context
    }

    /// Returns the records as a handler gets them: folded into one with `merge-json`.
    func records() throws(JSONScanner.Fault) -> Batch<Record> {
        combining == .mergeJSON ? Batch(try JSONMergePatch.fold(batch.values)) : batch
    }

    /// Whether it is quickly prepared: in less time than another thread needs to begin.
    var isSmall: Bool {
        batch.size <= 64 && batch.earlier.reduce(batch.value.count) { $0 + $1.count } <= 1 << 16
    }
}

extension Execution {
    var due: Gate.Due { Gate.Due(at: at, cause: cause, count: count, first: first) }
}
