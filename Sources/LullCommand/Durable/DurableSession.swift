internal import CLullCommand
internal import LullCore
internal import LullDurable
internal import LullSQLite

/// `lull filter` and `lull run` with a store, and `lull work`: the loop of ``Session``, where what is pending lies in a file.
///
/// What is read is handed to the store, all of a read in one transaction. What falls due is claimed from it, and completed when
/// it has been written or its command has ended; so it may be done twice if the program dies in between, and never not at all.
struct DurableSession<Work: Performer>: ~Copyable {
    let settings: Settings
    let subcommand: Subcommand
    let keyRule: KeyRule
    let signals: Signals
    let clock: Clock
    private var alarm: Alarm
    let file: SQLiteFile
    var worker: WorkerStateMachine
    var work: Work
    var reader: RecordReader
    var streams = Streams()
    var recording: TraceRecording?

    var isReading: Bool
    /// Until when the worker wants to hear of something to claim; nil if it does not listen.
    var listening: CoreInstant?
    /// When to look next at what other processes have committed.
    private var nextLook = CoreInstant.farPast
    /// The runs that the worker has.
    var runs: [Int64: DurableRun] = [:]
    /// What the program's clock shows at the origin of the store's time.
    private var offset = CoreDuration.zero
    /// Runs that are in the output, which has not been written yet.
    var unwritten: [Int64] = []

    /// Names this process among those that submit.
    let submitter = Int64.random(in: 1 ... .max)
    /// The newest submit of each key that the end has to wait for.
    var awaited: [[UInt8]: Int64] = [:]
    /// What had fallen due by this instant of the store's time has to be claimed before the end.
    var claimsThrough: CoreInstant?
    /// When to ask the store next what has become of what is awaited.
    var nextQuestion = CoreInstant.farPast
    /// Whether the worker has been told to claim nothing more.
    var isStopping = false
    /// Whether anything has come in.
    var hasSubmitted = false

    /// Whether all there is to read has been read.
    var hasReadAll = false
    /// The signal that ends the program when all is done.
    var endingSignal: Int32?
    var status = ExitStatus.success
    var hasFailed = false

    /// How often other processes' commits are looked for.
    static var look: CoreDuration { .milliseconds(50) }
    /// How often a worker that has all it can do looks whether the file is still there.
    private static var glance: CoreDuration { .milliseconds(400) }
    /// How many executions of `lull filter` may be in the output at once.
    private static var mostWritten: Int { 256 }

    /// - Parameter work: Makes what does the executions, from the settings with what the namespace has.
    init(_ settings: Settings, _ subcommand: Subcommand, _ work: (Settings) -> Work) throws(Failure) {
        try settings.checkRecords(for: subcommand)
        try settings.checkDurable(subcommand)
        let opened = try OpenedNamespace(settings, subcommand)
        var settings = settings
        settings.combination = opened.rules.combination
        let work = work(settings)
        let signals = try Signals()
        let clock = Clock()
        let alarm = try Alarm(clock)
        var recording: TraceRecording?
        if let path = settings.recording { recording = try TraceRecording(path, settings) }
        self.recording = recording
        self.settings = settings
        self.subcommand = subcommand
        keyRule = settings.keyRule
        self.signals = signals
        self.clock = clock
        self.alarm = alarm
        file = opened.file
        self.work = work
        reader = RecordReader(STDIN_FILENO, terminator: settings.terminator)
        isReading = subcommand != .work
        // What has only been put into the output can be given back at once; commands have their time.
        let grace = CoreDuration.nanoseconds(work.writesOutput ? 0 : settings.lease.nanoseconds / 2)
        worker = WorkerStateMachine(
            WorkerStateMachine.Settings(
                namespace: settings.namespace, owner: .random(in: .min ... .max),
                maxConcurrent: work.writesOutput ? Self.mostWritten : settings.jobs ?? Settings.cores,
                lease: settings.lease, backoff: RetryPolicy(maxAttempts: settings.maxAttempts), grace: grace,
                keepsValues: false))
    }

