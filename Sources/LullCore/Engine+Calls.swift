// The other calls on a gate: section 5 of the semantics.
extension Engine {
    /// Executes what is pending under a key now, and makes its gate idle.
    public mutating func flush(_ key: Key, at instant: CoreInstant) -> Actions<Key, Value> {
        var actions = Actions<Key, Value>()
        let now = advanceNow(to: instant)
        let index = slotIndex(of: key)
        if index != .max, applyPendingSweeps(to: index, &actions) { flush(index, at: now, &actions) }
        return actions
    }

    /// Does what was due at `now` or before, makes the gate idle, and executes what is pending. The key may be forgotten
    /// then.
    @inlinable
    mutating func flush(_ index: UInt32, at now: CoreInstant, _ actions: inout Actions<Key, Value>) {
        settle(index, at: now, &actions)
        let slot = slots[index]
        if let due = slot.pointee.gate.flush(at: now, by: setup.policy) {
            fallDue(index, takeBatch(slot), due, &actions)
        }
        forgetWhenIdle(index, &actions)
    }

    /// Drops what is pending or waiting under a key, and makes its gate idle.
    ///
    /// With `running`, cancels the running execution too.
    public mutating func cancel(_ key: Key, running: Bool = false, at instant: CoreInstant) -> Actions<Key, Value> {
        var actions = Actions<Key, Value>()
        let now = advanceNow(to: instant)
        let index = slotIndex(of: key)
        if index != .max, applyPendingSweeps(to: index, &actions) { cancel(index, running, at: now, &actions) }
        return actions
    }

    /// Does what was due at `now` or before, makes the gate idle, and drops what is pending or waiting. The key may be
    /// forgotten then.
    @inlinable
    mutating func cancel(
        _ index: UInt32, _ running: Bool, at now: CoreInstant, _ actions: inout Actions<Key, Value>
    ) {
        settle(index, at: now, &actions)
        let slot = slots[index]
        slot.pointee.gate.close(at: now, by: setup.policy)
        if slot.pointee.batch != nil { drop(takeBatch(slot), of: slot.pointee.key, .cancelled, &actions) }
        if let executions = executions(of: slot) {
            dropWaiting(executions, &actions)
            // The value that was to take the place of a cancelled run has just been dropped.
            executions.pointee.cancelSuperseded()
            if running { cancelRuns(of: executions, .cancelled, &actions) }
            if !executions.pointee.hasStarted {
                keyExecutions.discard(slot.pointee.executions)
                slot.pointee.executions = .max
            }
        }
        forgetWhenIdle(index, &actions)
    }

    // MARK: - Questions

    /// Whether a key has a value that is not yet due at `instant`.
    public func isPending(_ key: Key, at instant: CoreInstant) -> Bool {
        nextDue(key, at: instant) != nil
    }

    /// Whether nothing of a key is pending, waiting or running, and every outcome of the key has been told.
    public func isIdle(_ key: Key) -> Bool {
        let index = findSlot(of: key)
        if index == .max { return true }
        let executions = executions(of: slots[index])
        if willBeCancelled(index) { return executions?.pointee.hasStarted != true }
        return slots[index].pointee.batch == nil && executions == nil
    }

    /// When what is pending under a key falls due, as if everything due at `instant` or before had been done.
    public func nextDue(_ key: Key, at instant: CoreInstant) -> CoreInstant? {
        let index = findSlot(of: key)
        return index == .max ? nil : nextDue(index, at: instant)
    }

    /// When the next value of any key falls due, as if everything due at `instant` or before had been done.
    ///
    /// Visits every open key.
    @inlinable
    public func nextDue(at instant: CoreInstant) -> CoreInstant? {
        var earliest: CoreInstant?
        slots.forEach { index, _ in
            if let due = nextDue(index, at: instant) { earliest = min(due, earliest ?? due) }
        }
        return earliest
    }

    @inlinable
    func nextDue(_ index: UInt32, at instant: CoreInstant) -> CoreInstant? {
        if isAwaitingSweep(index), willBeIdle(index) { return nil }
        var gate = slots[index].pointee.gate
        _ = gate.settle(at: max(now, instant), by: setup.policy)
        let due = gate.due(by: setup.policy)
        return due == .farFuture && willDropUnreachable(index) ? nil : due
    }

    /// The number of submits that are due and wait to start; ``counters`` has them in ``Counters/pending``.
    @inlinable
    public var waitingCount: Int { waitingSubmits }

    /// The number of keys with an open gate or a waiting value; a gate that is idle by now is included until the next
    /// wake-up.
    @inlinable
    public var openKeyCount: Int { openCount }

    /// The number of other keys that are remembered for their spacing alone (<doc:Semantics>, section 3); one whose spacing
    /// has passed by now is included until the next wake-up. They count towards the capacity, too.
    @inlinable
    public var restingKeyCount: Int { restingCount }

    /// The number of keys that anything is kept for. A call for all keys visits each.
    @inlinable
    public var slotCount: Int { slots.count }

    /// The number of executions that are running.
    @inlinable
    public var runningExecutions: Int { runningCount }
}
