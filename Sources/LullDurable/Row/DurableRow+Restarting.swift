internal import LullCore

// Restarting (<doc:Semantics>, section 7): a run is interrupted by a newer value, and its values go back in front of it.

extension DurableRow {
    /// Interrupts the run for a newer value that was submitted or fell due at an instant, if the rules say so.
    ///
    /// A run that a worker has is marked; one between two attempts goes back at once. A run that cannot go back is left alone: ranges
    /// are merged, so nothing behind its own may have ended.
    mutating func interrupt(at instant: CoreInstant, by rules: DurableRules) {
        guard rules.whileRunning != .queue, let run, run.mark == nil, run.value.submits.upperBound == taken else {
            return
        }
        if run.isInBackoff { return putBack(at: instant, by: rules) }
        let isOld = rules.policy.kind == .debounce && run.value.first.advanced(by: span) <= instant
        if !isOld { self.run?.mark = instant }
    }

    /// Puts the values of a run that a worker had back, if it was interrupted.
    ///
    /// - Returns: Whether they went back. They do not if what came after them was cancelled since: the run goes on alone.
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
            (value.due, value.edge) = (newer.due, newer.edge)
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
    /// Whether the value is that of an interrupted run for which nothing newer has fallen due: it has no due instant, and joins the
    /// next value that does.
    package var isHeld: Bool { due == .farFuture }
}

extension DurableRow.Run {
    /// Whether a newer value has interrupted the run: its values go back unless it completes.
    package var isInterrupted: Bool { mark != nil && mark != .farFuture }
}
