package import LullCore

// The calls of workers. All but a claim concern a run that the worker holds: the store has compared its id, its fence
// and its owner with the row's before.

extension DurableRow {
    /// The error of an attempt whose lease expired.
    package static var leaseExpired: [UInt8] { Array("the worker's lease expired".utf8) }
    /// The error of a snoozed run that a newer value has replaced.
    package static var snoozedAndReplaced: [UInt8] { Array("snoozed; a newer value took its place".utf8) }

    /// Hands the next run of the key to a worker, if there is one that may start at `now`.
    ///
    /// A new run freezes what is ready, or with ``DurableRules/maxBatch`` the first values of it, and the rest stays
    /// ready. A run that is taken over keeps its id, its range and its values; a run that has had all its attempts is
    /// dead.
    ///
    /// - Parameters:
    ///   - claim: The worker, and the lease that it wants.
    ///   - now: The present instant of the store's time.
    ///   - rules: The rules of the namespace.
    ///   - sequence: The source of fences and run ids: one number for the whole store.
    ///   - rest: The generation of the first value of the rest, if what is ready has to be divided
    ///     (``DurableRules/splits(_:)``) and the store holds the values outside the row.
    ///   - ended: Receives what ends in this step.
    /// - Returns: Whether ``run`` is now the worker's.
    package mutating func claim(
        _ claim: DurableClaim.Terms, at now: CoreInstant, by rules: DurableRules, sequence: inout Int64,
        rest: Int64? = nil, _ ended: inout [EndedSubmits]
    ) -> Bool {
        settle(at: now, by: rules, &ended)
        guard let startable, startable <= now else { return false }
        if let run, !run.isInBackoff {
            fail(Self.leaseExpired, retry: run.attempt < claim.maxAttempts ? .zero : nil, at: now, by: rules, &ended)
        }
        sequence += 1
        let held = Run.State.claimed(until: now.advanced(by: claim.lease))
        if var run {
            run.fence = sequence
            run.owner = claim.owner
            run.attempt += 1
            run.state = held
            run.began = now
            self.run = run
            return true
        }
        guard var value = ready, value.startable <= now else { return false }
        if let maxBatch = rules.maxBatch, rules.splits(value) {
            ready = value.divide(after: maxBatch, before: rest, at: now)
        } else {
            ready = nil
        }
        value.since = nil
        run = Run(
            value: value, id: sequence, fence: sequence, owner: claim.owner, attempt: 1, state: held, began: now)
        taken = value.submits.upperBound
        return true
    }

    /// Hands a run out again to the worker that has it without knowing: the answer to its claim was lost.
    package mutating func handOutAgain(_ claim: DurableClaim.Terms, at now: CoreInstant, sequence: inout Int64) {
        sequence += 1
        run?.fence = sequence
        run?.state = .claimed(until: now.advanced(by: claim.lease))
        run?.began = now
    }

    /// Extends the lease of a run that the worker is still executing. If it was interrupted, the worker learns of that.
    package mutating func heartbeat(lease: CoreDuration, at now: CoreInstant) {
        run?.state = .claimed(until: now.advanced(by: lease))
    }

    /// Ends a run whose handler has returned.
    package mutating func complete(at now: CoreInstant, by rules: DurableRules, _ ended: inout [EndedSubmits]) {
        settle(at: now, by: rules, &ended)
        guard let run else { return }
        ended.append(EndedSubmits(run, .completed))
        removeRun(at: now)
    }

    /// Ends an attempt whose handler threw. If the run was interrupted, its values go back.
    ///
    /// After `retry` the run may be tried again. Without `retry` it is dead: it has had all its attempts, or was given
    /// up. Where a newer value is ready and only the latest counts, it has failed instead.
    package mutating func fail(
        _ error: [UInt8], retry: CoreDuration?, at now: CoreInstant, by rules: DurableRules,
        _ ended: inout [EndedSubmits]
    ) {
        settle(at: now, by: rules, &ended)
        if putBackIfInterrupted(at: now, by: rules) { return }
        guard var run else { return }
        run.error = error
        guard let retry else {
            let isReplaced = rules.combination == .latest && ready != nil
            ended.append(EndedSubmits(run, isReplaced ? .failed : .dead))
            removeRun(at: now)
            return
        }
        run.state = .backoff(until: now.advanced(by: retry))
        self.run = run
        replaceFailedRun(by: rules, &ended)
    }

    /// Takes a run back from the worker for a while, as its handler has asked, without counting the attempt. If the run
    /// was interrupted, its values go back.
    package mutating func snooze(
        for time: CoreDuration, at now: CoreInstant, by rules: DurableRules, _ ended: inout [EndedSubmits]
    ) {
        settle(at: now, by: rules, &ended)
        if putBackIfInterrupted(at: now, by: rules) { return }
        guard var run else { return }
        run.attempt -= 1
        run.snoozes += 1
        run.state = .snoozed(until: now.advanced(by: max(.zero, time)))
        self.run = run
        replaceFailedRun(by: rules, &ended)
    }

    /// Takes a run back from the worker without counting the attempt. If the run was interrupted, its values go back.
    package mutating func release(at now: CoreInstant, by rules: DurableRules, _ ended: inout [EndedSubmits]) {
        settle(at: now, by: rules, &ended)
        if putBackIfInterrupted(at: now, by: rules) { return }
        guard let run else { return }
        self.run?.attempt = run.attempt - 1
        self.run?.state = .backoff(until: now)
        replaceFailedRun(by: rules, &ended)
    }

