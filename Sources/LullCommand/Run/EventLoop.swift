internal import CLullCommand
internal import LullCore

/// The event loop of a session: one thread that waits in one place, `poll`.
///
/// It reads, takes signals, and collects executions that have ended; what that means is for the session to decide. It
/// reads nothing while output or messages wait to be written. That happens in other threads, as does what takes as long
/// as a value is large: the loop never waits but in `poll`.
///
/// From the first signal that ends the program on, nobody who reads no messages keeps it from its end.
struct EventLoop<Handler: ExecutionHandler>: ~Copyable {
    enum Event {
        /// A signal asks for the counters.
        case asksForStatistics
        /// The first signal has come that ends the program.
        case asksToEnd
        /// Another one has: the session ends the program with ``EventLoop/end(by:)``.
        case insists(signal: Int32)
        /// No further execution is possible.
        case failed
        case ended([(id: Int64, end: ExecutionResult)])
        /// An execution can begin: see ``EventLoop/start(_:before:)``.
        case prepared(PreparedExecution)
        /// The instant may have come for which the session waits.
        case woke
        /// The worker of the session has decided on something.
        case workerDecided
        /// More of the input is in memory.
        case records
        case inputEnded
        /// A part of the output was written.
        case written
        /// The reader of the output has gone, or it cannot be written: what was not is dropped.
        case outputClosed
    }

    let options: CommandOptions
    let clock: MonotonicClock
    var handler: Handler
    var input: RecordInput
    var streams: StandardStreams
    /// The signal to end by when everything is done.
    private(set) var endingSignal: Int32?
    var hasFailed = false

    private let signals: Signals
    private var timer: WakeUpTimer
    /// Woken by the threads in the background.
    private let waker: Waker
    private let background: BackgroundQueue<PreparedExecution>
    /// The executions that are being prepared in the background, and whether they are to begin.
    private var isWanted: [Int64: Bool] = [:]
    /// After a signal that ends the program: until when which bytes have to be written.
    private var patience: (end: CoreInstant, progress: [Int])?

    /// How long nobody may read before the output that can be given up is.
    private static var longestPause: CoreDuration { .seconds(1) }

    init(_ options: CommandOptions, _ handler: Handler) throws(Failure) {
        let signals = try Signals()
        let clock = MonotonicClock()
        let timer = try WakeUpTimer(clock)
        let waker = try Waker()
        input = try RecordInput(options)
        self.options = options
        self.handler = handler
        self.signals = signals
        self.clock = clock
        self.timer = timer
        self.waker = waker
        streams = StandardStreams(waker)
        background = BackgroundQueue(waker)
    }

    /// - Parameters:
    ///   - isReading: Whether the session takes records.
    ///   - worker: The descriptor that is readable when a worker has decided on something, or -1.
    ///   - instant: When to return at the latest.
    /// - Returns: The events, in the order in which they are to be handled, and the instant at which they happened.
    mutating func wait(
        isReading: Bool, worker: Int32 = -1, until instant: CoreInstant
    ) -> (events: [Event], now: CoreInstant) {
        streams.beginWriting()
        var polled = PolledDescriptors(
            signals: signals, timer: timer.descriptor, input: isReading ? input.reader.descriptor : -1, worker: worker,
            background: waker.descriptor, streams, watchesOutput: handler.writesOutput)
        handler.addInterests(to: &polled.entries, streams)
        let timeout = timer.set(to: min(instant, handler.alarm, patience?.end ?? .farFuture))
        guard polled.wait(timeout: timeout) else { return ([], clock.now) }

        let now = clock.now
        var events: [Event] = []
        if polled.has(.timer) { timer.acknowledge() }
        let insisting = polled.has(.signals) ? takeSignals(&events, at: now) : nil
        if handler.alarm <= now || polled.executions.contains(where: { $0.revents != 0 }) {
            collectEnds(polled.executions, &events, at: now)
        }
        // After the ends of commands, so that they are recorded.
        if let insisting { events.append(.insists(signal: insisting)) }
        events.append(.woke)
        if polled.has(.worker) { events.append(.workerDecided) }
        if polled.has(.input) { fill(&events) }
        if polled.has(.background) {
            waker.acknowledge()
            takeWritten(&events)
            takePrepared(&events)
        }
        if polled.has(.output) { closeOutput(&events) }
        if let patience, patience.end <= now { giveUpUnread(&events, at: now) }
        return (events, now)
    }

