package import LullCore

// The calls of producers as steps on a table.

extension DurableTable {
    /// Records a submit: the step of ``StoreCalls/submit(_:)``.
    package mutating func submit(
        _ submission: DurableSubmission, in namespace: DurableNamespace, at now: CoreInstant
    ) throws(DurableError) -> DurableReceipt {
        if let token = submission.token, var first = try answer(to: token, in: namespace) {
            guard first.key == submission.key else { throw .tokenOfOtherKey(token: token) }
            first.dueIn = first.due.map { DurableNamespace.time(from: now, to: CoreInstant(nanoseconds: $0)) }
            return first
        }
        let old = try find(submission.key, in: namespace)
        var row = old?.row ?? DurableRow(base: base)
        var ended: [EndedSubmits] = []
        let due = row.submit(
            submission.storedValue, at: now, wait: submission.wait,
            submitter: DurableRow.Submitter(submission.submitter), atLeast: leastGeneration, by: namespace.rules,
            &ended)
        let receipt = DurableReceipt(
            namespace: namespace.name, key: submission.key, generation: row.generation,
            dueIn: due.map { DurableNamespace.time(from: now, to: $0) }, due: due?.nanoseconds)
        try write(row, of: submission.key, from: old, isWorkers: false, ended, at: now, in: namespace)
        if let token = submission.token { try remember(receipt, for: token, at: now, in: namespace) }
        return receipt
    }

    /// Makes ready what is pending and comes from one submitter alone, and the gate idle, in the order of the keys'
    /// first submits.
    ///
    /// - Returns: The keys, each with its newest generation; and the number of other keys whose pending value comes
    ///   from several submitters, perhaps including this one.
    package mutating func flush(
        submittedBy submitter: Int64, in namespace: DurableNamespace, at now: CoreInstant
    ) throws(DurableError) -> (flushed: [(key: [UInt8], generation: Int64)], mixed: Int) {
        var flushed: [(key: [UInt8], generation: Int64)] = []
        let mixed = try changePending(of: submitter, in: namespace, at: now) { _, key, row, ended in
            row.flushPending(at: now, by: namespace.rules, &ended)
            flushed.append((key, row.generation))
        }
        return (flushed, mixed)
    }

    /// Drops what is pending and comes from one submitter alone, and makes the gate idle.
    ///
    /// - Returns: The number of submits behind what was dropped; and the number of keys whose pending value comes from
    ///   several submitters, perhaps including this one.
    package mutating func cancel(
        submittedBy submitter: Int64, in namespace: DurableNamespace, at now: CoreInstant
    ) throws(DurableError) -> (cancelled: Int, mixed: Int) {
        var cancelled = 0
        let mixed = try changePending(of: submitter, in: namespace, at: now) {
            (table, key, row, ended) throws(DurableError) in
            let submits = row.pendingSubmits
            cancelled += row.cancelPending(at: now, by: namespace.rules, &ended)
            // Behind a ready value the range does not end, but its values are deleted.
            if let submits, ended.isEmpty { try table.dropValues(of: submits, of: key, in: namespace) }
        }
        return (cancelled, mixed)
    }

    /// Changes the rows whose pending value comes from one submitter alone.
    ///
    /// - Returns: The number of rows whose pending value comes from several submitters.
    private mutating func changePending(
        of submitter: Int64, in namespace: DurableNamespace, at now: CoreInstant,
        _ body: (inout Self, [UInt8], inout DurableRow, inout [EndedSubmits]) throws(DurableError) -> Void
    ) throws(DurableError) -> Int {
        var mixed = 0
        for key in try keys(submittedBy: submitter, in: namespace) {
            guard let old = try find(key, in: namespace) else { continue }
            var row = old.row
            var ended: [EndedSubmits] = []
            row.settle(at: now, by: namespace.rules, &ended)
            // A value that has fallen due by now is not pending; the next step settles the row.
            switch row.pending?.submitter {
            case .several: mixed += 1
            case .one(submitter):
                try body(&self, key, &row, &ended)
                try write(row, of: key, from: old, isWorkers: false, ended, at: now, in: namespace)
            case .one, .unnamed, nil: continue
            }
        }
        return mixed
    }

