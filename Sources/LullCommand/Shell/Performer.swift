internal import CLullCommand
internal import LullCore
internal import LullDurable

/// What the engine keeps for a submit: the record, without its terminator.
typealias Record = [UInt8]

/// One execution as a session does it, wherever it was decided.
struct Job {
    /// Tells it apart from others that run.
    let id: Int64
    let key: Key
    /// The record, or with `collect` all of them.
    let batch: Batch<Record>
    /// The number of records behind it.
    let count: Int
    let edge: Edge
    /// When it was due, and the instant of the first record behind it.
    let at: CoreInstant
    let first: CoreInstant
    /// Which attempt this is at a run that a store keeps, and the fence under which it is made.
    var attempt: Int?
    var fence: Int64?

    /// An execution that the engine asks for.
    init(_ execution: Execution<Key, Record>) {
        id = Int64(execution.run.serial)
        key = execution.key
        batch = execution.batch
        count = execution.count
        edge = execution.edge
        at = execution.at
        first = execution.first
    }

    /// A run that a store has handed out.
    ///
    /// - Parameter offset: What the session's clock shows at the origin of the store's time.
    init(_ run: DurableRun, offset: CoreDuration) {
        id = run.id
        key = Key(bytes: run.key)
        var batch = Batch(run.values.last ?? [])
        batch.earlier = Array(run.values.dropLast())
        self.batch = batch
        count = run.count
        edge = run.edge
        at = run.due.advanced(by: offset)
        first = run.first.advanced(by: offset)
        attempt = run.attempt
        fence = run.fence
    }
}

/// Where a session writes.
struct Streams {
    var output = Outlet(STDOUT_FILENO)
    /// Messages.
    var log = Outlet(STDERR_FILENO)
    /// Messages of which only the count matters after the first.
    private var repeats = Repeats()
    /// The records that were skipped.
    private(set) var skipped = 0

    /// Says that a record is skipped, or why it ends the input.
    ///
    /// - Parameter kind: The reason as far as other records share it; nil if that is all of it.
    mutating func refuse(_ line: Int, _ why: String, kind: String? = nil, isStrict: Bool, at now: CoreInstant) {
        skipped += 1
        guard !isStrict else { return log.report("line \(line): \(why)") }
        report("line \(line) skipped: \(why)", of: "records skipped: \(kind ?? why)", at: now)
    }

    /// Says something that may be said very often: of its kind once, then only how often it was.
    mutating func report(_ message: @autoclosure () -> String, of kind: String, at now: CoreInstant) {
        repeats.report(message(), of: kind, at: now, to: &log)
    }

    /// Tells how often what was not told has happened.
    mutating func tellCounts() {
        repeats.tellCounts(to: &log)
    }

    var areEmpty: Bool { output.isEmpty && log.isEmpty }

    /// Writes some of the output, when `poll` has said that there are these events at it.
    mutating func writeOutput(_ events: Int16) throws(Failure) -> Outlet.Written {
        guard output.isEmpty else { return try output.write() }
        return Int32(events) & Int32(POLLERR | POLLHUP) != 0 ? .closed : .some
    }

    /// Writes some of the messages. If they cannot be written, there is no place to say so.
    mutating func writeLog() {
        do {
            if case .closed = try log.write() { log.clear() }
        } catch {
            log.clear()
        }
    }

    /// What a session polls for, in this order: signals, its alarm, its input, the output, the messages.
    ///
    /// - Parameters:
    ///   - input: Where it reads, or -1; nothing is read while something waits to be written.
    ///   - watchesOutput: Whether it wants to know when nobody reads the output any more.
    func interests(signals: Int32, alarm: Int32, input: Int32, watchesOutput: Bool) -> [pollfd] {
        let isWriting = !output.isEmpty
        return [
            pollfd(descriptor: signals, Int32(POLLIN)),
            pollfd(descriptor: alarm, Int32(POLLIN)),
            pollfd(descriptor: areEmpty ? input : -1, Int32(POLLIN)),
            pollfd(descriptor: watchesOutput || isWriting ? output.descriptor : -1, isWriting ? Int32(POLLOUT) : 0),
            pollfd(descriptor: log.isEmpty ? -1 : log.descriptor, Int32(POLLOUT)),
        ]
    }
}

/// What a session does with an execution: write it, or run a command.
protocol Performer {
    /// Whether executions are written to standard output by the session itself.
    var writesOutput: Bool { get }

    /// Begins an execution, and says how it ended if it is over already.
    mutating func start(_ job: Job, _ streams: inout Streams) -> Ending?

    /// Tells a running execution to stop.
    mutating func stop(_ job: Int64, at now: CoreInstant)

    /// Hands over the executions that have ended since it was last asked, with what went wrong.
    mutating func reap(_ streams: inout Streams) -> [(job: Int64, error: String?)]

    /// Whether nothing is left to do, beyond the executions that the engine knows of.
    var isAtRest: Bool { get }

    /// When ``wake(at:)`` is to be called next.
    var alarm: CoreInstant { get }
    mutating func wake(at now: CoreInstant)

    /// Adds the descriptors that matter to the running executions.
    func addInterests(to interests: inout [pollfd], _ streams: Streams)
    /// Does what can be done at those descriptors.
    mutating func attend(_ ready: ArraySlice<pollfd>, _ streams: inout Streams)

    /// Why nothing more can be executed.
    var failure: Failure? { get }

    /// Ends everything that was started and has not ended, at once.
    func kill()
}

/// Executions that are over when they have begun need nothing more.
extension Performer {
    var isAtRest: Bool { true }
    var alarm: CoreInstant { .farFuture }
    mutating func stop(_ job: Int64, at now: CoreInstant) {}
    mutating func reap(_ streams: inout Streams) -> [(job: Int64, error: String?)] { [] }
    mutating func wake(at now: CoreInstant) {}
    func addInterests(to interests: inout [pollfd], _ streams: Streams) {}
    mutating func attend(_ ready: ArraySlice<pollfd>, _ streams: inout Streams) {}
    var failure: Failure? { nil }
    func kill() {}
}
