internal import CLullCommand
internal import LullCore
internal import LullDurable
internal import LullSQLite

/// The event loop of `lull filter` and `lull run` with a store, and of `lull work`.
///
/// It is the loop of ``Session``, with the pending values in a file. The session submits the records of one read to the store in one
/// transaction. It claims what falls due, and completes it when it is written or its command has ended. If the program dies in
/// between, that work may be done twice; it is never lost.
///
/// Its phases, in order:
///
/// - `reading`: there is input. Its end leads to `awaiting`, or with `--at-end keep` or `drop` to `stopping`.
/// - `working`: `lull work`, which has no input. A signal leads to `stopping`.
/// - `awaiting`: the input has ended; what `--at-end flush` or `wait` is to await is not done yet. When it is: `stopping`.
/// - `stopping`: the worker claims nothing more; the session ends when the worker has finished. A failure of the output, of a
///   command under `--fail-fast` or of all commands leads here at once.
struct DurableSession<Handler: ExecutionHandler>: ~Copyable {
    let settings: Settings
    let subcommand: Subcommand
    let signals: Signals
    let clock: MonotonicClock
    private var alarm: Alarm
    let file: SQLiteFile
    private var worker: WorkerStateMachine
    private var handler: Handler
    var input: RecordInput
    var streams = StandardStreams()

    enum Phase {
        case reading, working, awaiting, stopping
    }

    var phase: Phase
    /// The signal to end by when everything is done.
    var endingSignal: Int32?
    /// Whether an execution has failed.
    private var hasFailed = false

    /// Until when the worker waits to be notified of work to claim; nil if it does not wait.
    var listenDeadline: CoreInstant?
    /// When to check the store for other processes' commits, or for the replacement of its file.
    private var nextStoreCheck = CoreInstant.farPast
    /// The runs that the worker has claimed, without their values.
    var runs: [Int64: DurableRun] = [:]
    /// The reading of the session's clock at the origin of the store's time.
    private var offset = CoreDuration.zero
    /// The runs whose records wait in the output.
    var unwritten: [Int64] = []

    /// Identifies this process among those that submit.
    let submitter = Int64.random(in: 1 ... .max)
    /// The keys that have to be done before the session ends, with the latest generation that it submitted.
    var awaited: [[UInt8]: Int64] = [:]
    /// What fell due by this instant of the store's time has to be claimed before the session ends.
    var mustClaimThrough: CoreInstant?
    /// When to ask the store next whether other processes have done what is awaited.
    var nextAwaitedCheck = CoreInstant.farPast
    /// Whether any record has been submitted.
    var hasSubmitted = false

    /// How often to check for other processes' commits.
    static var commitCheckInterval: CoreDuration { .milliseconds(50) }
    /// How often a worker without free capacity checks that the file is still in place.
    private static var fileCheckInterval: CoreDuration { .milliseconds(400) }
    /// How many executions of `lull filter` may wait in the output.
    private static var mostUnwritten: Int { 256 }

    /// - Parameter makeHandler: Makes the handler from the settings, which then include the namespace's rules.
    init(_ settings: Settings, _ subcommand: Subcommand, _ makeHandler: (Settings) -> Handler) throws(Failure) {
        try settings.checkRecords(for: subcommand)
        try settings.checkDurable(subcommand)
        let opened = try OpenedNamespace(settings, subcommand)
        var settings = settings
        settings.policy.combination = opened.rules.combination
        let handler = makeHandler(settings)
        let signals = try Signals()
        let clock = MonotonicClock()
        let alarm = try Alarm(clock)
        input = try RecordInput(settings)
        self.settings = settings
        self.subcommand = subcommand
        self.signals = signals
        self.clock = clock
        self.alarm = alarm
        file = opened.file
        self.handler = handler
        phase = subcommand == .work ? .working : .reading
        // What only waits in the output can go back to the store at once; commands get time to end.
        let grace = CoreDuration.nanoseconds(handler.writesOutput ? 0 : settings.lease.nanoseconds / 2)
        worker = WorkerStateMachine(
            WorkerStateMachine.Settings(
                namespace: settings.namespace, owner: .random(in: .min ... .max),
                maxConcurrent: handler.writesOutput ? Self.mostUnwritten : settings.jobs ?? Settings.cores,
                lease: settings.lease, backoff: RetryPolicy(maxAttempts: settings.maxAttempts), grace: grace,
                keepsValues: false))
    }

