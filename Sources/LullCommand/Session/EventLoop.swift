internal import CLullCommand
internal import LullCore

/// The event loop of a session: one thread that waits in one place, `poll`.
///
/// It reads and writes, takes signals, and collects executions that have ended; what that means is for the session to
/// decide. It reads nothing while output or messages wait to be written.
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
        case ended([(id: Int64, end: ExecutionEnd)])
        /// The instant may have come for which the session waits.
        case woke
        case storeChanged
        /// More of the input is in memory.
        case records
        case inputEnded
        /// A part of the output was written.
        case written
        /// The reader of the output has gone, or it cannot be written.
        case outputClosed
    }

    let options: CommandOptions
    let clock: MonotonicClock
    var handler: Handler
    var input: RecordInput
    var streams = StandardStreams()
    /// The signal to end by when everything is done.
    private(set) var endingSignal: Int32?
    var hasFailed = false

    private let signals: Signals
    private var alarm: Alarm

    init(_ options: CommandOptions, _ handler: Handler) throws(Failure) {
        let signals = try Signals()
        let clock = MonotonicClock()
        let alarm = try Alarm(clock)
        input = try RecordInput(options)
        self.options = options
        self.handler = handler
        self.signals = signals
        self.clock = clock
        self.alarm = alarm
    }

    /// - Parameters:
    ///   - isReading: Whether the session takes records.
    ///   - store: The descriptor that is readable when a store has changed, or -1.
    ///   - instant: When to return at the latest.
    /// - Returns: The events, in the order in which they are to be handled, and the instant at which they happened.
    mutating func wait(
        isReading: Bool, store: Int32 = -1, until instant: CoreInstant
    ) -> (events: [Event], now: CoreInstant) {
        var polled = PolledDescriptors(
            signals: signals, alarm: alarm.descriptor, input: isReading ? input.reader.descriptor : -1, store: store,
            streams,
            watchesOutput: handler.writesOutput)
        handler.addInterests(to: &polled.entries, streams)
        let timeout = alarm.set(to: min(instant, handler.alarm))
        guard polled.wait(timeout: timeout) else { return ([], clock.now) }

        let now = clock.now
        var events: [Event] = []
        if polled.has(.alarm) { alarm.acknowledge() }
        let insisting = polled.has(.signals) ? takeSignals(&events) : nil
        if handler.alarm <= now || polled.executions.contains(where: { $0.revents != 0 }) {
            collectEnds(polled.executions, &events, at: now)
        }
        // After the ends of commands, so that they are recorded.
        if let insisting { events.append(.insists(signal: insisting)) }
        events.append(.woke)
        if polled.has(.store) { events.append(.storeChanged) }
        if polled.has(.input) { fill(&events) }
        if polled.has(.output) { write(polled.events(.output), &events) }
        if polled.has(.log) { streams.writeLog() }
        return (events, now)
    }

    /// Adds the first signal before the ends of commands, after which a worker would claim more.
    ///
    /// - Returns: A signal that comes after the first.
    private mutating func takeSignals(_ events: inout [Event]) -> Int32? {
        var insisting: Int32?
        for number in signals.received() where number != SIGCHLD {
            if Signals.asksForStatistics(number) {
                events.append(.asksForStatistics)
            } else if endingSignal == nil {
                endingSignal = number
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

    private mutating func write(_ polled: Int16, _ events: inout [Event]) {
        do throws(Failure) {
            if case .closed = try streams.writeOutput(polled) { return events.append(.outputClosed) }
            events.append(.written)
        } catch {
            streams.fail(error)
            events.append(.outputClosed)
        }
    }

    // MARK: - The end

    /// Takes signals that have come together with the end of the work.
    mutating func takeLateSignals() {
        let more = signals.received().filter(Signals.isEnding)
        if let first = more.first, endingSignal != nil || more.count > 1 { end(by: first) }
        endingSignal = endingSignal ?? more.first
    }

    /// Writes the remaining output and messages, and blocks until that is done. A second signal ends the program
    /// nevertheless.
    mutating func drain() {
        while !streams.areEmpty {
            var polled = PolledDescriptors(signals: signals, streams)
            guard polled.wait(timeout: -1) else { continue }
            if polled.has(.signals) {
                for number in signals.received() where Signals.isEnding(number) {
                    if endingSignal != nil { end(by: number) }
                    endingSignal = number
                }
            }
            var events: [Event] = []
            if polled.has(.output) { write(polled.events(.output), &events) }
            if case .outputClosed? = events.first { streams.output.clear() }
            if polled.has(.log) { streams.writeLog() }
        }
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
        case signals, alarm, input, output, log, store
    }

    var entries: [pollfd]

    /// - Parameters:
    ///   - input: The descriptor to read, or -1. It is not polled while output or messages wait to be written.
    ///   - store: The descriptor that is readable when a store has changed, or -1.
    ///   - watchesOutput: Whether to report that the reader of the output has closed its end.
    init(
        signals: Signals, alarm: Int32 = -1, input: Int32 = -1, store: Int32 = -1, _ streams: StandardStreams,
        watchesOutput: Bool = false
    ) {
        entries = [
            pollfd(descriptor: signals.descriptor, Int32(POLLIN)),
            pollfd(descriptor: alarm, Int32(POLLIN)),
            pollfd(descriptor: streams.areEmpty ? input : -1, Int32(POLLIN)),
            streams.output.isEmpty
                ? pollfd(hangUpOf: watchesOutput ? streams.output.descriptor : -1)
                : pollfd(descriptor: streams.output.descriptor, Int32(POLLOUT)),
            pollfd(descriptor: streams.log.isEmpty ? -1 : streams.log.descriptor, Int32(POLLOUT)),
            pollfd(descriptor: store, Int32(POLLIN)),
        ]
    }

    /// - Parameter timeout: In milliseconds; -1 for none.
    /// - Returns: False if a signal has interrupted the wait.
    mutating func wait(timeout: Int32) -> Bool {
        poll(&entries, nfds_t(entries.count), timeout) >= 0
    }

    /// Returns the events of one of the session's own descriptors; 0 for none.
    func events(_ place: Place) -> Int16 { entries[place.rawValue].revents }

    func has(_ place: Place) -> Bool { events(place) != 0 }

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
