internal import LullCore
internal import LullDurable

// The worker of a session with a store: its events, its actions, and its calls of the store.

extension DurableSession {
    /// The calls of the store that the worker asks for, to be made in one transaction.
    private struct StoreCalls {
        var reports: [DurableReport] = []
        var claim: DurableClaim?

        var isEmpty: Bool { reports.isEmpty && claim == nil }
    }

    /// Passes events that have come together to the worker, and carries out its actions and those that follow from
    /// them. All the runs that have ended are reported in one transaction, which also claims as many new ones.
    mutating func drive(_ events: [WorkerStateMachine.Event], at now: CoreInstant) {
        var events = events
        while !events.isEmpty {
            var calls = StoreCalls()
            while !events.isEmpty {
                let actions = worker.handle(events, at: now)
                events = actions.compactMap { perform($0, &calls, at: now) }
            }
            if !calls.isEmpty { events = commit(calls) }
        }
        if let failure = worker.failure, loop.streams.status == ExitStatus.success {
            loop.streams.fail(Failure(failure, subcommand))
        }
        stopIfNothingIsAwaited(at: now)
    }

    /// Carries out an action, or adds it to the calls of the store.
    ///
    /// - Returns: The event that follows at once.
    private mutating func perform(
        _ action: WorkerStateMachine.Action, _ calls: inout StoreCalls, at now: CoreInstant
    ) -> WorkerStateMachine.Event? {
        switch action {
        case .announce:
            // If the store is away, its next claim or report shows it.
            let identity = DurableWorker.Identity(id: worker.configuration.owner)
            let namespace = options.namespace
            try? store.change { try await $0.announce(identity, in: namespace) }
        case .claim(let claim):
            calls.claim = claim
        case .report(let report):
            logFailure(in: report)
            calls.reports.append(report)
        case .start(let run):
            return start(run)
        case .wait(let mark, let time):
            // The last claim may have come before what is awaited fell due.
            if awaited.claimLimit != nil { return .waitEnded(.success(())) }
            listenDeadline = now.advanced(by: time)
            store.watch(options.namespace, after: mark, atMost: time)
        case .watch(let known, let time):
            store.watch(options.namespace, worker: worker.configuration.owner, besides: known, atMost: time)
        case .cancel(let run):
            return cancel(run, at: now)
        case .leaseLost(let run):
            let message = "\(subject(run)): the lease was lost to another worker"
            loop.streams.report(message, of: "leases lost to other workers", at: now)
        case .died(let run):
            loop.streams.log.report("\(subject(run)): dead after attempt \(run.attempt): the worker's lease expired")
        case .storeFailed(let error):
            let kind = "times the store was asked again"
            loop.streams.report("the store failed and is asked again: \(error)", of: kind, at: now)
        case .paused(let pause):
            let name = Terminal.shown(options.namespace)
            loop.streams.log.report("the namespace \(name) is paused, and nothing new begins\(pause.shownReason)")
        case .resumed:
            loop.streams.log.report("the namespace \(Terminal.shown(options.namespace)) is resumed")
        }
        return nil
    }

    /// Makes the calls of the store in one transaction.
    ///
    /// - Returns: The events with the answers, or with the error for all of them.
    private mutating func commit(_ calls: StoreCalls) -> [WorkerStateMachine.Event] {
        let (reports, claim) = (calls.reports, calls.claim)
        let answers = store.exchange(reports, claim)
        if case .success(let claimed)? = answers.claim {
            awaited.claimed(claimed)
            if let now = claimed.now { offset = now.duration(to: loop.clock.now) }
        }
        for (report, answer) in zip(reports, answers.reports) where (try? answer.get()) != nil && report.kind.isLast {
            runs[report.run] = nil
        }
        var events = zip(reports, answers.reports).map { WorkerStateMachine.Event.reported($0, $1) }
        if let claimed = answers.claim { events.append(.claimed(claimed)) }
        return events
    }

    // MARK: - Runs

    /// - Returns: The event that follows at once.
    private mutating func start(_ run: DurableRun) -> WorkerStateMachine.Event? {
        runs[run.id] = run
        // The handler has the values; messages need only the rest.
        runs[run.id]?.values = []
        awaited.started(run)
        return loop.prepare(WorkItem(run, offset: offset, options.combining)).flatMap { begin($0) }
    }

    /// Begins a run that has been prepared, unless that has taken so long that it may be another worker's.
    ///
    /// - Returns: The event that follows at once.
    mutating func begin(_ execution: EventLoop<Handler>.PreparedExecution) -> WorkerStateMachine.Event? {
        let run = execution.id
        // This process may have been stopped since the last event.
        guard let leaseEnd = worker.leaseEnd(of: run), loop.clock.now < leaseEnd, !(options.failsFast && loop.hasFailed)
        else {
            loop.discard(execution)
            return .notStarted(run: run)
        }
        if case .failure(let fault)? = execution.result, let run = runs[run] {
            loop.streams.log.report("\(subject(run)): \(fault.ofValue)")
        }
        return loop.start(execution, before: leaseEnd).flatMap { event(of: run, $0) }
    }

    /// Returns the event of a run that has ended, and logs if it goes back to the store. Nil if its records have yet to
    /// be written.
    mutating func event(of run: Int64, _ end: ExecutionEnd) -> WorkerStateMachine.Event? {
        switch end {
        case .returned:
            guard loop.handler.writesOutput else { return .handlerEnded(run: run, error: nil) }
            unwritten.append(run)
            return nil
        case .failed(let error):
            if !worker.isInterrupted(run) { loop.hasFailed = true }
            return .handlerEnded(run: run, error: error)
        case .notStarted: return .notStarted(run: run)
        }
    }

    /// - Returns: Its end, if nothing but its output was left.
    private mutating func cancel(_ run: Int64, at now: CoreInstant) -> WorkerStateMachine.Event? {
        if let index = unwritten.firstIndex(of: run) {
            unwritten.remove(at: index)
            return .handlerEnded(run: run, error: "nobody reads the output")
        }
        loop.stop(run, at: now)
        return nil
    }
}

extension DurableReport.Kind {
    /// Whether the worker no longer holds the run after this report.
    fileprivate var isLast: Bool {
        if case .heartbeat = self { false } else { true }
    }
}