    /// Runs to the end.
    ///
    /// - Returns: The status to end with, unless a signal ends the program.
    mutating func run() -> Int32 {
        if subcommand == .work, isatty(STDERR_FILENO) != 0 {
            let store = settings.store ?? ""
            streams.log.report("working on \(store), namespace \(Terminal.shown(settings.namespace)); Ctrl-C ends it")
        }
        drive(.woke, at: clock.now)
        while !(worker.isFinished && work.isAtRest) { turn() }
        // One that came with the end of the input, and was not looked at before that.
        if endingSignal == nil { endingSignal = signals.received().first(where: Signals.isEnding) }
        reportKept()
        if hasFailed { reportRetries() }
        streams.tellCounts()
        if settings.showsStatistics { reportStatistics() }
        // Nothing runs any more; but commands may have left something behind.
        work.kill()
        file.cleanUp()
        drainStreams()
        if let endingSignal { Signals.end(by: endingSignal) }
        return status == ExitStatus.success && hasFailed ? ExitStatus.commandFailed : status
    }

    // MARK: - The loop

    /// Waits until something happens, and deals with it.
    private mutating func turn() {
        var interests = streams.interests(
            signals: signals.descriptor, alarm: alarm.descriptor, input: isReading ? reader.descriptor : -1,
            watchesOutput: work.writesOutput)
        let fixed = interests.count
        work.addInterests(to: &interests, streams)
        let next = min(worker.alarm, work.alarm, nextLook, listening ?? .farFuture)
        let limit = alarm.set(to: next)
        guard poll(&interests, nfds_t(interests.count), limit) >= 0 else { return }

        let now = clock.now
        if interests[1].revents != 0 { alarm.acknowledge() }
        attendToWork(interests[fixed...], at: now)
        if interests[0].revents != 0 { attendToSignals(at: now) }
        if work.alarm <= now { work.wake(at: now) }
        if worker.alarm <= now { drive(.woke, at: now) }
        listen(at: now)
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
            isReading = false
            hasReadAll = true
            stop(.stop, at: now)
        }
        for (job, error) in ended { end(job, error, at: now) }
    }

    private mutating func attendToSignals(at now: CoreInstant) {
        for number in signals.received() where number != SIGCHLD {
            if Signals.asksForStatistics(number) {
                reportStatistics()
            } else if endingSignal == nil {
                endingSignal = number
                if isReading {
                    reader.finish()
                    takeRecords(at: now)
                    finish(at: now)
                } else {
                    stop(subcommand == .work ? .stop : .drain, at: now)
                }
            } else {
                work.kill()
                Signals.end(by: number)
            }
        }
    }

    /// Tells the worker, when it waits for something to claim, that there may be something.
    private mutating func listen(at now: CoreInstant) {
        if let until = listening, until <= now { return hear(.success(()), at: now) }
        guard nextLook <= now else { return }
        nextLook = now.advanced(by: listening == nil ? Self.glance : Self.look)
        do throws(DurableError) {
            guard listening != nil else { return try file.check() }
            if try file.hasForeignCommits() { return hear(.success(()), at: now) }
            file.maintain()
        } catch {
            if listening == nil { drive(.storeFailed(error), at: now) } else { hear(.failure(error), at: now) }
        }
    }

    mutating func hear(_ result: Result<Void, DurableError>, at now: CoreInstant) {
        guard listening != nil else { return }
        listening = nil
        drive(.waitEnded(result), at: now)
    }

    // MARK: - The worker

    /// Tells the worker what happened, and does what it wants, until it wants nothing more.
    mutating func drive(_ event: WorkerStateMachine.Event, at now: CoreInstant) {
        var events = [event]
        var reports: [DurableReport] = []
        var claim: DurableClaim?
        while true {
            while !events.isEmpty {
                for action in worker.handle(events.removeFirst(), at: now) {
                    switch action {
                    case .claim(let wanted): claim = wanted
                    case .report(let report):
                        tell(of: report)
                        reports.append(report)
                    case .start(let run):
                        if let ended = start(run) { events.append(ended) }
                    case .wait(_, let time):
                        listening = now.advanced(by: time)
                        nextLook = now.advanced(by: Self.look)
                    case .cancel(let run): events += cancel(run, at: now)
                    case .leaseLost(let run):
                        let message = "\(subject(run)): the lease was lost to another worker"
                        streams.report(message, of: "leases lost to other workers", at: now)
                    case .died(let run):
                        let why = "dead after attempt \(run.attempt): the worker's lease expired"
                        streams.log.report("\(subject(run)): \(why)")
                    case .storeFailed(let error):
                        let kind = "times the store was asked again"
                        streams.report("the store is asked again: \(error)", of: kind, at: now)
                    }
                }
            }
            if reports.isEmpty, claim == nil { break }
            events = commit(reports, claim)
            reports = []
            claim = nil
        }
        if let failure = worker.failure, status == ExitStatus.success { fail(Failure(failure, subcommand)) }
        endIfNothingIsAwaited(at: now)
    }

    /// Reports and claims in one transaction.
    private mutating func commit(_ reports: [DurableReport], _ claim: DurableClaim?) -> [WorkerStateMachine.Event] {
        let answers: DurableExchange
        var hasMore = false
        let namespace = settings.namespace
        do throws(DurableError) {
            let (exchange, next) = try file.write { transaction throws(DurableError) in
                (
                    transaction.exchange(reports, claim),
                    claim == nil ? try transaction.nextWake(in: namespace) : nil
                )
            }
            // The end of a run lets the next one of its key start: a newer value, or the rest of a batch.
            hasMore = listening != nil && next.map { $0 <= exchange.now } ?? false
            offset = exchange.now.duration(to: clock.now)
            // There is one worker here, and it hears of everything: a mark says nothing.
            answers = exchange.answers { _ in 0 }
            noteClaim(answers.claim)
        } catch {
            answers = DurableExchange(reports, claim, failed: error)
        }
        for (report, answer) in zip(reports, answers.reports) where (try? answer.get()) != nil && report.kind.isLast {
            runs[report.run] = nil
        }
        var events = zip(reports, answers.reports).map { WorkerStateMachine.Event.reported($0, $1) }
        if let claimed = answers.claim { events.append(.claimed(claimed)) }
        if hasMore {
            listening = nil
            events.append(.waitEnded(.success(())))
        }
        return events
    }

    /// Begins a run.
    ///
    /// - Returns: Its end, if it is over already.
    private mutating func start(_ run: DurableRun) -> WorkerStateMachine.Event? {
        runs[run.id] = run
        // The values are the command's, or in the output; here is what messages need.
        runs[run.id]?.values = []
        if let newest = awaited[run.key], newest <= run.submits.upperBound { awaited[run.key] = nil }
        switch work.start(Job(run, offset: offset), &streams) {
        case nil: return nil
        case .returned:
            // It is done when it has been written.
            unwritten.append(run.id)
            return nil
        case .threw:
            hasFailed = true
            return .handlerEnded(run: run.id, error: "the command could not be started")
        }
    }

    private mutating func cancel(_ run: Int64, at now: CoreInstant) -> [WorkerStateMachine.Event] {
        if let place = unwritten.firstIndex(of: run) {
            unwritten.remove(at: place)
            return [.handlerEnded(run: run, error: "nobody reads the output")]
        }
        work.stop(run, at: now)
        return []
    }

    private mutating func end(_ run: Int64, _ error: String?, at now: CoreInstant) {
        if error != nil {
            hasFailed = true
            if settings.failsFast {
                isReading = false
                hasReadAll = true
                stop(.drain, at: now)
            }
        }
        drive(.handlerEnded(run: run, error: error), at: now)
    }
}
