internal import CLullCommand
internal import LullCore

/// `lull filter` and `lull run`: one thread, one loop, and one place where it waits.
///
/// All decisions are the engine's. The loop tells it what has been read and what has ended, each at the instant at which it
/// happened, and does what it answers. Nothing is read while something waits to be written.
struct Session<Work: Performer>: ~Copyable {
    private let settings: Settings
    private let keyRule: KeyRule
    private let signals: Signals
    private let clock: Clock
    private var alarm: Alarm
    private var engine: Engine<Key, Record>
    private var work: Work
    private var reader: RecordReader
    private var streams = Streams()
    /// What comes in is written down here, if that was asked for.
    private var recording: TraceRecording?

    private var isReading = true
    /// The signal that ends the program when all is done.
    private var endingSignal: Int32?
    private var status = ExitStatus.success
    /// The executions that were started and have not ended.
    private var running: [Int64: RunID] = [:]
    /// Whether an execution has failed.
    private var hasFailed = false

    init(_ settings: Settings, _ setup: Setup, _ work: Work) throws(Failure) {
        let signals = try Signals()
        let clock = Clock()
        let alarm = try Alarm(clock)
        var recording: TraceRecording?
        if let path = settings.recording { recording = try TraceRecording(path, settings) }
        self.settings = settings
        keyRule = settings.keyRule
        self.signals = signals
        self.clock = clock
        self.alarm = alarm
        engine = Engine(setup)
        self.work = work
        reader = RecordReader(STDIN_FILENO, terminator: settings.terminator)
        self.recording = recording
    }

    /// Runs to the end.
    ///
    /// - Returns: The status to end with, unless a signal ends the program.
    mutating func run() -> Int32 {
        var owesReport = true
        while true {
            if isDone, owesReport {
                owesReport = false
                streams.tellCounts()
                if settings.showsStatistics { reportStatistics() }
            }
            if isDone, streams.areEmpty { break }
            turn()
        }
        // Nothing runs any more; but commands may have left something behind.
        work.kill()
        if let endingSignal { Signals.end(by: endingSignal) }
        return status == ExitStatus.success && hasFailed ? ExitStatus.commandFailed : status
    }

    private var isDone: Bool {
        !isReading && engine.counters.pending == 0 && engine.counters.running == 0 && work.isAtRest
    }

    // MARK: - The loop

    /// Waits until something happens, and deals with it.
    private mutating func turn() {
        let isBlocked = !streams.areEmpty
        var interests = streams.interests(
            signals: signals.descriptor, alarm: alarm.descriptor, input: isReading ? reader.descriptor : -1,
            watchesOutput: work.writesOutput)
        let fixed = interests.count
        work.addInterests(to: &interests, streams)
        // What falls due while the output is blocked could not be written anyway.
        let limit = alarm.set(to: min(isBlocked ? .farFuture : engine.alarm, work.alarm))
        guard poll(&interests, nfds_t(interests.count), limit) >= 0 else { return }

        let now = clock.now
        attendToWork(interests[fixed...], at: now)
        if interests[0].revents != 0 { attendToSignals(at: now) }
        if interests[1].revents != 0 { alarm.acknowledge() }
        if work.alarm <= now { work.wake(at: now) }
        advance(to: now)
        if interests[2].revents != 0 { readRecords() }
        if interests[3].revents != 0 { writeOutput(interests[3].revents) }
        if interests[4].revents != 0 { streams.writeLog() }
    }

    private mutating func attendToWork(_ ready: ArraySlice<pollfd>, at now: CoreInstant) {
        guard ready.contains(where: { $0.revents != 0 }) else { return }
        work.attend(ready, &streams)
        let ended = work.reap(&streams)
        if let failure = work.failure, status == ExitStatus.success {
            fail(failure)
            drop(at: now)
        }
        for (job, error) in ended {
            guard let run = running.removeValue(forKey: job) else { continue }
            settle(run, error == nil ? .returned : .threw, at: now)
        }
    }

    private mutating func attendToSignals(at now: CoreInstant) {
        for number in signals.received() where number != SIGCHLD {
            if Signals.asksForStatistics(number) {
                reportStatistics()
            } else if endingSignal == nil {
                endingSignal = number
                reader.finish()
                takeRecords(at: now)
                finish(at: now)
            } else {
                work.kill()
                Signals.end(by: number)
            }
        }
    }

    /// Does what is due, a little at a time so that a million keys due at once take no memory of their own.
    private mutating func advance(to now: CoreInstant) {
        while engine.alarm <= now {
            let actions = engine.advance(to: now, limit: 1024)
            perform(actions.more, at: now)
        }
    }

    // MARK: - Input

    private mutating func readRecords() {
        do {
            let filled = try reader.fill()
            let now = clock.now
            takeRecords(at: now)
            if case .end = filled { finish(at: now) }
        } catch {
            fail(error)
            finish(at: clock.now)
        }
    }

