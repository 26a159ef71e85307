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
        case .cancel(let run): return cancel(run, at: now)
        case .report(let report): note(report)
        case .leaseLost(let run):
            runs[run.number] = nil
            let message = "\(subject(run)): the lease was lost to another worker"
            loop.streams.report(message, of: "leases lost to other workers", at: now)
        case .died(let run):
            loop.streams.log.report("\(subject(run)): dead after attempt \(run.attempt): the worker's lease expired")
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

    /// Logs, for a run whose command has failed, when its next attempt is due or that it is dead.
    private mutating func note(_ report: DurableReport) {
        guard let run = runs[report.run] else { return }
        if case .failed(_, let retry) = report.kind {
            if let retry {
                let time = DurationText.rounded(retry.nanoseconds)
                loop.streams.log.report("\(subject(run)): attempt \(run.attempt) failed, the next is in \(time)")
            } else {
                loop.streams.log.report("\(subject(run)): dead after attempt \(run.attempt)")
            }
        }
        // The worker may report it again, but does not hold it any more.
        if case .heartbeat = report.kind {} else { runs[report.run] = nil }
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
        switch end {
        case .returned:
            guard loop.handler.writesOutput else { return .handlerEnded(run: run, error: nil) }
            unwritten.append(run)
            return nil
        case .failed(let error):
            if !driver.isInterrupted(run) { loop.hasFailed = true }
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
