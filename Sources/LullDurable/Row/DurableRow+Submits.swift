package import LullCore

// The calls of producers. Each begins with `settle`, so that a late worker affects when a value runs, never which one.

extension DurableRow {
    /// Moves a pending value that has fallen due by `now` to ready. Every other step begins with this one
    /// (<doc:Semantics>, section 2).
    package mutating func settle(at now: CoreInstant, by rules: DurableRules, _ ended: inout [EndedSubmits]) {
        guard let due = gate.settle(at: now, by: policy(by: rules)) else { return }
        pendingFellDue(due, by: rules, &ended)
    }

    /// Records a submit; its number is ``generation`` afterwards.
    ///
    /// - Parameters:
    ///   - value: The bytes of the value.
    ///   - now: The present instant of the store's time.
    ///   - wait: The delay of this submit alone, in place of the policy's.
    ///   - submitter: The submitter.
    ///   - number: The least number that the submit gets: for a store that may lose its latest steps, a number that has
    ///     grown since.
    ///   - rules: The rules of the namespace.
    ///   - ended: Receives what ends in this step.
    /// - Returns: When the value that includes the submit falls due; nil if the submit was absorbed.
    @discardableResult
    package mutating func submit(
        _ value: [UInt8], at now: CoreInstant, wait: CoreDuration? = nil, submitter: Submitter = .unnamed,
        atLeast number: Int64 = .min, by rules: DurableRules, _ ended: inout [EndedSubmits]
    ) -> CoreInstant? {
        settle(at: now, by: rules, &ended)
        generation = max(generation + 1, number)
        let payload = DurablePayload.bytes(value, of: generation)
        span = rules.policy.kind == .throttle ? rules.policy.wait : rules.policy.longestWait
        spacing = rules.policy.spacing
        switch gate.submit(at: now, wait: wait, by: rules.policy) {
        case .join, .fill:
            join(payload, at: now, submitter, by: rules)
            if rules.whileRunning.interrupting == .whenSubmitted { interrupt(at: now, by: rules) }
            return due(by: rules)
        case .complete(let due):
            join(payload, at: now, submitter, by: rules)
            pendingFellDue(due, by: rules, &ended)
            return now
        case .lead:
            let value = Ready(
                batch: Batch(payload), submits: newestSubmits, count: 1, first: now, due: now, cause: .leading)
            makeReady(value, by: rules, &ended)
            return now
        case .absorb:
            absorb(&ended)
            return nil
        }
    }

    /// Does to the gate what a submit would, without a value: an open gate of a debounce closes later, or earlier with
    /// a shorter wait of the call's own.
    ///
    /// - Returns: Whether the gate was open.
    @discardableResult
    package mutating func touch(
        at now: CoreInstant, wait: CoreDuration? = nil, by rules: DurableRules, _ ended: inout [EndedSubmits]
    ) -> Bool {
        settle(at: now, by: rules, &ended)
        gate.touch(at: now, wait: wait, by: rules.policy)
        return gate.isOpen && rules.policy.kind == .debounce
    }

    /// Makes what is pending, held or between two attempts, ready now.
    ///
    /// - Returns: Whether there was anything to flush.
    @discardableResult
    package mutating func flush(
        at now: CoreInstant, by rules: DurableRules, _ ended: inout [EndedSubmits]
    ) -> Bool {
        var hadPending = flushPending(at: now, by: rules, &ended)
        if let held = ready, held.isHeld {
            ready?.due = now
            ready?.cause = .flush
            // The spacing counts from here, as from any other flush.
            gate.latest = now
            gate.phase = .open
            _ = gate.flush(at: now, by: policy(by: rules))
            hadPending = true
        }
        if let run, run.isInBackoff, run.state.end > now {
            self.run?.state.end = now
            return true
        }
        return hadPending
    }

    /// Makes what is pending ready now, and the gate idle.
    ///
    /// - Returns: Whether anything was pending.
    @discardableResult
    package mutating func flushPending(
        at now: CoreInstant, by rules: DurableRules, _ ended: inout [EndedSubmits]
    ) -> Bool {
        settle(at: now, by: rules, &ended)
        guard let due = gate.flush(at: now, by: policy(by: rules)) else { return false }
        pendingFellDue(due, by: rules, &ended)
        return true
    }

