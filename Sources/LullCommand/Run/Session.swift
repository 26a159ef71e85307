internal import CLullCommand
internal import LullCore
internal import LullEngine

/// The session of `lull filter` and `lull run` without a store.
///
/// The engine makes all decisions. The session reports to it each record and each end of an execution, at the instant
/// at which it happened, and carries out the actions that the engine returns.
struct Session<Handler: ExecutionHandler>: ~Copyable {
    private var loop: EventLoop<Handler>
    private var engine: Engine<Key, Record>

    private var isReading = true
    private var running: [Int64: Running] = [:]

    private struct Running {
        let run: RunID
        let key: Key
        /// Its records, if they may go back.
        let batch: Batch<Record>?
    }

    init(_ options: CommandOptions, _ setup: Setup, _ handler: Handler) throws(Failure) {
        loop = try EventLoop(options, handler)
        engine = Engine(setup)
    }

    /// Runs until the input has ended and all executions have.
    ///
    /// - Returns: The exit status. Does not return if a signal has ended the input.
    mutating func run() -> Int32 {
        while !isDone {
            // Values that fall due while the output is blocked could not be written anyway.
            let (events, now) = loop.wait(
                isReading: isReading, until: loop.streams.output.isEmpty ? engine.alarm : .farFuture)
            for event in events { handle(event, at: now) }
        }
        loop.streams.reportCounts()
        if loop.options.showsStatistics { reportStatistics() }
        while loop.drain() { reportStatistics() }
        return loop.end()
    }

    private var isDone: Bool {
        !isReading && engine.counters.pending == 0 && engine.counters.running == 0 && loop.handler.isIdle
    }

    private mutating func handle(_ event: EventLoop<Handler>.Event, at now: CoreInstant) {
        switch event {
        case .asksForStatistics: reportStatistics()
        case .asksToEnd:
            loop.input.reader.finish()
            takeRecords(at: now)
            endInput(at: now)
        case .insists(let signal): loop.end(by: signal)
        case .failed: drop(at: now)
        case .ended(let ended): for (id, end) in ended { self.ended(id, end, at: now) }
        case .prepared(let execution): start(execution, at: now)
        case .woke: advance(to: now)
        case .records: takeRecords(at: loop.clock.now)
        case .inputEnded: endInput(at: loop.clock.now)
        case .outputClosed: drop(at: loop.clock.now)
        case .written, .workerDecided: break
        }
    }

    /// Carries out what is due, in portions: a million keys due at once then need no memory for a million actions.
    private mutating func advance(to now: CoreInstant) {
        while engine.alarm <= now { perform(engine.advance(to: now, limit: 1024).more, at: now) }
    }

    // MARK: - Input

    private mutating func takeRecords(at now: CoreInstant) {
        reading: while isReading {
            switch loop.input.next(at: now, &loop.streams) {
            case .record(let record, let key, let wait): submit(record, key, wait: wait, at: now)
            case .bad: endInput(at: now)
            case .incomplete: break reading
            }
        }
        loop.input.writeRecording(&loop.streams)
    }

    private mutating func submit(_ record: ByteSlice, _ key: Key, wait: CoreDuration?, at now: CoreInstant) {
        advance(to: now)
        let actions = engine.submit(Array(record), for: key, at: now, wait: wait)
        if case .rejected = actions.fate {
            loop.streams.refuse(
                loop.input.reader.number, "\(engine.setup.capacity) keys are in memory already",
                kind: "over --max-keys",
                isStrict: false, at: now)
        }
        if !actions.more.isEmpty { perform(actions.more, at: now) }
    }

    /// Ends the input, if it has not ended yet, and treats pending values as `--at-end` says.
    private mutating func endInput(at now: CoreInstant) {
        guard isReading else { return }
        switch loop.options.atEnd ?? .flush {
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
            case .cancel(let run): loop.stop(Int64(run.serial), at: now)
            case .overdue(let run):
                guard let key = running[Int64(run.serial)]?.key else { break }
                report(key, "overdue: it goes on after twice its", of: "commands overdue", at: now)
            case .resolve, .replace, .resume, .release: break
            }
            next += 1
        }
    }

    /// - Returns: How the execution ended, or nil if it goes on.
    private mutating func start(_ execution: Execution<Key, Record>, at now: CoreInstant) -> Ending? {
        if loop.options.failsFast, loop.hasFailed {
            // To the engine it has started; here it has not. It ends as cancelled.
            _ = engine.cancel(execution.key, running: true, at: now)
            return .threw
        }
        var ending: Ending?
        if let prepared = loop.prepare(WorkItem(execution, loop.options.combining)) {
            ending = loop.start(prepared)?.ending
        }
        if ending == nil {
            var batch: Batch<Record>?
            if case .restart = engine.setup.whileRunning { batch = execution.batch }
            running[Int64(execution.run.serial)] = Running(run: execution.run, key: execution.key, batch: batch)
        }
        return ending
    }

    /// Begins an execution that has been prepared.
    private mutating func start(_ execution: EventLoop<Handler>.PreparedExecution, at now: CoreInstant) {
        if loop.options.failsFast, loop.hasFailed {
            loop.discard(execution)
            ended(execution.id, .notStarted, at: now)
        } else if let end = loop.start(execution) {
            ended(execution.id, end, at: now)
        }
    }

    private mutating func ended(_ id: Int64, _ end: ExecutionResult, at now: CoreInstant) {
        guard let run = running.removeValue(forKey: id) else { return }
        if case .notStarted = end, loop.options.failsFast, loop.hasFailed {
            _ = engine.cancel(run.key, running: true, at: now)
        }
        if end.ending == .threw, engine.state(of: run.run) == .expired {
            report(run.key, "it was stopped after its", of: "commands stopped after their time limit", at: now)
        }
        perform(self.end(run.run, end.ending, returning: run.batch, at: now), at: now)
    }

    /// Reports the end of an execution to the engine.
    ///
    /// - Parameter batch: Its records, if they may go back.
    private mutating func end(
        _ run: RunID, _ ending: Ending, returning batch: Batch<Record>? = nil, at now: CoreInstant
    ) -> [Action<Key, Record>] {
        if ending == .threw, engine.state(of: run).failsByThrowing {
            loop.hasFailed = true
            // Drop before the end of this execution makes room for the next one.
            if loop.options.failsFast {
                drop(at: now)
                loop.handler.startNothingMore()
            }
        }
        guard let batch else { return engine.ended(run, ending, at: now).1.more }
        return engine.ended(run, ending, returning: batch, at: now).1.more
    }

    /// Reports what has become of a command that exceeds its time limit.
    private mutating func report(_ key: Key, _ what: String, of kind: String, at now: CoreInstant) {
        let limit = DurationText.rounded(engine.setup.timeLimit.nanoseconds)
        loop.streams.report("\(key.subject)\(what) time limit of \(limit)", of: kind, at: now)
    }

    private mutating func reportStatistics() {
        loop.streams.log.report("\(engine.counters.line), skipped \(loop.streams.skipped)", isCut: false)
    }
}

extension Counters {
    var line: String {
        "submitted \(submitted), executed \(executed), superseded \(superseded), absorbed \(absorbed), "
            + "cancelled \(cancelled), rejected \(rejected), failed \(failed), pending \(pending), running \(running)"
            + (restarted > 0 ? ", restarted \(restarted)" : "")
    }
}
