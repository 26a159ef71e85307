internal import CLullCommand
internal import LullCore

/// The event loop of `lull filter` and `lull run` without a store: one thread that waits in one place, `poll`.
///
/// The engine makes all decisions. The loop reports to it each record and each end of an execution, at the instant at which it
/// happened, and carries out the actions that the engine returns. It reads nothing while output or messages wait to be written.
struct Session<Handler: ExecutionHandler>: ~Copyable {
    private let options: CommandOptions
    private let signals: Signals
    private let clock: MonotonicClock
    private var alarm: Alarm
    private var engine: Engine<Key, Record>
    /// Whether executions get all their records.
    private let isCollecting: Bool
    private var handler: Handler
    private var input: RecordInput
    private var streams = StandardStreams()

    private var isReading = true
    /// The signal to end by when everything is done.
    private var endingSignal: Int32?
    /// The executions that have started and not ended.
    private var running: [Int64: RunID] = [:]
    /// Whether an execution has failed.
    private var hasFailed = false

    init(_ options: CommandOptions, _ setup: Setup, _ handler: Handler) throws(Failure) {
        let signals = try Signals()
        let clock = MonotonicClock()
        let alarm = try Alarm(clock)
        input = try RecordInput(options)
        self.options = options
        self.signals = signals
        self.clock = clock
        self.alarm = alarm
        engine = Engine(setup)
        isCollecting = setup.combination == .collect
        self.handler = handler
    }

    /// Runs until the input has ended and all executions have.
    ///
    /// - Returns: The exit status. Does not return if a signal has ended the input.
    mutating func run() -> Int32 {
        while !isDone { iterate() }
        streams.reportCounts()
        if options.showsStatistics { reportStatistics() }
        while !streams.areEmpty { iterate() }
        // All commands have ended, but may have left processes behind.
        handler.killAll()
        if let endingSignal { Signals.end(by: endingSignal) }
        return streams.exitStatus(executionFailed: hasFailed)
    }

    private var isDone: Bool {
        !isReading && engine.counters.pending == 0 && engine.counters.running == 0 && handler.isIdle
    }

    // MARK: - The loop

    /// Waits for events and handles them.
    private mutating func iterate() {
        var polled = PolledDescriptors(
            signals: signals, alarm: alarm, input: isReading ? input.descriptor : -1, streams, handler)
        // Values that fall due while the output is blocked could not be written anyway.
        let timeout = alarm.set(to: min(streams.areEmpty ? engine.alarm : .farFuture, handler.alarm))
        guard polled.wait(timeout: timeout) else { return }

        let now = clock.now
        if let events = polled.executionEvents { handleExecutionEvents(events, at: now) }
        if polled.hasSignals { handleSignals(at: now) }
        if polled.alarmIsDue { alarm.acknowledge() }
        if handler.alarm <= now { handler.wake(at: now) }
        advance(to: now)
        if polled.hasInput { readRecords() }
        if polled.outputEvents != 0 { writeOutput(polled.outputEvents) }
        if polled.logIsWritable { streams.writeLog() }
    }

    private mutating func handleExecutionEvents(_ events: ArraySlice<pollfd>, at now: CoreInstant) {
        handler.handleEvents(events, &streams)
        let ended = handler.reap(&streams)
        if let failure = handler.failure, streams.status == ExitStatus.success {
            streams.fail(failure)
            drop(at: now)
        }
        for (id, end) in ended {
            guard let run = running.removeValue(forKey: id) else { continue }
            perform(self.end(run, end.ending, at: now), at: now)
        }
    }

    private mutating func handleSignals(at now: CoreInstant) {
        for number in signals.received() where number != SIGCHLD {
            if Signals.asksForStatistics(number) {
                reportStatistics()
            } else if endingSignal == nil {
                endingSignal = number
                input.finish()
                takeRecords(at: now)
                endInput(at: now)
            } else {
                handler.killAll()
                Signals.end(by: number)
            }
        }
    }

    /// Carries out what is due, in portions: a million keys due at once then need no memory for a million actions.
    private mutating func advance(to now: CoreInstant) {
        while engine.alarm <= now { perform(engine.advance(to: now, limit: 1024).more, at: now) }
    }

