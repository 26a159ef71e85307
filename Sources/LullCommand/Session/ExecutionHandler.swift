internal import CLullCommand
internal import LullCore

/// How an execution has ended.
enum ExecutionEnd {
    case returned
    /// Its command has failed, or cannot be started with these records.
    case failed(String)
    /// This machine could not start the command, for want of descriptors, processes or memory.
    case notStarted

    /// The end as the engine takes it.
    var ending: Ending {
        if case .returned = self { .returned } else { .threw }
    }
}

/// Carries out the executions of a session: `RecordWriter` writes their records, `CommandRunner` runs commands.
protocol ExecutionHandler {
    /// Whether executions go to the session's own standard output.
    var writesOutput: Bool { get }

    /// Starts an execution.
    ///
    /// - Returns: How it ended, or nil if it goes on.
    mutating func start(_ item: WorkItem, _ streams: inout StandardStreams) -> ExecutionEnd?

    /// Asks a running execution to stop.
    mutating func stop(_ id: Int64, at now: CoreInstant)

    /// Returns the executions that have ended since the last call.
    mutating func reap(_ streams: inout StandardStreams) -> [(id: Int64, end: ExecutionEnd)]

    /// Whether no work is left besides the executions that the engine or the store's worker knows of.
    var isIdle: Bool { get }

    /// When to call ``wake(at:)`` next.
    var alarm: CoreInstant { get }
    mutating func wake(at now: CoreInstant)

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
    mutating func stop(_ id: Int64, at now: CoreInstant) {}
    mutating func reap(_ streams: inout StandardStreams) -> [(id: Int64, end: ExecutionEnd)] { [] }
    mutating func wake(at now: CoreInstant) {}
    func addInterests(to interests: inout [pollfd], _ streams: StandardStreams) {}
    mutating func handleEvents(_ events: ArraySlice<pollfd>, _ streams: inout StandardStreams) {}
    var failure: Failure? { nil }
    func killAll() {}
}
