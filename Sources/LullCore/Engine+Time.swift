extension Engine {
    /// Does everything that was due at `instant` or before, in the order of due instants, and sets ``alarm`` anew.
    ///
    /// A shell that calls this under a lock gives a `limit`: the call stops after so many executions or keys forgotten, or
    /// sixteen times as many steps of keeping the queues, or a mixture of both. Then ``alarm`` may be at `instant` or before,
    /// whether or not anything has been executed: call again.
    @inlinable
    public mutating func advance(to instant: CoreInstant, limit: Int = .max) -> Actions<Key, Value> {
        var actions = Actions<Key, Value>()
        let now = tick(instant)
        var budget = limit.multipliedReportingOverflow(by: Self.stepsPerKey).overflow ? .max : limit * Self.stepsPerKey
        while budget > 0, let entry = deadlines.pop(notAfter: now, budget: &budget) {
            guard holds(entry, pending: true) else {
                budget -= 1
                continue
            }
            if isBehind(entry.slot) {
                budget -= Self.stepsPerKey
                guard reach(entry.slot, &actions), holds(entry, pending: true) else { continue }
            }
            let slot = slots[entry.slot]
            if slot.pointee.gate.pendingDue(by: setup.policy).nanoseconds > entry.at {
                enter(entry.slot, slot)
                budget -= 1
            } else {
                settle(entry.slot, at: now, &actions)
                rest(entry.slot, &actions)
                budget -= Self.stepsPerKey
            }
        }
        forgetIdle(at: now, steps: budget, &actions)
        ring = deadlines.next ?? .farFuture
        // Nobody is woken to forget, but who is awake is asked to come back for the rest.
        if let idle = idleQueue.next, idle <= now { ring = min(ring, now) }
        actions.movesAlarm = ring != .farFuture
        return actions
    }

    /// How many steps of keeping the queues an execution, or a key forgotten, is worth.
    @inlinable
    static var stepsPerKey: Int { 16 }

    /// The instant at which a call is handled: time never runs backwards.
    @inlinable
    mutating func tick(_ instant: CoreInstant) -> CoreInstant {
        if instant > now { now = instant }
        return now
    }

    /// The place of a key, or `UInt32.max`.
    @inlinable
    @inline(__always)
    package mutating func slotIndex(of key: Key) -> UInt32 {
        recent != .max && slots[recent].pointee.key == key ? recent : lookUp(key)
    }

    @inlinable
    @inline(never)
    mutating func lookUp(_ key: Key) -> UInt32 {
        let found = index.find(KeyIndex.hash(key)) { slots[$0].pointee.key == key } ?? .max
        if found != .max { recent = found }
        return found
    }

    /// Whether an entry of the deadlines (`pending`) or of the idle queue is the one that its gate believes in.
    @inlinable
    func holds(_ entry: DeadlineQueue.Entry, pending: Bool) -> Bool {
        guard slots.contains(entry.slot) else { return false }
        let slot = slots[entry.slot]
        return slot.pointee.gate.isOpen && (slot.pointee.batch != nil) == pending
            && slot.pointee.scheduled.nanoseconds == entry.at
            && UInt32(truncatingIfNeeded: slot.pointee.birth) == entry.birth
    }

    /// Queues a gate that has become due earlier, and moves the alarm if it must ring earlier now.
    @inlinable
    mutating func schedule(_ place: UInt32, _ actions: inout Actions<Key, Value>) {
        let slot = slots[place]
        enter(place, slot)
        if slot.pointee.scheduled < ring {
            ring = slot.pointee.scheduled
            actions.movesAlarm = true
        }
        compactQueues()
    }

    @inlinable
    mutating func enter(_ place: UInt32, _ slot: UnsafeMutablePointer<Slot>) {
        let due = slot.pointee.gate.pendingDue(by: setup.policy)
        slot.pointee.scheduled = due
        slot.pointee.compactionPass = 0
        deadlines.push(DeadlineQueue.Entry(at: due, slot: place, birth: slot.pointee.birth))
    }

    /// Gives the gate of a key that has none, or whose gate changes at `now`, to a submit: settled, and open or about
    /// to be.
    ///
    /// - Returns: The place of the key, or `UInt32.max` if there is no room for it.
    @inlinable
    @inline(never)
    mutating func beginBurst(
        _ key: Key, _ found: UInt32, _ now: CoreInstant, _ actions: inout Actions<Key, Value>
    ) -> UInt32 {
        var place = found
        if place != .max {
            settle(place, at: now, &actions)
            if slots[place].pointee.gate.isOpen { return place }
        }
        if !hasRoom(for: place) {
            // Whether there is room is a question of what is due by now, not of when a timer got round to it.
            if place != .max { rest(place, &actions) }
            let earlier = advance(to: now)
            actions.more += earlier.more
            actions.movesAlarm = actions.movesAlarm || earlier.movesAlarm
            endSweeps(&actions)
            place = slotIndex(of: key)
            guard hasRoom(for: place) else { return .max }
        }
        forgetIdle(at: now, steps: 3 * Self.stepsPerKey, &actions)
        if place == .max {
            place = slots.insert(Slot(key: key, sweep: sweepNumber))
            addToIndex(key, place)
            recent = place
            // Here rather than when the value is due: then somebody waits for it.
            lanes.prepare()
        }
        let slot = slots[place]
        births += 1
        slot.pointee.birth = births
        if !slot.pointee.isCounted {
            slot.pointee.isCounted = true
            openCount += 1
        }
        return place
    }

    /// Whether a key, perhaps a new one, may be open.
    @inlinable
    func hasRoom(for place: UInt32) -> Bool {
        openCount < setup.capacity || (place != .max && slots[place].pointee.isCounted)
    }

    /// Does what the gate of one key had due at `now` or before.
    @inlinable
    mutating func settle(_ place: UInt32, at now: CoreInstant, _ actions: inout Actions<Key, Value>) {
        let slot = slots[place]
        if let ripe = slot.pointee.gate.settle(at: now, by: setup.policy) {
            fallDue(place, takeBatch(slot), ripe, &actions)
        }
        recount(place)
    }

    /// Takes what is pending out of a slot whose gate had a count.
    @inlinable
    mutating func takeBatch(_ slot: UnsafeMutablePointer<Slot>) -> Batch<Value> {
        guard let batch = slot.pointee.batch.take() else {
            preconditionFailure("a gate with submits pending has no value: this is a bug in LullCore")
        }
        return batch
    }

    /// Keeps the number of keys that are open or have a value waiting.
    @inlinable
    mutating func recount(_ place: UInt32) {
        let slot = slots[place]
        let lane = slot.pointee.lane
        let counts = slot.pointee.gate.isOpen || (lane != .max && lanes[lane].pointee.isWaiting)
        guard counts != slot.pointee.isCounted else { return }
        slot.pointee.isCounted = counts
        openCount += counts ? 1 : -1
    }

    /// Called when nothing is pending at a key: it is forgotten now, or when its gate is idle and its last run has
    /// ended.
    @inlinable
    mutating func rest(_ place: UInt32, _ actions: inout Actions<Key, Value>) {
        recount(place)
        let slot = slots[place]
        if slot.pointee.gate.isOpen {
            slot.pointee.scheduled = slot.pointee.gate.quiet
            slot.pointee.compactionPass = 0
            idleQueue.push(DeadlineQueue.Entry(at: slot.pointee.gate.quiet, slot: place, birth: slot.pointee.birth))
            compactQueues()
        } else if slot.pointee.lane == .max {
            forget(place, &actions)
        }
    }

    /// Gives back what is kept for a key.
    @inlinable
    mutating func forget(_ place: UInt32, _ actions: inout Actions<Key, Value>) {
        if recent == place { recent = .max }
        let slot = slots.remove(place)
        let hash = KeyIndex.hash(slot.key)
        if index.remove(hash, place: place) { shrinkIndex(near: hash) }
        if !_isPOD(Key.self) { actions.more.append(.release(slot.key)) }
        compactQueues()
    }

    /// Forgets keys whose gates have become idle with nothing pending.
    @inlinable
    mutating func forgetIdle(at now: CoreInstant, steps: Int, _ actions: inout Actions<Key, Value>) {
        var budget = steps
        while budget > 0, let entry = idleQueue.pop(notAfter: now, budget: &budget) {
            budget -= 1
            guard holds(entry, pending: false) else { continue }
            if isBehind(entry.slot) {
                guard reach(entry.slot, &actions), holds(entry, pending: false) else { continue }
            }
            let slot = slots[entry.slot]
            _ = slot.pointee.gate.settle(at: now, by: setup.policy)
            if !slot.pointee.gate.isOpen { budget -= Self.stepsPerKey - 1 }
            rest(entry.slot, &actions)
        }
    }
}
