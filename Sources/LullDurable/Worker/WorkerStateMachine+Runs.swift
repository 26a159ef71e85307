internal import Lull
package import LullCore

// The runs that a worker has.

extension WorkerStateMachine {
    /// A run that the worker has, or had and whose handler still runs.
    struct HeldRun: Sendable {
        /// The run as it was handed out last.
        var run: DurableRun
        var state = State.running
        /// Whether the run is the worker's, as far as it knows.
        var isLeased = true
        /// Until when it is certainly no other worker's: counted from before the store was called.
        var leaseEnd: CoreInstant
        /// When the next heartbeat is due.
        var nextHeartbeat: CoreInstant
        /// When the heartbeat that is under way was sent.
        var heartbeatSentAt: CoreInstant?
        /// When the time limit of its handler is over, and when the worker reports that it goes on all the same; the
        /// far future without a limit, and for what has been done.
        var limitEnd = CoreInstant.farFuture
        var overdueAt = CoreInstant.farFuture
        /// When the worker stops renewing the lease: a lease after the end of the limit.
        var giveUpAt = CoreInstant.farFuture
        /// Whether the worker lets the lease end, since the handler hangs.
        var isGivenUp = false
        var isCancelled = false
        /// Whether its time limit was what cancelled the handler.
        var hasExceededLimit = false
        /// Whether a newer value has interrupted the run.
        var isInterrupted = false
        /// The pause of the namespace for which the handler has asked.
        var pause: PauseFor?
        /// How many reports of the run have failed in a row.
        var failedReports = 0
        /// The run as it was handed out again during its final report, by a claim sent at an instant: its lease had
        /// ended, or the store had recorded the report before the claim.
        var reclaimed: (run: DurableRun, since: CoreInstant)?

        /// The life of a run in a worker.
        ///
        /// | state | next state |
        /// |---|---|
        /// | running | reporting, when the handler has ended or, in a stop, its deadline has passed |
        /// | running | none: the handler of a run whose lease was lost has ended |
        /// | reporting | none: the store has recorded the report, or the lease was lost |
        /// | reporting | running: recorded, and the run was handed out again meanwhile |
        /// | reporting | reporting: lost to a claim of this worker itself; the report is sent under the new fence |
        /// | reporting | unreported, if the call failed |
        /// | unreported | reporting, at its instant |
        enum State: Hashable, Sendable {
            /// The handler runs.
            case running
            /// The final report is under way.
            case reporting(DurableReport.Kind)
            /// The final report has failed, and is repeated at an instant.
            case unreported(DurableReport.Kind, retryAt: CoreInstant)
        }

        var isRunning: Bool { state == .running }

        /// Whether the next heartbeat may be sent.
        var canBeRenewed: Bool { isRunning && isLeased && !isGivenUp && heartbeatSentAt == nil }

        /// Whether the store has yet to accept a report that failed.
        var hasFailedReport: Bool { failedReports > 0 && isLeased }

        /// When something has to be done about the run.
        var alarm: CoreInstant {
            switch state {
            case .running:
                min(canBeRenewed ? nextHeartbeat : .farFuture, limitEnd, overdueAt, giveUpAt)
            case .reporting: .farFuture
            case .unreported(_, let retryAt): retryAt
            }
        }
    }

    private var heartbeatInterval: CoreDuration { .nanoseconds(configuration.lease.nanoseconds / 3) }

    // MARK: - Beginning

    /// Takes a run that was claimed at an instant.
    mutating func take(_ run: DurableRun, _ since: CoreInstant) {
        if var held = runs[run.number] {
            if held.isRunning {
                // The worker has taken over its own run, whose lease had ended: the handler goes on under the new
                // fence.
                held.run = retained(run)
                held.isLeased = true
                renew(&held, since)
            } else {
                if held.reclaimed == nil { usedSlots += 1 }
                held.reclaimed = (run, since)
            }
            runs[run.number] = held
            return
        }
        var held = HeldRun(run: retained(run), leaseEnd: since, nextHeartbeat: since)
        renew(&held, since)
        runs[run.number] = held
        guard phase == .working else { return report(.released, of: run.number) }
        usedSlots += 1
        if let limit = configuration.timeLimit {
            let end = now.advanced(by: limit)
            runs[run.number]?.limitEnd = end
            runs[run.number]?.overdueAt = end.advanced(by: limit)
            runs[run.number]?.giveUpAt = end.advanced(by: configuration.lease)
            wake(at: end)
        }
        actions.append(.start(run))
    }

    /// Returns the instant by which the handler of a run may begin; nil if it may not begin any more.
    package func leaseEnd(of run: Int64) -> CoreInstant? {
        guard let held = runs[run], held.isRunning, held.isLeased, failure == nil else { return nil }
        return held.leaseEnd
    }

    private func retained(_ run: DurableRun) -> DurableRun {
        var run = run
        if !configuration.keepsValues { run.values = [] }
        return run
    }

