extension Engine {
    /// Does everything that was due at `instant` or before, in the order of due instants, and sets ``alarm`` anew.
    ///
    /// It stops after `limit` executions, or keys forgotten, so that a shell holds its lock for a short time only; then
    /// ``alarm`` may be at `instant` or before: call again.
    @inlinable
    public mutating func advance(to instant: CoreInstant, limit: Int = .max) -> Actions<Key, Value> {
        var actions = Actions<Key, Value>()
        let now = tick(instant)
        var executions = 0
        while executions < limit, let entry = agenda.pop(notAfter: now) {
            guard holds(entry, pending: true) else { continue }
            if isBehind(entry.slot) {
                guard reach(entry.slot, &actions), holds(entry, pending: true) else { continue }
            }
            let slot = slots[entry.slot]
            if slot.pointee.gate.pendingDue(by: setup.policy).nanoseconds > entry.at {
                enter(entry.slot, slot)
            } else {
                settle(entry.slot, at: now, &actions)
                rest(entry.slot, &actions)
                executions += 1
            }
        }
        forgetIdle(at: now, atMost: limit - executions, &actions)
        ring = agenda.next ?? .farFuture
        // Nobody is woken to forget, but who is awake is asked to come back for the rest.
        if let idle = fading.next, idle <= now { ring = min(ring, now) }
        actions.movesAlarm = ring != .farFuture
        return actions
    }

    /// The instant at which a call is handled: time never runs backwards.
    @inlinable
    mutating func tick(_ instant: CoreInstant) -> CoreInstant {
        if instant > now { now = instant }
        return now
    }

    /// The place of a key, or `UInt32.max`.
    @inlinable
    @inline(__always)
    package mutating func find(_ key: Key) -> UInt32 {
        recent != .max && slots[recent].pointee.key == key ? recent : lookUp(key)
    }

    @inlinable
    @inline(never)
    mutating func lookUp(_ key: Key) -> UInt32 {
        let found = index.find(KeyIndex.hash(key)) { slots[$0].pointee.key == key } ?? .max
        if found != .max { recent = found }
        return found
    }

    /// Makes the index anew, with all keys that have a slot: it is full, or much too large.
    @inlinable
    @inline(never)
    mutating func rebuildIndex() {
        // With room for as many as there are steps to go, so that the next time is as far away as this one has cost.
        var index = KeyIndex(keys: slots.steps, places: slots.bound)
        slots.forEach { place, slot in index.insert(KeyIndex.hash(slot.pointee.key), place: place) }
        self.index = index
    }

    /// Whether an entry of the agenda (`pending`) or of what is fading is the one that its gate believes in.
    @inlinable
    func holds(_ entry: Agenda.Entry, pending: Bool) -> Bool {
        guard slots.contains(entry.slot) else { return false }
        let slot = slots[entry.slot]
        return slot.pointee.gate.isOpen && (slot.pointee.batch != nil) == pending
            && slot.pointee.scheduled.nanoseconds == entry.at
            && UInt32(truncatingIfNeeded: slot.pointee.birth) == entry.birth
    }

    /// Puts a gate that has become due earlier into the agenda, and moves the alarm if it must ring earlier now.
    @inlinable
    mutating func schedule(_ place: UInt32, _ actions: inout Actions<Key, Value>) {
        let slot = slots[place]
        enter(place, slot)
        if slot.pointee.scheduled < ring {
            ring = slot.pointee.scheduled
            actions.movesAlarm = true
        }
        sweepAgendas()
    }

    @inlinable
    mutating func enter(_ place: UInt32, _ slot: UnsafeMutablePointer<Slot>) {
        let due = slot.pointee.gate.pendingDue(by: setup.policy)
        slot.pointee.scheduled = due
        agenda.push(Agenda.Entry(at: due, slot: place, birth: slot.pointee.birth))
    }

    /// Drops entries that no longer hold when they are more than those that may.
    @inlinable
    mutating func sweepAgendas() {
        let bound = 2 * slots.count + 64
        if agenda.count > bound || fading.count > bound { rebuildAgendas() }
    }

    /// Makes the agendas anew, with the one entry of every open gate.
    @inlinable
    @inline(never)
    mutating func rebuildAgendas() {
        var pending = Agenda()
        var idle = Agenda()
        slots.forEach { place, slot in
            guard slot.pointee.gate.isOpen else { return }
            let entry = Agenda.Entry(at: slot.pointee.scheduled, slot: place, birth: slot.pointee.birth)
            if slot.pointee.batch == nil { idle.push(entry) } else { pending.push(entry) }
        }
        agenda = pending
        fading = idle
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
            reachAll(&actions)
            place = find(key)
            guard hasRoom(for: place) else { return .max }
        }
        forgetIdle(at: now, atMost: 2, &actions)
        if place == .max {
            place = slots.insert(Slot(key: key, sweep: sweepNumber))
            if index.hasRoom(for: place) {
                index.insert(KeyIndex.hash(key), place: place)
            } else {
                rebuildIndex()
            }
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
            fading.push(Agenda.Entry(at: slot.pointee.gate.quiet, slot: place, birth: slot.pointee.birth))
            sweepAgendas()
        } else if slot.pointee.lane == .max {
            forget(place, &actions)
        }
    }

    /// Gives back what is kept for a key.
    @inlinable
    mutating func forget(_ place: UInt32, _ actions: inout Actions<Key, Value>) {
        if recent == place { recent = .max }
        let slot = slots.remove(place)
        index.remove(KeyIndex.hash(slot.key), place: place)
        if index.isTooLarge(for: slots.steps) { rebuildIndex() }
        if !_isPOD(Key.self) { actions.more.append(.release(slot.key)) }
        sweepAgendas()
    }

    /// Forgets keys whose gates have become idle with nothing pending.
    @inlinable
    mutating func forgetIdle(at now: CoreInstant, atMost limit: Int, _ actions: inout Actions<Key, Value>) {
        var steps = 0
        while steps < limit, let entry = fading.pop(notAfter: now) {
            steps += 1
            guard holds(entry, pending: false) else { continue }
            if isBehind(entry.slot) {
                guard reach(entry.slot, &actions), holds(entry, pending: false) else { continue }
            }
            let slot = slots[entry.slot]
            _ = slot.pointee.gate.settle(at: now, by: setup.policy)
            rest(entry.slot, &actions)
        }
    }
}
