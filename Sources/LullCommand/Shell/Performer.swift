internal import CLullSystem
internal import LullCore

/// What the engine keeps for a submit: the record, without its terminator.
typealias Record = [UInt8]

/// Where a session writes.
struct Streams {
    var output = Outlet(STDOUT_FILENO)
    /// Messages.
    var log = Outlet(STDERR_FILENO)

    var areEmpty: Bool { output.isEmpty && log.isEmpty }
}

/// What a session does with an execution: write it, or run a command.
protocol Performer {
    /// Whether executions are written to standard output by the session itself.
    var writesOutput: Bool { get }

    /// Begins an execution, and says how it ended if it is over already.
    mutating func start(_ execution: Execution<Key, Record>, _ streams: inout Streams) -> Ending?

    /// Tells a running execution to stop.
    mutating func stop(_ run: RunID, at now: CoreInstant)

    /// Hands over the executions that have ended since it was last asked.
    mutating func reap(_ streams: inout Streams) -> [(run: RunID, ending: Ending)]

    /// Whether nothing is left to do, beyond the executions that the engine knows of.
    var isAtRest: Bool { get }

    /// When ``wake(at:)`` is to be called next.
    var alarm: CoreInstant { get }
    mutating func wake(at now: CoreInstant)

    /// Adds the descriptors that matter to the running executions.
    func addInterests(to interests: inout [pollfd])
    /// Does what can be done at those descriptors.
    mutating func attend()

    /// Ends everything that is running, at once.
    func kill()
}

/// Executions that are over when they have begun need nothing more.
extension Performer {
    var isAtRest: Bool { true }
    var alarm: CoreInstant { .farFuture }
    mutating func stop(_ run: RunID, at now: CoreInstant) {}
    mutating func reap(_ streams: inout Streams) -> [(run: RunID, ending: Ending)] { [] }
    mutating func wake(at now: CoreInstant) {}
    func addInterests(to interests: inout [pollfd]) {}
    mutating func attend() {}
    func kill() {}
}