    /// Runs until the worker has finished.
    ///
    /// - Returns: The exit status. Does not return if a signal has ended the session.
    mutating func run() -> Int32 {
        if subcommand == .work, isatty(STDERR_FILENO) != 0 {
            let store = settings.store ?? ""
            streams.log.report("working on \(store), namespace \(Terminal.shown(settings.namespace)); Ctrl-C ends it")
        }
        drive(.woke, at: clock.now)
        while !(worker.isFinished && handler.isIdle) { iterate() }
        // A signal may have come together with the end of the input.
        if endingSignal == nil { endingSignal = signals.received().first(where: Signals.isEnding) }
        reportPendingValues()
        if hasFailed { reportRetries() }
        streams.reportCounts()
        if settings.showsStatistics { reportStatistics() }
        // All commands have ended, but may have left processes behind.
        handler.killAll()
        file.cleanUp()
        drainStreams()
        if let endingSignal { Signals.end(by: endingSignal) }
        return streams.status == ExitStatus.success && hasFailed ? ExitStatus.commandFailed : streams.status
    }

    // MARK: - The loop

    /// Waits for events and handles them.
    private mutating func iterate() {
        var interests = streams.interests(
            signals: signals.descriptor, alarm: alarm.descriptor, input: phase == .reading ? input.descriptor : -1,
            watchesOutput: handler.writesOutput)
        let fixed = interests.count
        handler.addInterests(to: &interests, streams)
        let timeout = alarm.set(to: min(worker.alarm, handler.alarm, nextStoreCheck, listenDeadline ?? .farFuture))
        guard poll(&interests, nfds_t(interests.count), timeout) >= 0 else { return }

        let now = clock.now
        if interests[1].revents != 0 { alarm.acknowledge() }
        // The first signal is handled before ends of commands, after which the worker would claim more. A second one ends the
        // program, so it is handled after them.
        if interests[0].revents != 0, endingSignal == nil { handleSignals(at: now) }
        handleHandlerEvents(interests[fixed...], at: now)
        if interests[0].revents != 0 { handleSignals(at: now) }
        if handler.alarm <= now { handler.wake(at: now) }
        if worker.alarm <= now { drive(.woke, at: now) }
        checkStore(at: now)
        if interests[2].revents != 0 { readRecords() }
        if interests[3].revents != 0 { writeOutput(interests[3].revents) }
        if interests[4].revents != 0 { streams.writeLog() }
    }

    private mutating func handleHandlerEvents(_ ready: ArraySlice<pollfd>, at now: CoreInstant) {
        guard ready.contains(where: { $0.revents != 0 }) else { return }
        handler.handleEvents(ready, &streams)
        let ended = handler.reap(&streams)
        if let failure = handler.failure, streams.status == ExitStatus.success {
            streams.fail(failure)
            stop(.stop, at: now)
        }
        for (id, error) in ended { end(id, error, at: now) }
    }

    private mutating func handleSignals(at now: CoreInstant) {
        for number in signals.received() where number != SIGCHLD {
            if Signals.asksForStatistics(number) {
                reportStatistics()
            } else if endingSignal == nil {
                endingSignal = number
                if phase == .reading {
                    input.finish()
                    takeRecords(at: now)
                    finish(at: now)
                } else {
                    stop(subcommand == .work ? .stop : .drain, at: now)
                }
            } else {
                handler.killAll()
                Signals.end(by: number)
            }
        }
    }

    /// Checks for work from other processes if the worker waits for some, and otherwise that the store's file is in place.
    private mutating func checkStore(at now: CoreInstant) {
        if let listenDeadline, listenDeadline <= now { return notifyWorker(.success(()), at: now) }
        guard nextStoreCheck <= now else { return }
        nextStoreCheck = now.advanced(by: listenDeadline == nil ? Self.fileCheckInterval : Self.commitCheckInterval)
        do throws(DurableError) {
            guard listenDeadline != nil else { return try file.check() }
            if try file.hasForeignCommits() { return notifyWorker(.success(()), at: now) }
            file.maintain()
        } catch {
            if listenDeadline == nil {
                drive(.storeFailed(error), at: now)
            } else {
                notifyWorker(.failure(error), at: now)
            }
        }
    }

