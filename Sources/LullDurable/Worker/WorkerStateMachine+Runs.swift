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
        var isCancelled = false
        /// Whether a newer value has interrupted the run.
        var isInterrupted = false
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

        /// Whether the store has yet to accept a report that failed.
        var hasFailedReport: Bool { failedReports > 0 && isLeased }

        /// When something has to be done about the run.
        var alarm: CoreInstant {
            switch state {
            case .running: isLeased && heartbeatSentAt == nil ? nextHeartbeat : .farFuture
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
        let canSend = { (held: HeldRun) in held.isRunning && held.isLeased && held.heartbeatSentAt == nil }
        guard runs.values.contains(where: { canSend($0) && $0.nextHeartbeat <= now }) else { return }
        let soon = now.advanced(by: .nanoseconds(heartbeatInterval.nanoseconds / 2))
        for held in runs.values.sorted(by: { $0.run.number < $1.run.number })
        where canSend(held) && held.nextHeartbeat <= soon {
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
    mutating func handlerEnded(_ run: Int64, _ error: String?) {
        obstacle = nil
        guard let held = freeSlot(of: run) else { return }
        if let error {
            // A handler that was cancelled and threw has not failed.
            let cancelled: DurableReport.Kind? = held.isInterrupted ? .interrupted : held.isCancelled ? .released : nil
            report(cancelled ?? failed(error, held.run), of: run)
        } else {
            report(.completed, of: run)
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

    private mutating func failed(_ error: String, _ run: DurableRun) -> DurableReport.Kind {
        guard run.attempt < configuration.backoff.maxAttempts else { return .failed(error, retry: nil) }
        return .failed(error, retry: configuration.backoff.delay(after: run.attempt, &jitter))
    }

    /// Sends the final report of a run.
    mutating func report(_ kind: DurableReport.Kind, of run: Int64) {
        guard let held = runs[run] else { return }
        runs[run]?.state = .reporting(kind)
        send(kind, of: held.run)
    }

    /// Repeats the final reports that have failed, if it is time.
    mutating func repeatFailedReports() {
        for run in runs.keys.sorted() {
            if case .unreported(let kind, let retryAt)? = runs[run]?.state, retryAt <= now { report(kind, of: run) }
        }
    }

    private mutating func send(_ kind: DurableReport.Kind, of run: DurableRun) {
        actions.append(
            .report(
                DurableReport(
                    namespace: configuration.namespace, key: run.key, run: run.number, fence: run.fence,
                    owner: configuration.owner,
                    kind)))
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
        if case .heartbeat = report.kind { return heartbeatAnswered(held, result) }
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
