internal import CLullCommand
internal import LullCore
internal import LullDurable

enum ExecutionResult {
    case returned
    /// Its command has failed, or cannot be started with these records.
    case failed(String)
    /// This machine could not start the command, for want of descriptors, processes or memory.
    case notStarted

    var ending: Ending {
        if case .returned = self { .returned } else { .threw }
    }
}

/// Carries out the executions of a session: `RecordWriter` writes their records, `CommandRunner` runs commands.
///
/// An execution begins in two steps: what takes as long as its values are large, in any thread, and the rest.
protocol ExecutionHandler: SendableMetatype {
    /// What the first step makes of an item.
    associatedtype Prepared: Sendable

    /// Whether executions go to the session's own standard output.
    var writesOutput: Bool { get }

    /// The first step, with the records as the handler gets them.
    var prepare: @Sendable (WorkItem, Batch<Record>) -> Prepared { get }

    /// The second step.
    ///
    /// - Parameter deadline: When it is too late to start a command, in nanoseconds since the boot of the machine.
    /// - Returns: How it ended, or nil if it goes on.
    mutating func start(
        _ prepared: Prepared, before deadline: Int64, at now: CoreInstant, _ streams: inout StandardStreams
    ) -> ExecutionResult?

    /// Gives up what the first step has made.
    func discard(_ prepared: Prepared)

    /// Asks a running execution to stop.
    mutating func stop(_ id: Int64, at now: CoreInstant)

    /// Ends the executions that have not started for want of something.
    mutating func startNothingMore()

    /// Does what is due, and returns the executions that have ended since the last call.
    mutating func advance(to now: CoreInstant, _ streams: inout StandardStreams) -> [(id: Int64, end: ExecutionResult)]

    /// Whether no work is left besides the executions that the engine or the store's worker knows of.
    var isIdle: Bool { get }

    /// When to call ``advance(to:_:)`` at the latest.
    var alarm: CoreInstant { get }

    /// Adds the descriptors of the running executions to those that the session polls.
    func addInterests(to interests: inout [pollfd], _ streams: StandardStreams)
    /// Handles the events that `poll` returned for those descriptors.
    mutating func handleEvents(_ events: ArraySlice<pollfd>, _ streams: inout StandardStreams)

    /// Why no further execution is possible, if so.
    var failure: Failure? { get }

    /// Kills everything that was started and has not ended.
    func killAll()
}

/// Defaults for a handler whose executions end as they start.
extension ExecutionHandler {
    var isIdle: Bool { true }
    var alarm: CoreInstant { .farFuture }
    func discard(_ prepared: Prepared) {}
    mutating func stop(_ id: Int64, at now: CoreInstant) {}
    mutating func startNothingMore() {}
    mutating func advance(to now: CoreInstant, _ streams: inout StandardStreams) -> [(id: Int64, end: ExecutionResult)]
    {
        []
    }
    func addInterests(to interests: inout [pollfd], _ streams: StandardStreams) {}
    mutating func handleEvents(_ events: ArraySlice<pollfd>, _ streams: inout StandardStreams) {}
    var failure: Failure? { nil }
    func killAll() {}
}

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

/// Carries out the executions of `lull filter`: writes their records to standard output.
struct RecordWriter: ExecutionHandler {
    let format: CommandOptions.Format
    let terminator: UInt8
    let keyRule: KeyRule
    var writesOutput: Bool { true }

    init(_ options: CommandOptions) {
        format = options.format ?? .lines
        terminator = options.terminator
        keyRule = options.keyRule
    }

    var prepare: @Sendable (WorkItem, Batch<Record>) -> [UInt8] { text }

    @Sendable private func text(of item: WorkItem, _ batch: Batch<Record>) -> [UInt8] {
        var text: [UInt8] = []
        guard format == .jsonl else {
            text.reserveCapacity(batch.earlier.reduce(batch.value.count + 1) { $0 + $1.count + 1 })
            for record in batch.earlier { append(record, to: &text) }
            append(batch.value, to: &text)
            return text
        }
        var members: [UInt8] = []
        members.reserveCapacity(item.key.bytes.count + batch.value.count + 16)
        keyRule.append(item.key, to: &members)
        let key = members.indices
        if item.combining == .mergeJSON {
            batch.value.withUnsafeBufferPointer { JSONText.append(json: $0, to: &members) }
        } else {
            JSONText.append(batch.value, to: &members)
        }
        ExecutionLine(due: item.due).append(
            key: members[key], earlier: batch.earlier.map(JSONText.json), value: members[key.endIndex...],
            isCollecting: item.combining == .collect, to: &text)
        return text
    }

    private func append(_ record: Record, to text: inout [UInt8]) {
        text.append(contentsOf: record)
        text.append(terminator)
    }

    mutating func start(
        _ prepared: [UInt8], before deadline: Int64, at now: CoreInstant, _ streams: inout StandardStreams
    ) -> ExecutionResult? {
        streams.output.bytes += prepared
        return .returned
    }
}
