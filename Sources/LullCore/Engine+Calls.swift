// The other calls on a gate: section 5 of the semantics.
extension Engine {
    /// Executes what is pending under a key now, and makes its gate idle.
    @inlinable
    public mutating func flush(_ key: Key, at instant: CoreInstant) -> Actions<Key, Value> {
        var actions = Actions<Key, Value>()
        let now = tick(instant)
        let place = find(key)
        if place != .max {
            settle(place, at: now, &actions)
            flush(place, at: now, &actions)
        }
        return actions
    }

    /// Executes what is pending under every key now, in the order in which the bursts began.
    @inlinable
    public mutating func flush(at instant: CoreInstant) -> Actions<Key, Value> {
        let now = tick(instant)
        var actions = advance(to: now)
        for place in openPlaces() { flush(place, at: now, &actions) }
        dropQueues()
        return actions
    }

    @inlinable
    mutating func flush(_ place: UInt32, at now: CoreInstant, _ actions: inout Actions<Key, Value>) {
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
        let place = find(key)
        if place != .max {
            settle(place, at: now, &actions)
            cancel(place, running, &actions)
        }
        return actions
    }

    /// Drops what is pending or waiting under every key, and makes all gates idle.
    @inlinable
    public mutating func cancel(running: Bool = false, at instant: CoreInstant) -> Actions<Key, Value> {
        var actions = advance(to: tick(instant))
        var places: [(birth: UInt64, place: UInt32)] = []
        slots.forEach { place, slot in places.append((slot.pointee.birth, place)) }
        places.sort { $0.birth < $1.birth }
        for (_, place) in places where slots.contains(place) { cancel(place, running, &actions) }
        dropQueues()
        return actions
    }

    @inlinable
    mutating func cancel(_ place: UInt32, _ running: Bool, _ actions: inout Actions<Key, Value>) {
        let slot = slots[place]
        slot.pointee.gate.close()
        if slot.pointee.batch != nil { drop(takeBatch(slot), of: slot.pointee.key, .cancelled, &actions) }
        let lane = slot.pointee.lane
        if lane != .max {
            dropWaiting(lane, &actions)
            if running { tell(.cancelled, lanes[lane], &actions) }
            if !lanes[lane].pointee.isRunning {
                _ = lanes.remove(lane)
                slot.pointee.lane = .max
            }
        }
        rest(place, &actions)
    }

    /// Takes no more submits, and flushes or drops what is pending.
    ///
    /// What is waiting, being due already, is executed after a flush and dropped otherwise. Repeating the call is
    /// harmless.
    @inlinable
    public mutating func shutDown(flushing: Bool, at instant: CoreInstant) -> Actions<Key, Value> {
        isClosed = true
        return flushing ? flush(at: instant) : cancel(at: instant)
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
        return slots[place].pointee.batch == nil && slots[place].pointee.lane == .max
    }

    /// When what is pending under a key falls due, as if everything due at `instant` or before had been done.
    @inlinable
    public func nextDue(_ key: Key, at instant: CoreInstant) -> CoreInstant? {
        let place = index.find(KeyIndex.hash(key)) { slots[$0].pointee.key == key }
        guard let place else { return nil }
        return nextDue(slots[place].pointee.gate, at: instant)
    }

    /// When the next value of any key falls due, as if everything due at `instant` or before had been done.
    ///
    /// Looks at every open key.
    @inlinable
    public func nextDue(at instant: CoreInstant) -> CoreInstant? {
        var earliest: CoreInstant?
        slots.forEach { _, slot in
            if let due = nextDue(slot.pointee.gate, at: instant) { earliest = min(due, earliest ?? due) }
        }
        return earliest
    }

    @inlinable
    func nextDue(_ gate: Gate, at instant: CoreInstant) -> CoreInstant? {
        var gate = gate
        _ = gate.settle(at: max(now, instant), by: setup.policy)
        return gate.due(by: setup.policy)
    }

    /// The number of submits that are due and wait to start; ``counters`` has them in ``Counters/pending``.
    @inlinable
    public var waitingCount: Int { backlog }

    /// The number of keys with an open gate or a waiting value; a gate that is idle by now is among them until somebody
    /// is woken.
    @inlinable
    public var openKeys: Int { openCount }

    /// The number of executions that are running.
    @inlinable
    public var runningExecutions: Int { active }

    // MARK: - All keys

    /// The places of open gates, in the order in which their bursts began.
    @inlinable
    func openPlaces() -> [UInt32] {
        var places: [(birth: UInt64, place: UInt32)] = []
        slots.forEach { place, slot in
            if slot.pointee.gate.isOpen { places.append((slot.pointee.birth, place)) }
        }
        places.sort { $0.birth < $1.birth }
        return places.map { $0.place }
    }

    /// With no gate open any more, no entry of the queues holds.
    @inlinable
    mutating func dropQueues() {
        deadlines.removeAll()
        idleQueue.removeAll()
        ring = .farFuture
    }
}
