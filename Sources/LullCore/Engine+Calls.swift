// The other calls on a gate: section 5 of the semantics.
extension Engine {
    /// Executes what is pending under a key now, and makes its gate idle.
    @inlinable
    public mutating func flush(_ key: Key, at instant: CoreInstant) -> Actions<Key, Value> {
        var actions = Actions<Key, Value>()
        let now = tick(instant)
        let place = slotIndex(of: key)
        if place != .max, reach(place, &actions) { flush(place, at: now, &actions) }
        return actions
    }

    /// Makes a gate idle after what was due at `now` or before, and executes what is pending. The key may be forgotten then.
    @inlinable
    mutating func flush(_ place: UInt32, at now: CoreInstant, _ actions: inout Actions<Key, Value>) {
        settle(place, at: now, &actions)
        let slot = slots[place]
        if let ripe = slot.pointee.gate.flush(at: now) { fallDue(place, takeBatch(slot), ripe, &actions) }
        rest(place, &actions)
    }

    /// Drops what is pending or waiting under a key, and makes its gate idle.
    ///
    /// With `running` the running execution is told to stop as well.
    @inlinable
    public mutating func cancel(_ key: Key, running: Bool = false, at instant: CoreInstant) -> Actions<Key, Value> {
        var actions = Actions<Key, Value>()
        let now = tick(instant)
        let place = slotIndex(of: key)
        if place != .max, reach(place, &actions) { cancel(place, running, at: now, &actions) }
        return actions
    }

    /// Makes a gate idle after what was due at `now` or before, and drops what is pending or waiting. The key may be forgotten
    /// then.
    @inlinable
    mutating func cancel(
        _ place: UInt32, _ running: Bool, at now: CoreInstant, _ actions: inout Actions<Key, Value>
    ) {
        settle(place, at: now, &actions)
        let slot = slots[place]
        slot.pointee.gate.close()
        if slot.pointee.batch != nil { drop(takeBatch(slot), of: slot.pointee.key, .cancelled, &actions) }
        let lane = slot.pointee.lane
        if lane != .max {
            dropWaiting(lane, &actions)
            // What was to take the place of a run that was told to stop has just been dropped.
            let its = lanes[lane]
            its.pointee.cancelSuperseded()
            if running { tell(.cancelled, lanes[lane], &actions) }
            if !lanes[lane].pointee.isRunning {
                lanes.discard(lane)
                slot.pointee.lane = .max
            }
        }
        rest(place, &actions)
    }

    // MARK: - Questions

    /// Whether a key has a value that is not yet due at `instant`.
    @inlinable
    public func isPending(_ key: Key, at instant: CoreInstant) -> Bool {
        nextDue(key, at: instant) != nil
    }

    /// Whether nothing of a key is pending, waiting or running.
    @inlinable
    public func isIdle(_ key: Key) -> Bool {
        guard let place = index.find(KeyIndex.hash(key), matches: { slots[$0].pointee.key == key }) else { return true }
        let lane = slots[place].pointee.lane
        if willBeCancelled(place) { return lane == .max || !lanes[lane].pointee.isRunning }
        return slots[place].pointee.batch == nil && lane == .max
    }

    /// When what is pending under a key falls due, as if everything due at `instant` or before had been done.
    @inlinable
    public func nextDue(_ key: Key, at instant: CoreInstant) -> CoreInstant? {
        let place = index.find(KeyIndex.hash(key)) { slots[$0].pointee.key == key }
        guard let place else { return nil }
        return nextDue(place, at: instant)
    }

    /// When the next value of any key falls due, as if everything due at `instant` or before had been done.
    ///
    /// Looks at every open key.
    @inlinable
    public func nextDue(at instant: CoreInstant) -> CoreInstant? {
        var earliest: CoreInstant?
        slots.forEach { place, _ in
            if let due = nextDue(place, at: instant) { earliest = min(due, earliest ?? due) }
        }
        return earliest
    }

    @inlinable
    func nextDue(_ place: UInt32, at instant: CoreInstant) -> CoreInstant? {
        if willBeIdle(place) { return nil }
        var gate = slots[place].pointee.gate
        _ = gate.settle(at: max(now, instant), by: setup.policy)
        return gate.due(by: setup.policy)
    }

    /// The number of submits that are due and wait to start; ``counters`` has them in ``Counters/pending``.
    @inlinable
    public var waitingCount: Int { backlog }

    /// The number of keys with an open gate or a waiting value; a gate that is idle by now is among them until somebody
    /// is woken.
    @inlinable
    public var openKeyCount: Int { openCount }

    /// The number of keys that anything is kept for. A call for all keys looks at each.
    @inlinable
    public var slotCount: Int { slots.count }

    /// The number of executions that are running.
    @inlinable
    public var runningExecutions: Int { active }
}
