internal import CLullCommand
internal import LullCore
internal import LullDurable

enum ExecutionResult {
    case returned
    /// Its command has failed, or cannot be started with these records.
    case failed(String)
    /// Its command has said what is to become of its run, which a store has.
    case answered(HandlerEnd)
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