    private mutating func takeRecords(at now: CoreInstant) {
        while isReading {
            switch reader.next() {
            case .record(let record): take(record, at: now)
            case .tooLong:
                let limit = "longer than \(RecordReader.longest >> 20) MiB"
                refuse("it is \(limit)", kind: limit, at: now)
                // It was meant to come through, whatever it is: its loss shows in the status.
                if status == ExitStatus.success { status = ExitStatus.badData }
            case .incomplete:
                writeRecording()
                return
            }
        }
        writeRecording()
    }

    private mutating func note(_ record: ByteSlice, _ key: Key, at now: CoreInstant) {
        do { try recording?.note(record, key, at: now) } catch { giveUpRecording(error) }
    }

    private mutating func writeRecording() {
        do { try recording?.write() } catch { giveUpRecording(error) }
    }

    /// What cannot be written down does not stop the rest.
    private mutating func giveUpRecording(_ failure: Failure) {
        fail(failure)
        recording = nil
    }

    private mutating func take(_ record: ByteSlice, at now: CoreInstant) {
        let key: Key
        do throws(KeyRule.Fault) {
            key = try keyRule.key(of: record)
        } catch {
            refuse("\(error)", kind: error.kind, at: now)
            return
        }
        note(record, key, at: now)
        advance(to: now)
        let actions = engine.submit(Array(record), for: key, at: now)
        if case .rejected = actions.fate {
            streams.refuse(
                reader.number, "\(engine.setup.capacity) keys are open already", kind: "over --max-keys",
                isStrict: false, at: now)
        }
        if !actions.more.isEmpty { perform(actions.more, at: now) }
    }

    /// Skips a record that is bad data, or stops reading because of it.
    private mutating func refuse(_ why: String, kind: String? = nil, at now: CoreInstant) {
        streams.refuse(reader.number, why, kind: kind, isStrict: settings.isStrict, at: now)
        if settings.isStrict {
            status = ExitStatus.badData
            finish(at: now)
        }
    }

    /// Reads no more, and does with what is pending what the options say.
    private mutating func finish(at now: CoreInstant) {
        guard isReading else { return }
        isReading = false
        switch settings.atEnd ?? .flush {
        case .flush:
            let actions = engine.shutDown(flushing: true, at: now)
            perform(actions.more, at: now)
        case .drop: drop(at: now)
        // Without a store there is nothing to keep it in, and the option is refused.
        case .wait, .keep: break
        }
    }

    private mutating func drop(at now: CoreInstant) {
        isReading = false
        let actions = engine.shutDown(flushing: false, at: now)
        perform(actions.more, at: now)
    }

    // MARK: - Executions

    /// Does what the engine asks for, and what comes of that.
    private mutating func perform(_ actions: [Action<Key, Record>], at now: CoreInstant) {
        var actions = actions
        var next = 0
        while next < actions.count {
            switch actions[next] {
            case .start(let execution):
                if let ending = begin(execution, at: now) {
                    let more = end(execution.run, ending, at: now)
                    actions.append(contentsOf: more)
                }
            case .cancel(let run): work.stop(Int64(run.serial), at: now)
            case .settle, .resume, .release: break
            }
            next += 1
        }
    }

    private mutating func begin(_ execution: Execution<Key, Record>, at now: CoreInstant) -> Ending? {
        if settings.failsFast, hasFailed {
            // The engine has started it; here it never was. So it was cancelled.
            _ = engine.cancel(execution.key, running: true, at: now)
            return .threw
        }
        let ending = work.start(Job(execution), &streams)
        if ending == nil { running[Int64(execution.run.serial)] = execution.run }
        return ending
    }

    private mutating func settle(_ run: RunID, _ ending: Ending, at now: CoreInstant) {
        let actions = end(run, ending, at: now)
        perform(actions, at: now)
    }

    /// Tells the engine of an execution's end.
    private mutating func end(_ run: RunID, _ ending: Ending, at now: CoreInstant) -> [Action<Key, Record>] {
        if ending == .threw, !engine.isCancelling(run) {
            hasFailed = true
            // Before its end makes room for the next one.
            if settings.failsFast { drop(at: now) }
        }
        let (_, actions) = engine.ended(run, ending)
        return actions.more
    }

    // MARK: - Output

    private mutating func writeOutput(_ events: Int16) {
        do {
            if case .closed = try streams.writeOutput(events) { closeOutput() }
        } catch {
            fail(error)
            closeOutput()
        }
    }

    /// There is nobody to write for any more.
    private mutating func closeOutput() {
        drop(at: clock.now)
        streams.output.clear()
    }

    private mutating func fail(_ failure: Failure) {
        status = failure.status
        streams.log.report(failure.message)
    }

    private mutating func reportStatistics() {
        streams.log.report("\(engine.counters.line), skipped \(streams.skipped)", isCut: false)
    }
}

extension Counters {
    /// All counts with their names, in one line.
    var line: String {
        "submitted \(submitted), executed \(executed), superseded \(superseded), absorbed \(absorbed), "
            + "cancelled \(cancelled), rejected \(rejected), failed \(failed), pending \(pending), running \(running)"
    }
}