    /// Counts the lease from an instant on.
    private mutating func renew(_ held: inout HeldRun, _ since: CoreInstant) {
        held.leaseEnd = since.advanced(by: configuration.lease)
        held.nextHeartbeat = since.advanced(by: heartbeatInterval)
        held.failedReports = 0
        wake(at: held.nextHeartbeat)
    }

    // MARK: - While the handler runs

    /// Sends the heartbeats that are due, together with those that soon will be.
    mutating func sendHeartbeats() {
        guard runs.values.contains(where: { $0.canBeRenewed && $0.nextHeartbeat <= now }) else { return }
        let soon = now.advanced(by: .nanoseconds(heartbeatInterval.nanoseconds / 2))
        for held in runs.values.sorted(by: { $0.run.number < $1.run.number })
        where held.canBeRenewed && held.nextHeartbeat <= soon {
            runs[held.run.number]?.heartbeatSentAt = now
            send(.heartbeat(lease: configuration.lease), of: held.run)
        }
    }

    /// Cancels a handler, once. It may take its time, or ignore the cancellation.
    mutating func cancelHandler(_ run: Int64) {
        guard let held = runs[run], held.isRunning, !held.isCancelled else { return }
        runs[run]?.isCancelled = true
        actions.append(.cancel(run: run))
    }

    /// Cancels the handlers whose time limit is over, and reports those that go on all the same.
    mutating func enforceTimeLimits() {
        guard let limit = configuration.timeLimit else { return }
        let error = TimeLimitExceeded(Duration(limit))
        for run in runs.keys.sorted() {
            guard var held = runs[run], held.isRunning else { continue }
            if held.limitEnd <= now {
                held.limitEnd = .farFuture
                if !held.isCancelled {
                    (held.isCancelled, held.hasExceededLimit) = (true, true)
                    actions.append(.cancel(run: run, exceeding: error))
                }
            }
            if held.overdueAt <= now {
                held.overdueAt = .farFuture
                actions.append(.overdue(held.run, error))
                if held.isLeased, failure == nil { send(.overdue, of: held.run) }
            }
            if held.giveUpAt <= now {
                held.giveUpAt = .farFuture
                // Another worker may take the run over when its lease has ended. The slot stays taken.
                if held.isLeased, !held.isGivenUp {
                    held.isGivenUp = true
                    actions.append(.leaseGivenUp(held.run))
                }
            }
            runs[run] = held
        }
    }

    /// The error of a run whose handler was cancelled because its time limit was over; nil for any other.
    func timeLimit(of held: HeldRun) -> TimeLimitExceeded? {
        held.hasExceededLimit ? configuration.timeLimit.map { TimeLimitExceeded(Duration($0)) } : nil
    }

    /// Cancels the handler of a run that a newer value has interrupted.
    mutating func interrupt(_ run: Int64) {
        guard let held = runs[run], held.isRunning, held.isLeased, !held.isInterrupted else { return }
        runs[run]?.isInterrupted = true
        cancelHandler(run)
    }

    /// Returns whether a newer value has interrupted a run, so that the end of its handler with an error is no failure.
    package func isInterrupted(_ run: Int64) -> Bool { runs[run]?.isInterrupted == true }

    // MARK: - Ending

    /// Handles the end of a handler.
    mutating func handlerEnded(_ run: Int64, _ end: HandlerEnd) {
        obstacle = nil
        guard let held = freeSlot(of: run) else { return }
        if end == .returned { return report(.completed, of: run) }
        if let error = timeLimit(of: held) { return report(failed("\(error)", held.run), of: run) }
        // A handler that was cancelled and threw has not failed.
        if held.isCancelled { return report(held.isInterrupted ? .interrupted : .released, of: run) }
        switch end {
        case .returned: preconditionFailure("a handler that has returned was to be reported as one that threw")
        case .threw(let error): report(failed(error, held.run), of: run)
        case .retry(let delay, let error): report(failed(error, held.run, retry: delay), of: run)
        case .gaveUp(let reason): report(.gaveUp(reason), of: run)
        case .snoozed(let time):
            let backoff = time ?? configuration.backoff.delay(after: held.run.attempt, &jitter)
            report(.snoozed(for: max(.zero, backoff)), of: run)
        case .paused(let pause):
            let time = max(.zero, CoreDuration(pause.time))
            report(.snoozed(for: time), of: run, pausing: pause)
        }
    }

    /// Handles that a handler could not be run.
    mutating func notStarted(_ run: Int64) {
        obstacle = lengthened(obstacle)
        if let held = freeSlot(of: run) { report(held.isInterrupted ? .interrupted : .released, of: run) }
    }

    /// Frees the slot of a handler that has ended.
    ///
    /// - Returns: Its run, unless nothing is to be reported of it.
    private mutating func freeSlot(of run: Int64) -> HeldRun? {
        guard let held = runs[run], held.isRunning else {
            guard case .stopping = phase else { preconditionFailure("the end of a handler that does not run") }
            // Its run was released when the deadline passed.
            return nil
        }
        usedSlots -= 1
        guard held.isLeased, failure == nil else {
            runs[run] = nil
            return nil
        }
        return held
    }

