internal import CLullCommand
internal import LullCore
internal import LullDurable

/// The event loop of `lull filter` and `lull run` with a store, and of `lull work`.
///
/// It is the loop of ``Session``, with the pending values in a store. The session submits the records of one read to the store in one
/// transaction. It claims what falls due, and completes it when it is written or its command has ended. If the program dies in
/// between, that work may be done twice; it is never lost.
///
/// Two state machines decide: ``DurablePhase`` how far the session has got, and the worker what to claim and report. The session
/// tells them what has happened, and carries out what follows.
struct DurableSession<Handler: ExecutionHandler>: ~Copyable {
    let options: CommandOptions
    let subcommand: Subcommand
    let signals: Signals
    let clock: MonotonicClock
    private var alarm: Alarm
    let store: CommandStore
    /// Whether executions get all their records.
    let isCollecting: Bool
    var worker: WorkerStateMachine
    var handler: Handler
    var input: RecordInput
    var streams = StandardStreams()

    var phase: DurablePhase
    /// The signal to end by when everything is done.
    var endingSignal: Int32?
    /// Whether an execution has failed.
    var hasFailed = false

    /// Until when the worker waits to be notified of work to claim; nil if it does not wait.
    var listenDeadline: CoreInstant?
    /// When to check that a file is still in place.
    var nextStoreCheck = CoreInstant.farPast
    /// The runs that the worker has claimed, without their values.
    var runs: [Int64: DurableRun] = [:]
    /// The reading of the session's clock at the origin of the store's time.
    var offset = CoreDuration.zero
    /// The runs whose records wait in the output.
    var unwritten: [Int64] = []

    /// Identifies this process among those that submit.
    let submitter = Int64.random(in: 1 ... .max)
    /// Whether any record has been submitted.
    var hasSubmitted = false
    var awaited = AwaitedWork()

    /// How often to ask the store which awaited keys other processes have done.
    static var awaitedCheckInterval: CoreDuration { .milliseconds(50) }
    /// How often a worker without free capacity checks that the file is still in place.
    private static var fileCheckInterval: CoreDuration { .milliseconds(400) }
    /// How many executions of `lull filter` may wait in the output.
    private static var mostUnwritten: Int { 256 }

    init(_ options: CommandOptions, _ subcommand: Subcommand, _ handler: Handler) throws(Failure) {
        try options.checkRecords(for: subcommand)
        try options.checkDurable(subcommand)
        let opened =
            try subcommand == .work ? OpenedNamespace.awaited(options) : OpenedNamespace(options, subcommand)
        let signals = try Signals()
        let clock = MonotonicClock()
        let alarm = try Alarm(clock)
        input = try RecordInput(options)
        self.options = options
        self.subcommand = subcommand
        self.signals = signals
        self.clock = clock
        self.alarm = alarm
        store = opened.store
        isCollecting = opened.rules.combination == .collect
        self.handler = handler
        phase = subcommand == .work ? .working : .reading
        // Records that only wait in the output can go back to the store at once; commands get time to end.
        let grace = CoreDuration.nanoseconds(handler.writesOutput ? 0 : options.lease.nanoseconds / 2)
        worker = WorkerStateMachine(
            WorkerStateMachine.Configuration(
                namespace: options.namespace, owner: .random(in: .min ... .max),
                maxConcurrent: handler.writesOutput ? Self.mostUnwritten : options.jobs ?? CommandOptions.cores,
                lease: options.lease, backoff: RetryPolicy(maxAttempts: options.maxAttempts), grace: grace,
                keepsValues: false))
    }

