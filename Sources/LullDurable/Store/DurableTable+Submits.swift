public import LullCore

// The calls of producers as steps on a table.

extension DurableTable {
    /// Takes a submit.
    public mutating func submit(
        _ submission: DurableSubmission, in namespace: DurableNamespace, at now: CoreInstant
    ) throws(DurableError) -> DurableReceipt {
        if let token = submission.token, var first = try answer(to: token, in: namespace) {
            guard first.key == submission.key else { throw .tokenOfOtherKey(token: token) }
            first.dueIn = first.due.map { DurableNamespace.time(from: now, to: CoreInstant(nanoseconds: $0)) }
            return first
        }
        let old = try find(submission.key, in: namespace)
        var row = old?.row ?? DurableRow(base: base)
        var endings: [DurableEnding] = []
        let due = row.submit(
            .bytes(submission.value), at: now, wait: submission.wait, by: namespace.rules, &endings)
        let receipt = DurableReceipt(
            namespace: namespace.name, key: submission.key, generation: row.generation,
            dueIn: due.map { DurableNamespace.time(from: now, to: $0) }, due: due?.nanoseconds)
        try keep(row, of: submission.key, from: old, isWorkers: false, endings, at: now, in: namespace)
        if let token = submission.token { try remember(receipt, for: token, at: now, in: namespace) }
        return receipt
    }

    /// Flushes a key, or all.
    public mutating func flush(
        _ key: [UInt8]?, in namespace: DurableNamespace, at now: CoreInstant
    ) throws(DurableError) -> Int {
        try change(key, in: namespace, at: now) { row, endings in
            row.flush(at: now, by: namespace.rules, &endings) ? 1 : 0
        }
    }

    /// Cancels a key, or all.
    public mutating func cancel(
        _ key: [UInt8]?, in namespace: DurableNamespace, at now: CoreInstant
    ) throws(DurableError) -> Int {
        try change(key, in: namespace, at: now) { row, endings in
            row.cancel(at: now, by: namespace.rules, &endings)
        }
    }

    /// Does something with the row of a key, or of all keys, and adds up what it counts.
    private mutating func change(
        _ key: [UInt8]?, in namespace: DurableNamespace, at now: CoreInstant,
        _ body: (inout DurableRow, inout [DurableEnding]) -> Int
    ) throws(DurableError) -> Int {
        var count = 0
        let keys = if let key { [key] } else { try keys(in: namespace) }
        for key in keys {
            guard let old = try find(key, in: namespace) else { continue }
            var row = old.row
            var endings: [DurableEnding] = []
            count += body(&row, &endings)
            try keep(row, of: key, from: old, isWorkers: false, endings, at: now, in: namespace)
        }
        return count
    }

    /// What became of a submit.
    public mutating func state(
        of receipt: DurableReceipt, in namespace: DurableNamespace, at now: CoreInstant
    ) throws(DurableError) -> DurableState {
        if let entry = try find(receipt.key, in: namespace) {
            var row = entry.row
            var endings: [DurableEnding] = []
            row.settle(at: now, by: namespace.rules, &endings)
            if row.pendingSubmits?.contains(receipt.generation) == true { return .pending }
            if row.ready?.submits.contains(receipt.generation) == true { return .ready }
            if let run = row.run, run.value.submits.contains(receipt.generation) {
                return run.isInBackoff
                    ? .waitingForRetry(attempt: run.attempt, error: run.errorText) : .running(attempt: run.attempt)
            }
            if let ending = endings.first(where: { $0.submits.contains(receipt.generation) }) {
                return DurableState(ending.how, error: ending.run?.errorText)
            }
        }
        guard let end = try end(ofSubmit: receipt.generation, of: receipt.key, in: namespace) else { return .forgotten }
        return DurableState(end.how, error: end.error)
    }

    // MARK: - Parts

    /// Writes a row as it is after a step, and what has ended in it.
    ///
    /// - Parameter isWorkers: Whether the step was a worker's, which may move `wake` later.
    mutating func keep(
        _ row: DurableRow, of key: [UInt8], from old: DurableEntry?, isWorkers: Bool, _ endings: [DurableEnding],
        at now: CoreInstant, in namespace: DurableNamespace
    ) throws(DurableError) {
        // Before the row changes: what has ended may lie in it.
        for ending in endings {
            let entry = old ?? DurableEntry(handle: 0, key: key, row: row, wake: .farFuture)
            try record(ending, of: entry, at: now, in: namespace)
        }
        if row.isAtRest {
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

extension DurableState {
    init(_ how: DurableEnding.How, error: String?) {
        switch how {
        case .completed: self = .completed
        case .failed: self = .failed(error: error)
        case .cancelled: self = .cancelled
        case .absorbed: self = .absorbed
        case .dead: self = .dead(error: error)
        }
    }
}