    /// Keeps an open gate open for longer: the step of ``StoreCalls/touch(_:in:wait:)``.
    ///
    /// - Returns: Whether the gate was open.
    package mutating func touch(
        _ key: [UInt8], wait: CoreDuration?, in namespace: DurableNamespace, at now: CoreInstant
    ) throws(DurableError) -> Bool {
        guard let old = try find(key, in: namespace) else { return false }
        var row = old.row
        var ended: [EndedSubmits] = []
        let wasOpen = row.touch(at: now, wait: wait, by: namespace.rules, &ended)
        try write(row, of: key, from: old, isWorkers: false, ended, at: now, in: namespace)
        return wasOpen
    }

    /// Returns the state of a submit: the step of ``StoreCalls/state(of:)``.
    package mutating func state(
        of receipt: DurableReceipt, in namespace: DurableNamespace, at now: CoreInstant
    ) throws(DurableError) -> DurableState {
        if let entry = try find(receipt.key, in: namespace) {
            var row = entry.row
            var ended: [EndedSubmits] = []
            row.settle(at: now, by: namespace.rules, &ended)
            if let state = row.state(of: receipt.generation, ended) { return state }
        }
        guard let end = try end(ofSubmit: receipt.generation, of: receipt.key, in: namespace) else { return .forgotten }
        return DurableState(end.how, error: end.error)
    }

    // MARK: - Writing

    /// Writes a row after a step, and records what has ended in the step.
    ///
    /// - Parameter isWorkers: Whether the step was a worker's, which may move `wake` later.
    mutating func write(
        _ row: DurableRow, of key: [UInt8], from old: DurableEntry?, isWorkers: Bool, _ ended: [EndedSubmits],
        at now: CoreInstant, in namespace: DurableNamespace
    ) throws(DurableError) {
        // Before the row changes: it may hold the values of what has ended.
        if namespace.rules.whileRunning != .queue {
            if row.interrupts(old?.row, by: namespace.rules) { noteInterruption(in: namespace) }
            if row.hasPutBack(old?.row, ended) {
                try count(DurableTotals(restarted: 1), of: key, in: namespace)
            }
        }
        for end in ended {
            let entry = old ?? DurableEntry(handle: 0, key: key, row: row, wake: .farFuture)
            try record(end, of: entry, at: now, in: namespace)
        }
        if row.isIdle {
            base = max(base, row.generation)
            if let old { try delete(old, in: namespace) }
            return
        }
        let exact = row.wake(by: namespace.rules)
        guard let old else { return try insert(row, wake: exact, of: key, in: namespace) }
        let wake = isWorkers ? exact : min(exact, old.wake)
        if row != old.row || wake != old.wake {
            let new = DurableEntry(handle: old.handle, key: key, row: row, wake: wake)
            try update(new, from: old, in: namespace)
        }
    }
}

extension DurableRow {
    /// Returns the state of a submit as far as the row has it, or the step that settled it.
    package func state(of generation: Int64, _ ended: [EndedSubmits]) -> DurableState? {
        if pendingSubmits?.contains(generation) == true { return .pending }
        if let ready, ready.submits.contains(generation) { return ready.isHeld ? .pending : .ready }
        if let run, run.value.submits.contains(generation) {
            return switch run.state {
            case .claimed: .running(attempt: run.attempt)
            case .backoff: .waitingForRetry(attempt: run.attempt, error: run.errorText)
            case .snoozed: .snoozed(times: run.snoozes)
            }
        }
        return ended.first { $0.submits.contains(generation) }.map { DurableState($0.how, error: $0.run?.errorText) }
    }
}

extension DurableState {
    package init(_ how: EndKind, error: String?) {
        switch how {
        case .completed: self = .executed
        case .failed: self = .failed(error: error)
        case .cancelled: self = .cancelled
        case .absorbed: self = .absorbed
        case .dead: self = .dead(error: error)
        }
    }
}