    /// Runs until the worker has finished.
    ///
    /// - Returns: The exit status. Does not return if a signal has ended the session.
    mutating func run() -> Int32 {
        if subcommand == .work, isatty(STDERR_FILENO) != 0 {
            let store = ServerURL.withoutPassword(options.store ?? "")
            streams.log.report("working on \(store), namespace \(Terminal.shown(options.namespace)); Ctrl-C ends it")
        }
        drive([.woke], at: clock.now)
        while !(worker.isFinished && handler.isIdle) { iterate() }
        phase.handle(.finish)
        // A signal may have come together with the end of the input.
        let more = signals.received().filter(Signals.isEnding)
        if let first = more.first, endingSignal != nil || more.count > 1 {
            handler.killAll()
            Signals.end(by: first)
        }
        endingSignal = endingSignal ?? more.first
        reportPendingValues()
        if hasFailed { reportRetries() }
        streams.reportCounts()
        if options.showsStatistics { reportStatistics() }
        // All commands have ended, but may have left processes behind.
        handler.killAll()
        store.end()
        drainStreams()
        if let endingSignal { Signals.end(by: endingSignal) }
        return streams.exitStatus(executionFailed: hasFailed)
    }

    // MARK: - The loop

    /// Waits for events and handles them.
    private mutating func iterate() {
        var polled = PolledDescriptors(
            signals: signals, alarm: alarm, input: phase == .reading ? input.descriptor : -1,
            store: listenDeadline == nil ? -1 : store.changesDescriptor, streams, handler)
        let timeout = alarm.set(to: min(worker.alarm, handler.alarm, listenDeadline ?? nextStoreCheck))
        guard polled.wait(timeout: timeout) else { return }

        let now = clock.now
        if polled.alarmIsDue { alarm.acknowledge() }
        // The first signal is handled before ends of commands, after which the worker would claim more. A second one ends the
        // program, so it is handled after them.
        if polled.hasSignals, endingSignal == nil { handleSignals(at: now) }
        if let events = polled.executionEvents { handleExecutionEvents(events, at: now) }
        if polled.hasSignals { handleSignals(at: now) }
        if handler.alarm <= now { handler.wake(at: now) }
        if worker.alarm <= now { drive([.woke], at: now) }
        if polled.storeHasChanges {
            store.acknowledgeChanges()
            notifyWorker(.success(()), at: now)
        }
        checkStore(at: now)
        if polled.hasInput { readRecords() }
        if polled.outputEvents != 0 { writeOutput(polled.outputEvents) }
        if polled.logIsWritable { streams.writeLog() }
    }

    private mutating func handleExecutionEvents(_ events: ArraySlice<pollfd>, at now: CoreInstant) {
        handler.handleEvents(events, &streams)
        let ended = handler.reap(&streams)
        if let failure = handler.failure, streams.status == ExitStatus.success {
            streams.fail(failure)
            stop(.immediate, at: now)
        }
        guard !ended.isEmpty else { return }
        let events = ended.map { event(of: $0.id, $0.end, at: now) }
        // First, or the worker would claim more in the place of what has ended.
        if hasFailed, options.failsFast { stop(.drain, at: now) }
        drive(events, at: now)
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
                    endInput(at: now)
                } else {
                    stop(subcommand == .work ? .immediate : .drain, at: now)
                }
            } else {
                handler.killAll()
                Signals.end(by: number)
            }
        }
    }

    /// Ends a wait that has lasted its time. While the worker does not wait, checks that the store is in place.
    private mutating func checkStore(at now: CoreInstant) {
        if let listenDeadline, listenDeadline <= now { return notifyWorker(.success(()), at: now) }
        guard listenDeadline == nil, nextStoreCheck <= now else { return }
        nextStoreCheck = now.advanced(by: Self.fileCheckInterval)
        do throws(DurableError) { try store.check() } catch { drive([.storeFailed(error)], at: now) }
    }

    /// Notifies the worker, if it waits for that, that there may be work to claim.
    mutating func notifyWorker(_ result: Result<Void, DurableError>, at now: CoreInstant) {
        guard listenDeadline != nil else { return }
        listenDeadline = nil
        drive([.waitEnded(result)], at: now)
    }
}