    /// Cancels what no worker has (pending, ready, between two attempts), each as a range of its own, and closes the
    /// gate. A claimed run does not change.
    ///
    /// - Returns: The number of submits behind what was dropped.
    @discardableResult
    package mutating func cancel(
        at now: CoreInstant, by rules: DurableRules, _ ended: inout [EndedSubmits]
    ) -> Int {
        settle(at: now, by: rules, &ended)
        let (submits, pendingCount) = (pendingSubmits, gate.count)
        var count = 0
        if let run, run.isInBackoff {
            ended.append(EndedSubmits(run, .cancelled))
            count += run.value.count
            self.run = nil
        }
        if let ready {
            ended.append(EndedSubmits(ready.submits, .cancelled))
            count += ready.count
            self.ready = nil
        }
        if let submits {
            ended.append(EndedSubmits(submits, .cancelled))
            count += pendingCount
            pending = nil
        }
        taken = generation
        gate.close(at: now, by: policy(by: rules))
        return count
    }

    /// Drops what is pending, and closes the gate.
    ///
    /// The range ends as `cancelled`, unless a ready value precedes it: then that value's range covers it, as it covers
    /// an absorbed submit, because ranges that are merged later must have no gaps.
    ///
    /// - Returns: The number of submits behind what was dropped.
    @discardableResult
    package mutating func cancelPending(
        at now: CoreInstant, by rules: DurableRules, _ ended: inout [EndedSubmits]
    ) -> Int {
        settle(at: now, by: rules, &ended)
        guard let submits = pendingSubmits else { return 0 }
        let count = gate.count
        pending = nil
        gate.close(at: now, by: policy(by: rules))
        if let ready {
            self.ready?.submits = ready.submits.lowerBound...generation
        } else {
            taken = generation
            ended.append(EndedSubmits(submits, .cancelled))
        }
        return count
    }

    // MARK: - Transitions

    private mutating func join(
        _ payload: DurablePayload, at now: CoreInstant, _ submitter: Submitter, by rules: DurableRules
    ) {
        if pending == nil {
            pending = Pending(batch: Batch(payload), last: now, submitter: submitter)
        } else {
            _ = pending?.batch.add(payload, by: rules.combination)
            pending?.last = now
            if pending?.submitter != submitter { pending?.submitter = .several }
        }
    }

    /// Moves what is pending to ready.
    private mutating func pendingFellDue(
        _ due: Gate.Due, by rules: DurableRules, _ ended: inout [EndedSubmits]
    ) {
        guard let pending else {
            preconditionFailure("a gate that counts submits of a row without a value")
        }
        self.pending = nil
        let value = Ready(
            batch: pending.batch, submits: newestSubmits, count: due.count, first: due.first, due: due.at,
            cause: due.cause)
        makeReady(value, by: rules, &ended)
    }

    private mutating func makeReady(_ value: Ready, by rules: DurableRules, _ ended: inout [EndedSubmits]) {
        if var ready {
            _ = ready.batch.add(value.batch, by: rules.combination)
            ready.submits = ready.submits.lowerBound...value.submits.upperBound
            ready.count += value.count
            ready.cause = value.cause
            ready.due = min(ready.due, value.due)
            self.ready = ready
        } else {
            ready = value
        }
        interrupt(at: value.due, by: rules)
        replaceFailedRun(by: rules, &ended)
    }

    /// Ends a run that has failed or was snoozed and that a newer value replaces, if only the latest value counts.
    mutating func replaceFailedRun(by rules: DurableRules, _ ended: inout [EndedSubmits]) {
        guard rules.combination == .latest, ready != nil, var run, run.givesWay else { return }
        if run.isSnoozed { run.error = Self.snoozedAndReplaced }
        ended.append(EndedSubmits(run, .failed))
        self.run = nil
    }

    /// Drops the newest submit in favour of the value that opened the window. Until that value has been claimed, its
    /// range covers the submit.
    private mutating func absorb(_ ended: inout [EndedSubmits]) {
        if let ready {
            self.ready?.submits = ready.submits.lowerBound...generation
        } else {
            ended.append(EndedSubmits(newestSubmits, .absorbed))
            taken = generation
        }
    }
}
