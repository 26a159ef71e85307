// Upkeep of the deadlines: a little at a time, so that no call takes long however many keys there are.
extension Engine {
    /// Checks a few entries of each queue that has more than twice as many as there are keys, and drops stale ones.
    @inlinable
    mutating func compactQueues() {
        let bound = 2 * slots.count + 64
        if deadlines.count > bound || deadlines.isCompacting {
            deadlines.compact(limit: Self.compactionSteps) { slots.keeps($0, pending: true, pass: $1) }
        }
        if idleQueue.count > bound || idleQueue.isCompacting {
            idleQueue.compact(limit: Self.compactionSteps) { slots.keeps($0, pending: false, pass: $1) }
        }
    }

    /// How many entries a call checks: enough that others are not added faster than they are checked.
    @inlinable
    static var compactionSteps: Int { 8 }

    /// Determines when the next value of any key falls due, a little at a time; after ``advance(to:limit:)`` has been
    /// called until nothing was due at `instant` any more.
    ///
    /// - Parameters:
    ///   - instant: The present instant.
    ///   - budget: The greatest number of entries that are checked; at least one is.
    /// - Returns: Whether that was enough, and if so the instant, or nil if nothing is pending. If it was not, call again: the
    ///   instant is a lower bound, and other calls may come between.
    @inlinable
    public mutating func refineNextDue(at instant: CoreInstant, budget: Int) -> (isExact: Bool, due: CoreInstant?) {
        let now = max(now, instant)
        for _ in 0..<max(budget, 1) {
            if let entry = deadlines.popDetached() {
                reconsider(entry)
                continue
            }
            guard let next = deadlines.next else { return (true, nil) }
            // Something is still to be done.
            guard next > now, let entry = deadlines.frontEntry else { return (false, next) }
            if slots.isCurrent(entry, pending: true), isDue(entry) { return (true, next) }
            deadlines.detachFront()
        }
        return (false, deadlines.next)
    }

    /// Whether what is pending at an entry's gate falls due at the instant of the entry.
    @inlinable
    func isDue(_ entry: DeadlineQueue.Entry) -> Bool {
        slots[entry.slot].pointee.gate.pendingDue(by: setup.policy).nanoseconds == entry.at
    }

    /// Pushes a detached entry that is current again, at the instant at which its gate is due now.
    @inlinable
    mutating func reconsider(_ entry: DeadlineQueue.Entry) {
        guard slots.isCurrent(entry, pending: true) else { return }
        let slot = slots[entry.slot]
        guard isDue(entry) else { return queueDeadline(entry.slot, slot) }
        slot.pointee.compactionPass = 0
        deadlines.push(entry)
    }
}
