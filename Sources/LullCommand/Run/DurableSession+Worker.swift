internal import LullCore
internal import LullDurable

// The runs of a session with a store, and what its worker says.

extension DurableSession {
    /// Carries out what the worker has decided on.
    ///
    /// - Returns: The event that follows at once.
    mutating func perform(
        _ action: WorkerStateMachine.Action, at now: CoreInstant
    ) -> WorkerStateMachine.Event? {
        switch action {
        case .start(let run): return start(run)
        case .cancel(let run, let exceeded):
            if let exceeded { exceededLimits[run] = exceeded }
            return cancel(run, at: now)
        case .report(let report): note(report, at: now)
        case .leaseLost(let run):
            runs[run.number] = nil
            let message = "\(subject(run)): the lease was lost to another worker"
            loop.streams.report(message, of: "leases lost to other workers", at: now)
        case .died(let run):
            loop.streams.log.report("\(subject(run)): dead after attempt \(run.attempt): the worker's lease expired")
        case .overdue(let run, let error):
            let limit = DurationText.rounded(error.limit)
            let message = "\(subject(run)): overdue: it goes on after twice its time limit of \(limit)"
            loop.streams.report(message, of: "runs overdue", at: now)
        case .leaseGivenUp(let run):
            let message = "\(subject(run)): it does not end: another worker may take it over, and its job stays taken"
            loop.streams.report(message, of: "runs that do not end", at: now)
        case .storeFailed(let error):
            let kind = "times the store was asked again"
            loop.streams.report("the store failed and is asked again: \(error)", of: kind, at: now)
            awaited.storeFailed()
        case .paused(let pause):
            let name = Terminal.shown(options.namespace)
            loop.streams.log.report("the namespace \(name) is paused, and nothing new begins\(pause.shownReason)")
        case .resumed:
            loop.streams.log.report("the namespace \(Terminal.shown(options.namespace)) is resumed")
        case .announce, .claim, .wait, .watch: break  // The driver's.
        }
        return nil
    }

    /// Logs, for a run whose command has failed or was snoozed, when it is due again or that it is dead.
    private mutating func note(_ report: DurableReport, at now: CoreInstant) {
        guard let run = runs[report.run] else { return }
        switch report.kind {
        case .failed(_, let retry?):
            let time = DurationText.rounded(retry.nanoseconds)
            loop.streams.log.report("\(subject(run)): attempt \(run.attempt) failed, the next is in \(time)")
        case .failed(_, nil): loop.streams.log.report("\(subject(run)): dead after attempt \(run.attempt)")
        case .gaveUp: loop.streams.log.report("\(subject(run)): given up in attempt \(run.attempt), and dead")
        case .snoozed(let time):
            let message = "\(subject(run)): snoozed for \(DurationText.rounded(time.nanoseconds))"
            loop.streams.report(message, of: "snoozes", at: now)
        case .heartbeat, .overdue, .completed, .released, .interrupted: break
        }
        // The worker may report it again, but does not hold it any more.
        if !report.isInterim { runs[report.run] = nil }
    }

    /// - Returns: The event that follows at once.
    private mutating func start(_ run: DurableRun) -> WorkerStateMachine.Event? {
        runs[run.number] = run
        // The handler has the values; messages need only the rest.
        runs[run.number]?.values = []
        awaited.started(run)
        return loop.prepare(WorkItem(run, offset: offset, options.combining)).flatMap { begin($0) }
    }

    /// Begins a run that has been prepared, unless that has taken so long that it may be another worker's.
    ///
    /// - Returns: The event that follows at once.
    mutating func begin(_ execution: EventLoop<Handler>.PreparedExecution) -> WorkerStateMachine.Event? {
        let run = execution.id
        // This process may have been stopped since the last event.
        let leaseLeft = driver.leaseLeft(of: run)
        guard leaseLeft > .zero, !(options.failsFast && loop.hasFailed) else {
            loop.discard(execution)
            return .notStarted(run: run)
        }
        if case .failure(let fault)? = execution.result, let run = runs[run] {
            loop.streams.log.report("\(subject(run)): \(fault.ofValue)")
        }
        return loop.start(execution, before: loop.clock.now.advanced(by: leaseLeft)).flatMap { event(of: run, $0) }
    }

    /// Returns the event of a run that has ended, and logs if it goes back to the store. Nil if its records have yet to
    /// be written.
    mutating func event(of run: Int64, _ end: ExecutionResult) -> WorkerStateMachine.Event? {
        let exceeded = exceededLimits.removeValue(forKey: run)
        var answer: HandlerEnd
        switch end {
        case .notStarted: return .notStarted(run: run)
        case .returned:
            guard loop.handler.writesOutput else { return .handlerEnded(run: run, .returned) }
            unwritten.append(run)
            return nil
        case .failed(let error): answer = .threw(error)
        case .answered(let given): answer = given
        }
        if let exceeded {
            answer = .threw("\(exceeded)")
            if let run = runs[run] {
                let limit = DurationText.rounded(exceeded.limit)
                loop.streams.log.report("\(subject(run)): it was stopped after its time limit of \(limit)")
            }
        }
        if case .snoozed = answer {} else if !driver.isInterrupted(run) { loop.hasFailed = true }
        return .handlerEnded(run: run, answer)
    }

    /// - Returns: Its end, if nothing but its output was left.
    private mutating func cancel(_ run: Int64, at now: CoreInstant) -> WorkerStateMachine.Event? {
        if let index = unwritten.firstIndex(of: run) {
            unwritten.remove(at: index)
            return .handlerEnded(run: run, .threw("nobody reads the output"))
        }
        loop.stop(run, at: now)
        return nil
    }
}
