internal import CLullCommand
internal import LullCore
internal import LullDurable

/// The session of `lull filter` and `lull run` with a store, and of `lull work`.
///
/// It is a ``Session`` with the pending values in a store. It submits the records of one read to the store in one
/// transaction. It claims what falls due, and completes it when it is written or its command has ended. If the program
/// dies in between, that work may be done twice; it is never lost.
///
/// Two state machines decide: ``DurablePhase`` how far the session has got, and the worker what to claim and report.
/// The session tells them what has happened, and carries out what follows.
struct DurableSession<Handler: ExecutionHandler>: ~Copyable {
    var loop: EventLoop<Handler>
    let subcommand: Subcommand
    let store: CommandStore
    var worker: WorkerStateMachine
    var phase: DurablePhase

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
    var hasSubmitted = false
    var awaited = AwaitedWork()

    /// How often to ask the store which awaited keys other processes have done.
    static var awaitedCheckInterval: CoreDuration { .milliseconds(100) }
    /// How often a worker without free capacity checks that the file is still in place.
    private static var fileCheckInterval: CoreDuration { .milliseconds(400) }
    /// How many executions of `lull filter` may wait in the output.
    private static var mostUnwritten: Int { 256 }

    init(_ options: CommandOptions, _ subcommand: Subcommand, _ handler: Handler) throws(Failure) {
        func open() throws(Failure) -> OpenedNamespace { try OpenedNamespace(options, subcommand) }
        // A worker waits for a store that cannot be used for now, as it does later on.
        let opened = try subcommand == .work ? OpenedNamespace.awaiting(open) : open()
        // What the namespace does with records is not always given.
        var options = options
        options.policy.combination = CombineRule(opened.rules)
        loop = try EventLoop(options, handler)
        self.subcommand = subcommand
        store = opened.store
        phase = subcommand == .work ? .working : .reading
        // Records that only wait in the output can go back to the store at once; commands get time to end.
        let lease = options.lease ?? .seconds(30)
        let grace = CoreDuration.nanoseconds(handler.writesOutput ? 0 : lease.nanoseconds / 2)
        worker = WorkerStateMachine(
            WorkerStateMachine.Configuration(
                namespace: options.namespace, owner: .random(in: .min ... .max),
                maxConcurrent: handler.writesOutput ? Self.mostUnwritten : options.jobs ?? CommandOptions.cores,
                lease: lease, backoff: RetryPolicy(maxAttempts: options.maxAttempts ?? 20), grace: grace,
                keepsValues: false, watches: opened.rules.whileRunning != .queue))
    }

    var options: CommandOptions { loop.options }

    /// Runs until the worker has finished.
    ///
    /// - Returns: The exit status. Does not return if a signal has ended the session.
    mutating func run() -> Int32 {
        if subcommand == .work, isatty(STDERR_FILENO) != 0 {
            let store = ServerURL.withoutPassword(options.store ?? "")
            loop.streams.log.report(
                "working on \(store), namespace \(Terminal.shown(options.namespace)); Ctrl-C ends it")
        }
        drive([.woke], at: loop.clock.now)
        while !(worker.isFinished && loop.handler.isIdle) {
            let (events, now) = loop.wait(
                isReading: phase == .reading, store: store.changesDescriptor,
                until: min(worker.alarm, listenDeadline ?? nextStoreCheck, nextAwaitedCheck))
            for event in events { handle(event, at: now) }
        }
        phase.handle(.finish)
        loop.takeLateSignals()
        reportPendingValues()
        if loop.hasFailed { reportRetries() }
        loop.streams.reportCounts()
        if options.showsStatistics { reportStatistics() }
        store.end()
        loop.drain()
        return loop.end()
    }

    private mutating func handle(_ event: EventLoop<Handler>.Event, at now: CoreInstant) {
        switch event {
        case .asksForStatistics: reportStatistics()
        case .asksToEnd:
            if phase == .reading {
                loop.input.reader.finish()
                takeRecords(at: now)
                endInput(at: now)
            } else {
                stop(subcommand == .work ? .stop : .drain, at: now)
            }
        case .insists(let signal): loop.end(by: signal)
        case .failed: stop(.stop, at: now)
        case .ended(let ended):
            let events = ended.compactMap { self.event(of: $0.id, $0.end) }
            // First, or the worker would claim more in the place of what has ended.
            if loop.hasFailed, options.failsFast {
                loop.handler.startNothingMore()
                stop(.drain, at: now)
            }
            drive(events, at: now)
        case .prepared(let execution): if let event = begin(execution) { drive([event], at: now) }
        case .woke:
            if worker.alarm <= now { drive([.woke], at: now) }
            checkStore(at: now)
            if nextAwaitedCheck <= now { stopIfNothingIsAwaited(at: now) }
        case .storeChanged:
            let (hasWork, interruptions) = store.takeChanges()
            if let interruptions { drive([.watchEnded(interruptions)], at: now) }
            if hasWork { notifyWorker(.success(()), at: now) }
        case .records: if phase == .reading { takeRecords(at: loop.clock.now) }
        case .inputEnded: endInput(at: loop.clock.now)
        case .written: completeWritten()
        case .outputClosed:
            // Runs whose records were not written go back to the store.
            stop(.stop, at: loop.clock.now)
        }
    }

    /// Ends a wait that has lasted its time. While the worker does not wait, checks that the store is in place.
    private mutating func checkStore(at now: CoreInstant) {
        if let listenDeadline, listenDeadline <= now { return notifyWorker(.success(()), at: now) }
        guard listenDeadline == nil, nextStoreCheck <= now else { return }
        nextStoreCheck = now.advanced(by: Self.fileCheckInterval)
        do throws(DurableError) { try store.change { try await $0.check() } } catch {
            drive([.storeFailed(error)], at: now)
        }
    }

    /// Notifies the worker, if it waits for that, that there may be work to claim.
    mutating func notifyWorker(_ result: Result<Void, DurableError>, at now: CoreInstant) {
        guard listenDeadline != nil else { return }
        listenDeadline = nil
        drive([.waitEnded(result)], at: now)
    }
}
