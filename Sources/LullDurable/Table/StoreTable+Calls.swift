package import LullCore

// What those calls of a store do in a step that are more than a step of ``DurableTable``.

extension StoreTable {
    // MARK: - Namespaces

    /// See ``StoreCalls/open(_:_:changingPolicy:)``.
    package mutating func open(
        _ name: String, _ rules: DurableRules?, changingPolicy: Bool
    ) throws(DurableError) -> PolicyOpening {
        let opening = try PolicyOpening(
            of: name, with: rules, stored: try rulesIfOpen(name), changingPolicy: changingPolicy)
        if opening.isWritten { try write(opening.rules, of: name, isNew: opening.isNew) }
        return opening
    }

    private mutating func rulesIfOpen(_ name: String) throws(DurableError) -> DurableRules? {
        do throws(DurableError) { return try namespace(name).rules } catch {
            guard case .noPolicy = error else { throw error }
            return nil
        }
    }

    /// A part of ``StoreCalls/forget(_:)``.
    ///
    /// - Returns: Whether nothing is left of the namespace.
    package mutating func forgetSome(of name: String) throws(DurableError) -> Bool {
        let namespace = try namespace(name)
        // Work may have come since the last part.
        let status = try status(of: namespace)
        if status.hasWork { throw .hasWork(status) }
        return try removeSome(of: namespace)
    }

    /// See ``StoreCalls/pause(_:reason:for:)``.
    package mutating func pause(
        _ name: String, reason: String?, for time: CoreDuration?
    ) throws(DurableError) -> DurablePause {
        let namespace = try namespace(name)
        let pause = DurablePause(
            reason, for: time, over: namespace.pause(at: now), at: now, wall: .nanoseconds(wall.nanoseconds))
        if pause != namespace.latestPause { try write(pause, of: namespace) }
        return pause
    }

    /// See ``StoreCalls/resume(_:)``.
    package mutating func resume(_ name: String) throws(DurableError) -> Bool {
        let namespace = try namespace(name)
        guard namespace.latestPause != nil else { return false }
        try write(nil, of: namespace)
        return namespace.pause(at: now) != nil
    }

    // MARK: - Producers

    /// See ``StoreCalls/submit(_:)``.
    package mutating func submit(_ submission: DurableSubmission) throws(DurableError) -> DurableReceipt {
        try submission.checkSize(by: limits)
        let namespace = try namespace(submission.namespace)
        try forgetSome(in: namespace)
        return try submit(submission, in: namespace, at: now)
    }

    // MARK: - Workers

    /// Makes several calls of a worker, each with an answer of its own: see ``StoreCalls/exchange(_:_:)``.
    package mutating func exchange(_ reports: [DurableReport], _ claim: DurableClaim?) -> TableExchange {
        var answers: [Result<DurableReport.Answer, DurableError>] = []
        for report in reports {
            do throws(DurableError) { answers.append(.success(try self.report(report))) } catch {
                answers.append(.failure(error))
            }
        }
        var claimed: Result<TableExchange.Claimed, DurableError>?
        if let claim {
            do throws(DurableError) { claimed = .success(try self.claim(claim)) } catch { claimed = .failure(error) }
        }
        return TableExchange(reports: answers, claim: claimed, now: now)
    }

    /// Records a worker's report.
    package mutating func report(_ report: DurableReport) throws(DurableError) -> DurableReport.Answer {
        try self.report(report, in: try namespace(report.namespace), at: now)
    }

    /// Hands out runs.
    package mutating func claim(_ claim: DurableClaim) throws(DurableError) -> TableExchange.Claimed {
        let namespace = try namespace(claim.namespace)
        try forgetSome(in: namespace)
        let (runs, dead, next) = try self.claim(claim, in: namespace, at: now)
        return TableExchange.Claimed(runs: runs, dead: dead, next: next, pause: namespace.pause(at: now))
    }

    // MARK: - Questions

    /// See ``StoreCalls/status()``.
    package mutating func status() throws(DurableError) -> [DurableStatus] {
        var all: [DurableStatus] = []
        for namespace in try namespaces() { all.append(try status(of: namespace)) }
        return all
    }
}

extension DurableTable {
    /// Flushes or cancels what comes from one submitter alone: see ``ChangeTarget``.
    package mutating func change(
        _ change: DurableChange, submittedBy submitter: Int64, in namespace: DurableNamespace, at now: CoreInstant
    ) throws(DurableError) -> ChangeSum {
        var sum = ChangeSum()
        switch change {
        case .flush:
            (sum.flushed, sum.mixed) = try flush(submittedBy: submitter, in: namespace, at: now)
            sum.count = sum.flushed.count
        case .cancel:
            (sum.count, sum.mixed) = try cancel(submittedBy: submitter, in: namespace, at: now)
        }
        return sum
    }
}
