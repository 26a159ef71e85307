// Falling due in the course of time: section 2 of the semantics.
extension Engine {
    /// Does everything that was due at `instant` or before, in the order of due instants, and updates ``alarm``.
    ///
    /// A driver that calls this under a lock gives a `limit`: the call stops after this many executions or keys forgotten, or
    /// sixteen times as many steps of keeping the queues, or a mixture of both. Then ``alarm`` may be at `instant` or before,
    /// whether or not anything was executed: call again.
    @inlinable
    public mutating func advance(to instant: CoreInstant, limit: Int = .max) -> Actions<Key, Value> {
        var actions = Actions<Key, Value>()
        let now = advanceNow(to: instant)
        var budget = limit.multipliedReportingOverflow(by: Self.stepsPerKey).overflow ? .max : limit * Self.stepsPerKey
        while budget > 0, let entry = deadlines.pop(notAfter: now, budget: &budget) {
            guard slots.isCurrent(entry, pending: true) else {
                budget -= 1
                continue
            }
            if isAwaitingSweep(entry.slot) {
                budget -= Self.stepsPerKey
                guard applyPendingSweeps(to: entry.slot, &actions), slots.isCurrent(entry, pending: true) else {
                    continue
                }
            }
            let slot = slots[entry.slot]
            if slot.pointee.gate.pendingDue(by: setup.policy).nanoseconds > entry.at {
                queueDeadline(entry.slot, slot)
                budget -= 1
            } else {
                settle(entry.slot, at: now, &actions)
                forgetWhenIdle(entry.slot, &actions)
                budget -= Self.stepsPerKey
            }
        }
        forgetIdle(at: now, steps: budget, &actions)
        nextAlarm = deadlines.next ?? .farFuture
        // No wake-up is made to forget keys, but one that happens anyway is asked to come back for the rest.
        if let idle = idleQueue.next, idle <= now { nextAlarm = min(nextAlarm, now) }
        actions.movesAlarm = nextAlarm != .farFuture
        return actions
    }

    /// How many steps of keeping the queues an execution, or a key forgotten, is worth.
    @inlinable
    static var stepsPerKey: Int { 16 }

    /// Queues a gate that has become due earlier, and moves the alarm forward if need be.
    @inlinable
    mutating func schedule(_ index: UInt32, _ actions: inout Actions<Key, Value>) {
        let slot = slots[index]
        queueDeadline(index, slot)
        if slot.pointee.scheduled < nextAlarm {
            nextAlarm = slot.pointee.scheduled
            actions.movesAlarm = true
        }
        compactQueues()
    }

    /// Adds the entry of a gate that has something pending.
    @inlinable
    mutating func queueDeadline(_ index: UInt32, _ slot: UnsafeMutablePointer<Slot>) {
        let due = slot.pointee.gate.pendingDue(by: setup.policy)
        slot.pointee.scheduled = due
        slot.pointee.compactionPass = 0
        deadlines.push(DeadlineQueue.Entry(at: due, slot: index, burst: slot.pointee.burst))
    }

    /// Does what the gate of one key had due at `now` or before.
    @inlinable
    mutating func settle(_ index: UInt32, at now: CoreInstant, _ actions: inout Actions<Key, Value>) {
        let slot = slots[index]
        if let due = slot.pointee.gate.settle(at: now, by: setup.policy) {
            fallDue(index, takeBatch(slot), due, &actions)
        }
        updateGauge(index)
    }

    /// Removes and returns what is pending in a slot whose gate had a count.
    @inlinable
    mutating func takeBatch(_ slot: UnsafeMutablePointer<Slot>) -> Batch<Value> {
        guard let batch = slot.pointee.batch.take() else {
            preconditionFailure("a gate with submits pending has no value: this is a bug in LullCore")
        }
        return batch
    }
}

extension Slab {
    /// Whether an entry of the deadlines (`pending`) or of the idle queue is the current one of its gate.
    @inlinable
    func isCurrent<Key, Value>(_ entry: DeadlineQueue.Entry, pending: Bool) -> Bool
    where Element == Engine<Key, Value>.Slot {
        guard contains(entry.slot) else { return false }
        let slot = self[entry.slot]
        return slot.pointee.gate.phase != .idle && (slot.pointee.batch != nil) == pending
            && slot.pointee.scheduled.nanoseconds == entry.at
            && UInt32(truncatingIfNeeded: slot.pointee.burst) == entry.burst
    }

    /// Whether an entry is current, and the pass of compaction has not seen another one like it: a gate that is postponed to where
    /// it was before has two. Outside a pass, `pass` is 0.
    @inlinable
    func keeps<Key, Value>(_ entry: DeadlineQueue.Entry, pending: Bool, pass: UInt8) -> Bool
    where Element == Engine<Key, Value>.Slot {
        guard isCurrent(entry, pending: pending) else { return false }
        let slot = self[entry.slot]
        guard pass == 0 || slot.pointee.compactionPass != pass else { return false }
        slot.pointee.compactionPass = pass
        return true
    }
}