    /// Adds the first signal before the ends of commands, after which a worker would claim more.
    ///
    /// - Returns: A signal that comes after the first.
    private mutating func takeSignals(_ events: inout [Event], at now: CoreInstant) -> Int32? {
        var insisting: Int32?
        for number in signals.received() where number != SIGCHLD {
            if Signals.asksForStatistics(number) {
                events.append(.asksForStatistics)
            } else if endingSignal == nil {
                endingSignal = number
                beginPatience(at: now)
                events.append(.asksToEnd)
            } else {
                insisting = number
            }
        }
        return insisting
    }

    private mutating func collectEnds(
        _ executionEvents: ArraySlice<pollfd>, _ events: inout [Event], at now: CoreInstant
    ) {
        handler.handleEvents(executionEvents, &streams)
        let ended = handler.advance(to: now, &streams)
        if let failure = handler.failure, streams.status == ExitStatus.success {
            streams.fail(failure)
            events.append(.failed)
        }
        if !ended.isEmpty { events.append(.ended(ended)) }
    }

    private mutating func fill(_ events: inout [Event]) {
        do throws(Failure) {
            let goesOn = try input.reader.fill()
            events.append(.records)
            if !goesOn { events.append(.inputEnded) }
        } catch {
            streams.fail(error)
            events.append(.inputEnded)
        }
    }

    // MARK: - Output

    private mutating func takeWritten(_ events: inout [Event]) {
        do throws(Failure) {
            switch try streams.output.takeResult() {
            case .written?: events.append(.written)
            case .closed?: closeOutput(&events)
            case nil: break
            }
        } catch {
            streams.fail(error)
            closeOutput(&events)
        }
        do throws(Failure) {
            if case .closed? = try streams.log.takeResult() { streams.log.giveUp() }
        } catch {
            // No other stream could report it. The next message may find room on the disk.
        }
    }

    private mutating func closeOutput(_ events: inout [Event]) {
        streams.output.giveUp()
        events.append(.outputClosed)
    }

    private var progress: [Int] { [streams.output.progress, streams.log.progress] }

    private mutating func beginPatience(at now: CoreInstant) {
        patience = (now.advanced(by: Self.longestPause), progress)
    }

    /// Gives up messages of which nothing was read for a while. The same becomes of records that are safe in a store;
    /// those in memory are nowhere else, and wait for their reader.
    private mutating func giveUpUnread(_ events: inout [Event], at now: CoreInstant) {
        guard let before = patience?.progress else { return }
        beginPatience(at: now)
        if progress[1] == before[1], !streams.log.isEmpty { streams.log.giveUp() }
        if options.store != nil, progress[0] == before[0], !streams.output.isEmpty { closeOutput(&events) }
    }

    // MARK: - Executions

    /// An execution whose first step is done.
    struct PreparedExecution: Sendable {
        let id: Int64
        /// Nil if it is no longer wanted.
        fileprivate(set) var result: Result<Handler.Prepared, JSONScanner.Fault>?
    }

    /// Does the first step of an execution.
    ///
    /// - Returns: Nil if that takes time. An event follows.
    mutating func prepare(_ item: WorkItem) -> PreparedExecution? {
        let prepare: @Sendable () -> PreparedExecution = { [prepare = handler.prepare] in
            do throws(JSONScanner.Fault) {
                return PreparedExecution(id: item.id, result: .success(prepare(item, try item.records())))
            } catch {
                return PreparedExecution(id: item.id, result: .failure(error))
            }
        }
        if item.isSmall { return prepare() }
        isWanted[item.id] = true
        background.begin(item.id, prepare)
        return nil
    }

    private mutating func takePrepared(_ events: inout [Event]) {
        for var execution in background.takeAnswers().map(\.answer) {
            if isWanted.removeValue(forKey: execution.id) == false {
                discard(execution)
                execution.result = nil
            }
            events.append(.prepared(execution))
        }
    }

    func discard(_ execution: PreparedExecution) {
        if case .success(let prepared)? = execution.result { handler.discard(prepared) }
    }

    /// Does the second step of an execution.
    ///
    /// - Parameter deadline: When it is too late to do so, by the loop's clock.
    /// - Returns: How it ended, or nil if it goes on.
    mutating func start(_ execution: PreparedExecution, before deadline: CoreInstant = .farFuture) -> ExecutionResult? {
        switch execution.result {
        case .success(let prepared)?:
            let deadline = deadline.advanced(by: CoreDuration(nanoseconds: clock.origin)).nanoseconds
            return handler.start(prepared, before: deadline, at: clock.now, &streams)
        case .failure(let fault)?: return .failed(fault.ofValue)
        case nil: return .failed("it was stopped before it began")
        }
    }