    /// Ends an attempt whose handler was cancelled for a newer value, and threw.
    package mutating func interrupted(at now: CoreInstant, by rules: DurableRules, _ ended: inout [EndedSubmits]) {
        release(at: now, by: rules, &ended)
    }

    /// Removes a run that has ended. The rest of its batch queues behind whatever is waiting now.
    private mutating func removeRun(at now: CoreInstant) {
        run = nil
        if ready?.since != nil { ready?.since = now }
    }

    /// Gives a dead run another series of attempts, before anything newer of the key, or returns why not.
    ///
    /// The range of the run may lie before ``born``: since the run died, the row may have been deleted and created
    /// again.
    ///
    /// - Parameters:
    ///   - dead: The run.
    ///   - newest: The newest generation of the key that has ended, as far as the store knows.
    ///   - now: The present instant of the store's time.
    ///   - rules: The rules of the namespace.
    package mutating func retry(_ dead: Run, newest: Int64?, at now: CoreInstant, by rules: DurableRules) -> Retry {
        let last = dead.value.submits.upperBound
        if rules.combination == .latest {
            let hasNewer = generation > born && generation > last
            if hasNewer || newest ?? last > last { return .outdated }
        }
        guard run == nil else { return .busy }
        run = dead
        run?.attempt = 0
        run?.snoozes = 0
        run?.error = nil
        run?.state = .backoff(until: now)
        run?.began = nil
        // Its range is older than others, and cannot be merged with them.
        run?.mark = rules.whileRunning == .queue ? nil : .farFuture
        return .accepted
    }

    /// Whether a dead run is retried, or why not.
    package enum Retry: Hashable, Sendable {
        /// The run may be claimed.
        case accepted
        /// Only the latest value counts, and the key has a newer generation: an old value must not overwrite it.
        case outdated
        /// The key has another run, and never has two at once.
        case busy
    }
}

extension DurableRow.Ready {
    /// Keeps the first values, and returns the rest with the same edge and due instant. The range is divided before the
    /// generation of the rest's first value, so that absorbed submits stay with the value that absorbed them.
    fileprivate mutating func divide(after limit: Int, before known: Int64?, at now: CoreInstant) -> Self {
        var rest = self
        let cut: Int64
        if batch.size > limit, case .bytes(_, let generation) = batch.values[limit] {
            cut = generation
            (batch, rest.batch) = batch.divided(after: limit)
        } else if let known {
            cut = known
        } else {
            preconditionFailure("a value outside the row, and the store has not given the generation of the rest")
        }
        let (first, last) = (submits.lowerBound, submits.upperBound)
        submits = first...cut - 1
        rest.submits = cut...last
        count = limit
        rest.count -= limit
        rest.since = now
        return rest
    }
}

extension Batch<DurablePayload> {
    fileprivate func divided(after limit: Int) -> (Self, Self) {
        var first = Batch(earlier[limit - 1])
        first.earlier = Array(earlier[..<(limit - 1)])
        var rest = Batch(value)
        rest.earlier = Array(earlier[limit...])
        return (first, rest)
    }
}

// Restarting (<doc:Semantics>, section 7): a run is interrupted by a newer value, and its values go back in front of
// it.

extension DurableRow {
    /// Interrupts the run for a newer value that was submitted or fell due at an instant, if the rules say so.
    ///
    /// A run that a worker has is marked; one between two attempts goes back at once. A run that cannot go back is left
    /// alone: ranges are merged, so nothing behind its own may have ended.
    mutating func interrupt(at instant: CoreInstant, by rules: DurableRules) {
        guard rules.whileRunning != .queue, let run, run.mark == nil, run.value.submits.upperBound == taken else {
            return
        }
        if run.isInBackoff {
            putBack(at: instant, by: rules)
            // What was ready behind it may start only now, as the row's `wake` says.
            if ready?.isHeld == false { ready?.since = instant }
            return
        }
        let isOld = rules.policy.kind == .debounce && run.value.first.advanced(by: span) <= instant
        if !isOld { self.run?.mark = instant }
    }

    /// Puts the values of a run that a worker had back, if it was interrupted.
    ///
    /// - Returns: Whether they went back. They do not if what came after them was cancelled since: the run goes on
    ///   alone.
    mutating func putBackIfInterrupted(at now: CoreInstant, by rules: DurableRules) -> Bool {
        guard let run, run.isInterrupted else { return false }
        guard run.value.submits.upperBound == taken else {
            self.run?.mark = .farFuture
            return false
        }
        putBack(at: now, by: rules)
        return true
    }

    /// Puts the values of the run back: in front of what is ready or, if nothing is, as a held value.
    private mutating func putBack(at now: CoreInstant, by rules: DurableRules) {
        guard let run else { return }
        var value = run.value
        if let newer = ready {
            _ = value.batch.add(newer.batch, by: rules.combination)
            value.submits = value.submits.lowerBound...newer.submits.upperBound
            value.count += newer.count
            (value.due, value.cause) = (newer.due, newer.cause)
            // The rest of a batch queues behind whatever is waiting now.
            value.since = newer.since == nil ? nil : now
        } else {
            value.due = .farFuture
        }
        taken = value.submits.lowerBound - 1
        ready = value
        self.run = nil
    }
}

extension DurableRow.Ready {
    /// Whether the value is that of an interrupted run for which nothing newer has fallen due: it has no due instant,
    /// and joins the next value that does.
    package var isHeld: Bool { due == .farFuture }
}

extension DurableRow.Run {
    /// Whether a newer value has interrupted the run: its values go back unless it completes.
    package var isInterrupted: Bool { mark != nil && mark != .farFuture }
}