    /// The report of a handler that has failed, with a delay of its own or that of the backoff.
    mutating func failed(_ error: String, _ run: DurableRun, retry: CoreDuration? = nil) -> DurableReport.Kind {
        guard run.attempt < configuration.backoff.maxAttempts else { return .failed(error, retry: nil) }
        let delay = retry ?? configuration.backoff.delay(after: run.attempt, &jitter)
        return .failed(error, retry: max(.zero, delay))
    }

    /// Sends the final report of a run.
    ///
    /// - Parameter pause: The pause of the namespace for which its handler has asked.
    mutating func report(_ kind: DurableReport.Kind, of run: Int64, pausing pause: PauseFor? = nil) {
        guard var held = runs[run] else { return }
        held.state = .reporting(kind)
        held.pause = pause ?? held.pause
        runs[run] = held
        send(kind, of: held.run, pausing: held.pause)
    }

    /// Repeats the final reports that have failed, if it is time.
    mutating func repeatFailedReports() {
        for run in runs.keys.sorted() {
            if case .unreported(let kind, let retryAt)? = runs[run]?.state, retryAt <= now { report(kind, of: run) }
        }
    }

    private mutating func send(_ kind: DurableReport.Kind, of run: DurableRun, pausing pause: PauseFor? = nil) {
        var report = DurableReport(
            namespace: configuration.namespace, key: run.key, run: run.number, fence: run.fence,
            owner: configuration.owner, kind)
        report.pause = pause
        actions.append(.report(report))
    }

    // MARK: - Answers

    /// Handles the answer to a report, or its failure.
    mutating func reported(_ report: DurableReport, _ result: Result<DurableReport.Answer, DurableError>) {
        switch result {
        case .success: outage = nil
        case .failure(let error): storeFailed(error)
        }
        // A report under an older fence no longer counts.
        guard failure == nil, let held = runs[report.run], held.run.fence == report.fence else { return }
        switch report.kind {
        case .heartbeat: return heartbeatAnswered(held, result)
        case .overdue: return
        case .completed, .failed, .gaveUp, .snoozed, .released, .interrupted: break
        }
        guard case .reporting(let kind) = held.state else { preconditionFailure("an answer without a report") }
        finalReportAnswered(held, kind, result)
    }

    private mutating func heartbeatAnswered(
        _ held: HeldRun, _ result: Result<DurableReport.Answer, DurableError>
    ) {
        var held = held
        // The handler may have ended meanwhile.
        guard held.isRunning, let sent = held.heartbeatSentAt else { return }
        held.heartbeatSentAt = nil
        switch result {
        case .success(.accepted):
            renew(&held, sent)
            runs[held.run.number] = held
        case .success(.interrupted):
            renew(&held, sent)
            runs[held.run.number] = held
            interrupt(held.run.number)
        case .success(.alreadyDone), .success(.leaseLost):
            held.isLeased = false
            runs[held.run.number] = held
            actions.append(.leaseLost(held.run))
            cancelHandler(held.run.number)
        case .failure:
            held.failedReports += 1
            held.nextHeartbeat = nextReport(after: held.failedReports)
            wake(at: held.nextHeartbeat)
            runs[held.run.number] = held
            // The run may be another worker's by now, and the store does not say.
            if now >= held.leaseEnd { cancelHandler(held.run.number) }
        }
    }

    private mutating func finalReportAnswered(
        _ held: HeldRun, _ kind: DurableReport.Kind, _ result: Result<DurableReport.Answer, DurableError>
    ) {
        let run = held.run
        switch result {
        case .success(.accepted), .success(.interrupted), .success(.alreadyDone):
            runs[run.number] = nil
            // The run was handed out for another attempt.
            guard let (run, since) = held.reclaimed else { return }
            usedSlots -= 1
            take(run, since)
        case .success(.leaseLost):
            guard let (reclaimed, _) = held.reclaimed else {
                runs[run.number] = nil
                // The values have gone back all the same: perhaps by this report, whose first answer was lost.
                if kind != .interrupted { actions.append(.leaseLost(run)) }
                return
            }
            // The run was lost to this worker itself: the report holds under the new fence.
            usedSlots -= 1
            runs[run.number]?.reclaimed = nil
            runs[run.number]?.run = reclaimed
            if case .failed(let error, _) = kind {
                report(failed(error, reclaimed), of: run.number)
            } else {
                report(kind, of: run.number)
            }
        case .failure:
            let retryAt = nextReport(after: held.failedReports + 1)
            runs[run.number]?.failedReports += 1
            runs[run.number]?.state = .unreported(kind, retryAt: retryAt)
            wake(at: retryAt)
        }
    }
}