    /// Notifies the worker, if it waits for that, that there may be work to claim.
    mutating func notifyWorker(_ result: Result<Void, DurableError>, at now: CoreInstant) {
        guard listenDeadline != nil else { return }
        listenDeadline = nil
        drive(.waitEnded(result), at: now)
    }

    /// Enters `stopping`: tells the worker to claim nothing more, and leaves what is pending in the store.
    mutating func stop(_ how: WorkerStateMachine.Event, at now: CoreInstant) {
        phase = .stopping
        listenDeadline = nil
        drive(how, at: now)
    }

    // MARK: - The worker

    /// Passes an event to the worker, and carries out its actions and those that follow from them.
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
                        logFailure(in: report)
                        reports.append(report)
                    case .start(let run):
                        if let ended = start(run) { events.append(ended) }
                    case .wait(_, let time):
                        listenDeadline = now.advanced(by: time)
                        nextStoreCheck = now.advanced(by: Self.commitCheckInterval)
                    case .cancel(let run): events += cancel(run, at: now)
                    case .leaseLost(let run):
                        let message = "\(subject(run)): the lease was lost to another worker"
                        streams.report(message, of: "leases lost to other workers", at: now)
                    case .died(let run):
                        let why = "dead after attempt \(run.attempt): the worker's lease expired"
                        streams.log.report("\(subject(run)): \(why)")
                    case .storeFailed(let error):
                        let kind = "times the store was asked again"
                        streams.report("the store failed and is asked again: \(error)", of: kind, at: now)
                    }
                }
            }
            if reports.isEmpty, claim == nil { break }
            events = commit(reports, claim)
            reports = []
            claim = nil
        }
        if let failure = worker.failure, streams.status == ExitStatus.success {
            streams.fail(Failure(failure, subcommand))
        }
        stopIfNothingIsAwaited(at: now)
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
            // The end of a run makes the next one of its key claimable: a newer value, or the rest of a batch.
            hasMore = listenDeadline != nil && next.map { $0 <= exchange.now } ?? false
            offset = exchange.now.duration(to: clock.now)
            // The session has one worker, which sees every change; it needs no marks.
            answers = exchange.answers { _ in 0 }
            recordClaim(answers.claim)
        } catch {
            answers = DurableExchange(reports, claim, failed: error)
        }
        for (report, answer) in zip(reports, answers.reports) where (try? answer.get()) != nil && report.kind.isLast {
            runs[report.run] = nil
        }
        var events = zip(reports, answers.reports).map { WorkerStateMachine.Event.reported($0, $1) }
        if let claimed = answers.claim { events.append(.claimed(claimed)) }
        if hasMore {
            listenDeadline = nil
            events.append(.waitEnded(.success(())))
        }
        return events
    }

    /// Starts a run.
    ///
    /// - Returns: Its end, if it has ended already.
    private mutating func start(_ run: DurableRun) -> WorkerStateMachine.Event? {
        runs[run.id] = run
        // The handler has the values; messages need only the rest.
        runs[run.id]?.values = []
        if let newest = awaited[run.key], newest <= run.submits.upperBound { awaited[run.key] = nil }
        switch handler.start(WorkItem(run, offset: offset), &streams) {
        case nil: return nil
        case .returned:
            // It ends when it has been written.
            unwritten.append(run.id)
            return nil
        case .threw:
            hasFailed = true
            return .handlerEnded(run: run.id, error: "the command could not be started")
        }
    }

    private mutating func cancel(_ run: Int64, at now: CoreInstant) -> [WorkerStateMachine.Event] {
        if let index = unwritten.firstIndex(of: run) {
            unwritten.remove(at: index)
            return [.handlerEnded(run: run, error: "nobody reads the output")]
        }
        handler.stop(run, at: now)
        return []
    }

    private mutating func end(_ run: Int64, _ error: String?, at now: CoreInstant) {
        if error != nil {
            hasFailed = true
            if settings.failsFast { stop(.drain, at: now) }
        }
        drive(.handlerEnded(run: run, error: error), at: now)
    }
}