    /// Asks an execution to stop.
    mutating func stop(_ id: Int64, at now: CoreInstant) {
        if isWanted[id] != nil { isWanted[id] = false } else { handler.stop(id, at: now) }
    }

    // MARK: - The end

    /// Takes signals that have come together with the end of the work.
    mutating func takeLateSignals() {
        let more = signals.received().filter(Signals.isEnding)
        if let first = more.first, endingSignal != nil || more.count > 1 { end(by: first) }
        guard endingSignal == nil, let first = more.first else { return }
        endingSignal = first
        beginPatience(at: clock.now)
    }

    /// Writes the remaining output and messages, and waits until that is done. A second signal ends the program
    /// nevertheless.
    ///
    /// - Returns: Whether it was asked for counters meanwhile: then it is not done.
    mutating func drain() -> Bool {
        while !streams.areEmpty {
            var isAsked = false
            for event in wait(isReading: false, until: .farFuture).events {
                switch event {
                case .insists(let signal): end(by: signal)
                case .asksForStatistics: isAsked = true
                default: break
                }
            }
            if isAsked { return true }
        }
        return false
    }

    /// Ends the program at once.
    func end(by signal: Int32) -> Never {
        handler.killAll()
        Signals.end(by: signal)
    }

    /// Kills what commands have left behind.
    ///
    /// - Returns: The exit status. Does not return if a signal has ended the session.
    func end() -> Int32 {
        handler.killAll()
        if let endingSignal { Signals.end(by: endingSignal) }
        return streams.exitStatus(executionFailed: hasFailed)
    }
}

/// The descriptors that a session polls, and the events that `poll` has returned for them.
struct PolledDescriptors {
    /// The session's own descriptors, in their order. Those of running executions follow.
    enum Place: Int, CaseIterable {
        case signals, timer, input, worker, background, output
    }

    var entries: [pollfd]

    /// - Parameters:
    ///   - input: The descriptor to read, or -1. It is not polled while output or messages wait to be written.
    ///   - worker: The descriptor that is readable when a worker has decided on something, or -1.
    ///   - background: The descriptor that is readable when something in the background has ended.
    ///   - watchesOutput: Whether to report that the reader of the output has closed its end. A write notices it, too.
    init(
        signals: Signals, timer: Int32, input: Int32, worker: Int32, background: Int32, _ streams: StandardStreams,
        watchesOutput: Bool
    ) {
        let isWatched = watchesOutput && streams.output.isEmpty && !streams.output.isGivenUp
        entries = [
            pollfd(descriptor: signals.descriptor, Int32(POLLIN)),
            pollfd(descriptor: timer, Int32(POLLIN)),
            pollfd(descriptor: streams.areEmpty ? input : -1, Int32(POLLIN)),
            pollfd(descriptor: worker, Int32(POLLIN)),
            pollfd(descriptor: background, Int32(POLLIN)),
            pollfd(hangUpOf: isWatched ? streams.output.descriptor : -1),
        ]
    }

    /// - Parameter timeout: In milliseconds; -1 for none.
    /// - Returns: False if a signal has interrupted the wait.
    mutating func wait(timeout: Int32) -> Bool {
        poll(&entries, nfds_t(entries.count), timeout) >= 0
    }

    func has(_ place: Place) -> Bool { entries[place.rawValue].revents != 0 }

    var executions: ArraySlice<pollfd> { entries[Place.allCases.count...] }
}

extension pollfd {
    init(descriptor: Int32, _ events: Int32) {
        self.init(fd: descriptor, events: Int16(events), revents: 0)
    }

    /// Creates an entry that only reports that the reader of a descriptor has gone.
    ///
    /// Linux reports that of every descriptor, whatever is asked for. Apple's systems do so only if it is asked for,
    /// and then they also wake up for what could be read: on a terminal, always, when somebody has typed. So they are
    /// asked for pipes only, whose writing ends have nothing to read.
    init(hangUpOf descriptor: Int32) {
        #if canImport(Darwin)
            let isWatched = lull_is_pipe(descriptor) != 0
        #else
            let isWatched = true
        #endif
        self.init(descriptor: isWatched ? descriptor : -1, Int32(POLLHUP))
    }
}