    // MARK: - Input

    private mutating func readRecords() {
        do {
            let filled = try input.fill()
            let now = clock.now
            takeRecords(at: now)
            if case .end = filled { endInput(at: now) }
        } catch {
            streams.fail(error)
            endInput(at: clock.now)
        }
    }

    private mutating func takeRecords(at now: CoreInstant) {
        reading: while isReading {
            switch input.next(at: now, &streams) {
            case .record(let record, let key, let wait): submit(record, key, wait: wait, at: now)
            case .bad: endInput(at: now)
            case .incomplete: break reading
            }
        }
        input.writeRecording(&streams)
    }

    private mutating func submit(_ record: ByteSlice, _ key: Key, wait: CoreDuration?, at now: CoreInstant) {
        advance(to: now)
        let actions = engine.submit(Array(record), for: key, at: now, wait: wait)
        if case .rejected = actions.fate {
            streams.refuse(
                input.line, "\(engine.setup.capacity) keys are in memory already", kind: "over --max-keys",
                isStrict: false, at: now)
        }
        if !actions.more.isEmpty { perform(actions.more, at: now) }
    }

    /// Ends the input, if it has not ended yet, and treats pending values as `--at-end` says.
    private mutating func endInput(at now: CoreInstant) {
        guard isReading else { return }
        switch options.atEnd ?? .flush {
        case .flush:
            isReading = false
            perform(engine.shutDown(flushing: true, at: now).more, at: now)
        case .drop: drop(at: now)
        // `keep` is refused without a store.
        case .wait, .keep: isReading = false
        }
    }

    /// Ends the input and drops pending values.
    private mutating func drop(at now: CoreInstant) {
        isReading = false
        perform(engine.shutDown(flushing: false, at: now).more, at: now)
    }

    // MARK: - Executions

    /// Carries out the engine's actions, and those that follow from them.
    private mutating func perform(_ actions: [Action<Key, Record>], at now: CoreInstant) {
        var actions = actions
        var next = 0
        while next < actions.count {
            switch actions[next] {
            case .start(let execution):
                if let ending = start(execution, at: now) { actions += end(execution.run, ending, at: now) }
            case .cancel(let run): handler.stop(Int64(run.serial), at: now)
            case .settle, .resume, .release: break
            }
            next += 1
        }
    }

    /// - Returns: How the execution ended, or nil if it goes on.
    private mutating func start(_ execution: Execution<Key, Record>, at now: CoreInstant) -> Ending? {
        if options.failsFast, hasFailed {
            // To the engine it has started; here it has not. It ends as cancelled.
            _ = engine.cancel(execution.key, running: true, at: now)
            return .threw
        }
        let ending = handler.start(WorkItem(execution, isCollecting: isCollecting), &streams)?.ending
        if ending == nil { running[Int64(execution.run.serial)] = execution.run }
        return ending
    }

    /// Reports the end of an execution to the engine.
    private mutating func end(_ run: RunID, _ ending: Ending, at now: CoreInstant) -> [Action<Key, Record>] {
        if ending == .threw, !engine.isCancelling(run) {
            hasFailed = true
            // Drop before the end of this execution makes room for the next one.
            if options.failsFast { drop(at: now) }
        }
        let (_, actions) = engine.ended(run, ending)
        return actions.more
    }

    // MARK: - Output

    private mutating func writeOutput(_ events: Int16) {
        do {
            if case .closed = try streams.writeOutput(events) { closeOutput() }
        } catch {
            streams.fail(error)
            closeOutput()
        }
    }

    /// Stops: the output was closed.
    private mutating func closeOutput() {
        drop(at: clock.now)
        streams.output.clear()
    }

    private mutating func reportStatistics() {
        streams.log.report("\(engine.counters.line), skipped \(streams.skipped)", isCut: false)
    }
}

extension Counters {
    /// All counters with their names, in one line.
    var line: String {
        "submitted \(submitted), executed \(executed), superseded \(superseded), absorbed \(absorbed), "
            + "cancelled \(cancelled), rejected \(rejected), failed \(failed), pending \(pending), running \(running)"
    }
}
