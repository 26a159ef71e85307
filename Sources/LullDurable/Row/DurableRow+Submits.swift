public import LullCore

// The calls of producers. Each begins with `settle`, so that a late worker changes when a value runs, never which.

extension DurableRow {
    /// Does what was due at `now` or before: begins every other step (<doc:Semantics>, section 2).
    ///
    /// A pending value that has fallen due becomes ready.
    public mutating func settle(at now: CoreInstant, by rules: DurableRules, _ endings: inout [DurableEnding]) {
        let submits = pendingSubmits
        guard let ripe = gate.settle(at: now, by: rules.policy(over: span)) else { return }
        ripen(submits, ripe, by: rules, &endings)
    }

    /// Takes a submit; its number is ``generation`` afterwards.
    ///
    /// A `wait` is the delay of this call alone; `submitter` says where it comes from.
    ///
    /// - Returns: When the value that it is part of is due; nil if it was absorbed.
    @discardableResult
    public mutating func submit(
        _ value: [UInt8], at now: CoreInstant, wait: CoreDuration? = nil, submitter: Submitter = .unnamed,
        by rules: DurableRules, _ endings: inout [DurableEnding]
    ) -> CoreInstant? {
        settle(at: now, by: rules, &endings)
        generation += 1
        let payload = DurablePayload.bytes(value, of: generation)
        span = rules.policy.kind == .throttle ? rules.policy.wait : rules.policy.longestWait
        switch gate.submit(at: now, wait: wait, by: rules.policy) {
        case .join:
            join(payload, at: now, submitter, by: rules)
            return due(by: rules)
        case .complete(let ripe):
            join(payload, at: now, submitter, by: rules)
            // The gate has counted them, and has forgotten them.
            ripen(generation - Int64(ripe.count) + 1...generation, ripe, by: rules, &endings)
            return now
        case .lead:
            let value = Ready(
                batch: Batch(payload), submits: generation...generation, count: 1, first: now, due: now, edge: .leading)
            makeReady(value, by: rules, &endings)
            return now
        case .absorb:
            absorb(&endings)
            return nil
        }
    }

    /// Makes what is pending, or what waits for another attempt, ready now.
    ///
    /// - Returns: Whether there was something.
    @discardableResult
    public mutating func flush(
        at now: CoreInstant, by rules: DurableRules, _ endings: inout [DurableEnding]
    ) -> Bool {
        let hadPending = flushPending(at: now, by: rules, &endings)
        if let run, run.isInBackoff, run.state.end > now {
            self.run?.state = .backoff(until: now)
            return true
        }
        return hadPending
    }

    /// Makes what is pending ready now, and the gate idle.
    ///
    /// - Returns: Whether there was something.
    @discardableResult
    public mutating func flushPending(
        at now: CoreInstant, by rules: DurableRules, _ endings: inout [DurableEnding]
    ) -> Bool {
        settle(at: now, by: rules, &endings)
        let submits = pendingSubmits
        guard let ripe = gate.flush(at: now) else { return false }
        ripen(submits, ripe, by: rules, &endings)
        return true
    }

    /// Ends what no worker has (pending, ready, between two attempts), each range by itself, and closes the gate. A claimed
    /// run is not touched.
    ///
    /// - Returns: The number of submits behind what was dropped.
    @discardableResult
    public mutating func cancel(
        at now: CoreInstant, by rules: DurableRules, _ endings: inout [DurableEnding]
    ) -> Int {
        settle(at: now, by: rules, &endings)
        var count = 0
        if let run, run.isInBackoff {
            endings.append(DurableEnding(run, .cancelled))
            count += run.value.count
            self.run = nil
        }
        if let ready {
            endings.append(DurableEnding(ready.submits, .cancelled))
            count += ready.count
            self.ready = nil
        }
        if let submits = pendingSubmits {
            endings.append(DurableEnding(submits, .cancelled))
            count += submits.count
            pending = nil
        }
        taken = generation
        gate.close()
        return count
    }

    /// Drops what is pending, and closes the gate.
    ///
    /// The range ends as `cancelled`. Only behind a value that waits for a worker it is covered by that one's, as an absorbed
    /// submit is: ranges that become one later have no gaps.
    ///
    /// - Returns: The number of submits behind what was dropped.
    @discardableResult
    public mutating func cancelPending(
        at now: CoreInstant, by rules: DurableRules, _ endings: inout [DurableEnding]
    ) -> Int {
        settle(at: now, by: rules, &endings)
        guard let submits = pendingSubmits else { return 0 }
        pending = nil
        gate.close()
        if let ready {
            self.ready?.submits = ready.submits.lowerBound...generation
        } else {
            taken = generation
            endings.append(DurableEnding(submits, .cancelled))
        }
        return submits.count
    }

    // MARK: - Parts

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

    /// What is pending has fallen due.
    private mutating func ripen(
        _ submits: ClosedRange<Int64>?, _ ripe: Gate.Due, by rules: DurableRules, _ endings: inout [DurableEnding]
    ) {
        guard let pending, let submits else { preconditionFailure("a gate counts submits, and the row has no value") }
        self.pending = nil
        let value = Ready(
            batch: pending.batch, submits: submits, count: ripe.count, first: ripe.first, due: ripe.at, edge: ripe.edge)
        makeReady(value, by: rules, &endings)
    }

    private mutating func makeReady(_ value: Ready, by rules: DurableRules, _ endings: inout [DurableEnding]) {
        if var ready {
            _ = ready.batch.add(value.batch, by: rules.combination)
            ready.submits = ready.submits.lowerBound...value.submits.upperBound
            ready.count += value.count
            ready.edge = value.edge
            self.ready = ready
        } else {
            ready = value
        }
        giveWay(by: rules, &endings)
    }

    /// A newer value takes the place of one that has failed, where only the latest counts.
    mutating func giveWay(by rules: DurableRules, _ endings: inout [DurableEnding]) {
        guard rules.combination == .latest, ready != nil, let run, run.isInBackoff, run.error != nil else { return }
        endings.append(DurableEnding(run, .failed))
        self.run = nil
    }

    /// The newest submit is dropped: another value stands for it. While that one has not been claimed its range covers it.
    private mutating func absorb(_ endings: inout [DurableEnding]) {
        if let ready {
            self.ready?.submits = ready.submits.lowerBound...generation
        } else {
            taken = generation
            endings.append(DurableEnding(generation...generation, .absorbed))
        }
    }
}
