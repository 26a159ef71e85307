internal import CLullCommand
internal import LullCore
internal import LullDurable

/// The session of `lull filter` and `lull run` with a store, and of `lull work`.
///
/// It is a ``Session`` with the pending values in a store. It submits the records of one read to the store in one
/// transaction. It claims what falls due, and completes it when it is written or its command has ended. If the program
/// dies in between, that work may be done twice; it is never lost.
///
/// Two state machines decide: ``DurableSessionPhase`` how far the session has got, and that of the library's worker
/// what to claim and report. The worker's driver makes the calls of the store; the session carries out the runs.
struct DurableSession<Handler: ExecutionHandler>: ~Copyable {
    var loop: EventLoop<Handler>
    let subcommand: Subcommand
    let store: CommandStore
    let mailbox: WorkerMailbox
    let driver: WorkerDriver
    let configuration: WorkerStateMachine.Configuration
    var phase: DurableSessionPhase
    private var hasWorkerFinished = false

    /// When to check that a file is still in place.
    var nextStoreCheck = CoreInstant.farPast
    /// The runs that the worker has claimed, without their values.
    var runs: [Int64: DurableRun] = [:]
    /// The time limits that have stopped commands.
    var exceededLimits: [Int64: TimeLimitExceeded] = [:]
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
    /// How often to check, while runs are carried out, that the file is still in place.
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
        let mailbox = try WorkerMailbox(grace: opened.store.grace)
        loop = try EventLoop(options, handler)
        self.subcommand = subcommand
        store = opened.store
        phase = subcommand == .work ? .working : .reading
        // Records that only wait in the output can go back to the store at once; commands get time to end.
        let lease = options.lease ?? .seconds(30)
        let grace = CoreDuration.nanoseconds(handler.writesOutput ? 0 : lease.nanoseconds / 2)
        configuration = WorkerStateMachine.Configuration(
            namespace: options.namespace, owner: .random(in: .min ... .max),
            maxConcurrent: handler.writesOutput ? Self.mostUnwritten : options.jobs ?? CommandOptions.cores,
            lease: lease, backoff: options.retryPolicy, grace: grace, timeLimit: options.timeLimit,
            keepsValues: false, watches: opened.rules.whileRunning != .queue)
        self.mailbox = mailbox
        driver = WorkerDriver(configuration, store.store, WorkerClock(ContinuousClock()), mailbox)
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
        Task.detached { [driver, mailbox] in
            do throws(DurableError) {
                try await driver.run()
                mailbox.finish(nil)
            } catch {
                mailbox.finish(error)
            }
        }
        while !(hasWorkerFinished && loop.handler.isIdle) {
            let (events, now) = loop.wait(
                isReading: phase == .reading, worker: mailbox.descriptor,
                until: min(runs.isEmpty ? .farFuture : nextStoreCheck, nextAwaitedCheck))
            for event in events { handle(event, at: now) }
        }
        phase.handle(.finish)
        loop.takeLateSignals()
        reportPendingValues()
        if loop.hasFailed { reportRetries() }
        loop.streams.reportCounts()
        if options.showsStatistics { reportStatistics() }
        store.end()
        while loop.drain() { reportStatistics() }
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
                stop(subcommand == .work ? .stop : .drain)
            }
        case .insists(let signal): loop.end(by: signal)
        case .failed: stop(.stop)
        case .ended(let ended):
            var events = ended.compactMap { self.event(of: $0.id, $0.end) }
            if loop.hasFailed, options.failsFast {
                loop.handler.startNothingMore()
                phase.handle(.stop)
                // First, or the worker would claim more in the place of what has ended.
                events.insert(.drain, at: 0)
            }
            driver.handle(events)
        case .prepared(let execution): if let event = begin(execution) { driver.handle([event]) }
        case .woke:
            checkStore(at: now)
            if nextAwaitedCheck <= now { stopIfNothingIsAwaited(at: now) }
        case .workerDecided: takeMessages(at: now)
        case .records: if phase == .reading { takeRecords(at: loop.clock.now) }
        case .inputEnded: endInput(at: loop.clock.now)
        case .written: completeWritten()
        case .outputClosed:
            // Runs whose records were not written go back to the store.
            stop(.stop)
        }
    }

    /// Carries out what the worker has decided on.
    private mutating func takeMessages(at now: CoreInstant) {
        let messages = mailbox.take()
        for case .claimed(let answer, let instant) in messages {
            guard let now = answer.now else { continue }
            offset = now.duration(to: CoreInstant(nanoseconds: instant - loop.clock.origin))
        }
        var events: [WorkerStateMachine.Event] = []
        for message in messages {
            switch message {
            case .action(let action): if let event = perform(action, at: now) { events.append(event) }
            case .claimed(let answer, _): awaited.claimed(answer)
            case .finished(let error):
                hasWorkerFinished = true
                if let error, loop.streams.status == ExitStatus.success {
                    loop.streams.fail(Failure(error, subcommand))
                }
            }
        }
        if !events.isEmpty { driver.handle(events) }
        stopIfNothingIsAwaited(at: now)
    }

    /// Checks that the store is in place. A worker that waits for work notices by itself.
    private mutating func checkStore(at now: CoreInstant) {
        guard !runs.isEmpty, nextStoreCheck <= now else { return }
        nextStoreCheck = now.advanced(by: Self.fileCheckInterval)
        do throws(DurableError) { try store.change { try await $0.check() } } catch {
            driver.handle([.storeFailed(error)])
        }
    }
}
