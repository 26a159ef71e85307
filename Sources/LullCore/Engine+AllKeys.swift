// Calls for all keys, at once or in portions: section 5 of the semantics.
extension Engine {
    /// Executes what is pending under every key now, in the order in which the bursts began.
    @inlinable
    public mutating func flush(at instant: CoreInstant) -> Actions<Key, Value> {
        sweep(.flush, at: instant)
    }

    /// Drops what is pending or waiting under every key, and makes all gates idle.
    ///
    /// With `running` the running executions are told to stop as well.
    @inlinable
    public mutating func cancel(running: Bool = false, at instant: CoreInstant) -> Actions<Key, Value> {
        sweep(.cancel(running: running), at: instant)
    }

    /// Takes no more submits, and flushes or drops what is pending.
    ///
    /// What is waiting, being due already, is executed after a flush and dropped otherwise. Repeating the call is
    /// harmless.
    @inlinable
    public mutating func shutDown(flushing: Bool, at instant: CoreInstant) -> Actions<Key, Value> {
        close()
        return flushing ? flush(at: instant) : cancel(at: instant)
    }

    /// Takes no more submits from now on.
    @inlinable
    public mutating func close() {
        isClosed = true
        needsLongWay = true
    }

    /// Carries out a call for all keys at once. What ``flush(at:)`` and ``cancel(running:at:)`` do.
    @inlinable
    public mutating func sweep(_ kind: Sweep.Kind, at instant: CoreInstant) -> Actions<Key, Value> {
        let now = tick(instant)
        var actions = advance(to: now)
        endSweeps(&actions)
        for place in placesInOrder() where slots.contains(place) { carryOut(kind, at: place, now, &actions) }
        grantSlots(&actions)
        guard kind != .dropUnreachable else { return actions }
        // With no gate open any more, no entry holds.
        deadlines.removeAll()
        idleQueue.removeAll()
        ring = .farFuture
        return actions
    }

    @inlinable
    mutating func carryOut(
        _ kind: Sweep.Kind, at place: UInt32, _ now: CoreInstant, _ actions: inout Actions<Key, Value>
    ) {
        switch kind {
        case .flush: flush(place, at: now, &actions)
        case .cancel(let running): cancel(place, running, at: now, &actions)
        case .dropUnreachable: dropUnreachable(place, &actions)
        }
    }

    /// The places of all keys, in the order in which their bursts began.
    @inlinable
    func placesInOrder() -> [UInt32] {
        var places: [(birth: UInt64, place: UInt32)] = []
        slots.forEach { place, slot in places.append((slot.pointee.birth, place)) }
        places.sort { $0.birth < $1.birth }
        return places.map { $0.place }
    }

    // MARK: - In portions

    /// Begins a call for all keys, which counts as of this instant. It is carried out by ``continueSweep(_:limit:)``.
    ///
    /// So that keys come in the order in which they were due, ``advance(to:limit:)`` has done what was due by then.
    ///
    /// - Parameters:
    ///   - kind: What is done at every key.
    ///   - instant: When that is.
    ///   - ticket: Waits for what runs and waits at every key when the call has reached it. ``Action/resume(_:)`` comes for it
    ///     once, not before the call is done. Not for ``Sweep/Kind/dropUnreachable``, which does not look at every key.
    @inlinable
    public mutating func beginSweep(
        _ kind: Sweep.Kind, at instant: CoreInstant, waiter ticket: WaiterID? = nil
    ) -> Sweep {
        let now = tick(instant)
        sweepNumber &+= 1
        sweeps.append(Sweep.Mark(number: sweepNumber, kind: kind, at: now, ticket: ticket))
        needsLongWay = true
        if let ticket { tickets[ticket] = 1 }
        var sweep = Sweep(number: sweepNumber, blocks: 0..<slots.blockCount)
        // To grow it later would take longer than a lock may be held.
        if kind != .dropUnreachable { sweep.found.reserveCapacity(slots.count) }
        return sweep
    }

    /// Carries out a portion of a call for all keys: looks at about 16 times `limit` of them, or changes `limit`.
    ///
    /// What other calls at the same time have left to do at a key is done as well.
    @inlinable
    public mutating func continueSweep(_ sweep: inout Sweep, limit: Int) -> Actions<Key, Value> {
        var actions = Actions<Key, Value>()
        guard let mark = sweeps.first(where: { $0.number == sweep.number }) else {
            // Another call has reached every key on behalf of this one.
            sweep.hasReachedAll = true
            return actions
        }
        if !sweep.blocks.isEmpty {
            let end = sweep.blocks.lowerBound + min(sweep.blocks.count, max(1, limit / 4))
            gather(&sweep, mark.kind, until: end)
            guard sweep.blocks.isEmpty, limit == .max else { return actions }
        }
        sweep.sortIfNeeded()
        let end = sweep.position + min(limit, sweep.found.count - sweep.position)
        while sweep.position < end {
            let place = sweep.found[sweep.position].place
            if slots.contains(place) { _ = reach(place, &actions) }
            sweep.position += 1
        }
        if sweep.position == sweep.found.count {
            sweep.hasReachedAll = true
            finish(mark, &actions)
        }
        // An end of an execution may have left this to us.
        grantSlots(&actions)
        return actions
    }

    @inlinable
    func gather(_ sweep: inout Sweep, _ kind: Sweep.Kind, until end: Int) {
        var found = sweep.found
        sweep.found = []
        slots.forEach(inBlocks: sweep.blocks.lowerBound..<min(end, slots.blockCount)) { place, slot in
            let matters =
                kind != .dropUnreachable
                || slot.pointee.batch != nil && slot.pointee.gate.pendingDue(by: setup.policy) == .farFuture
            if matters, slot.pointee.isBehind(sweep.number) { found.append((slot.pointee.birth, place)) }
        }
        sweep.found = found
        sweep.blocks = end..<sweep.blocks.upperBound
    }

    @inlinable
    mutating func finish(_ mark: Sweep.Mark, _ actions: inout Actions<Key, Value>) {
        sweeps.removeAll { $0.number == mark.number }
        needsLongWay = isClosed || !sweeps.isEmpty
        if let ticket = mark.ticket { redeem([ticket], &actions) }
    }

    /// Lets the calls that are under way reach every key, which ends them.
    @inlinable
    mutating func endSweeps(_ actions: inout Actions<Key, Value>) {
        guard !sweeps.isEmpty else { return }
        for place in placesInOrder() where slots.contains(place) { _ = reach(place, &actions) }
        for mark in sweeps { finish(mark, &actions) }
        grantSlots(&actions)
    }

    // MARK: - Reaching a key

    /// Whether a call for all keys is under way and has not reached a key.
    @inlinable
    @inline(__always)
    func isBehind(_ place: UInt32) -> Bool {
        !sweeps.isEmpty && slots[place].pointee.isBehind(sweepNumber)
    }

    /// Lets the calls for all keys that are under way reach a key, as of their instants.
    ///
    /// - Returns: Whether the key is still there.
    @inlinable
    @inline(__always)
    mutating func reach(_ place: UInt32, _ actions: inout Actions<Key, Value>) -> Bool {
        isBehind(place) ? carryOut(at: place, &actions) : true
    }

    @inlinable
    @inline(never)
    mutating func carryOut(at place: UInt32, _ actions: inout Actions<Key, Value>) -> Bool {
        for mark in sweeps {
            let slot = slots[place]
            guard slot.pointee.isBehind(mark.number) else { continue }
            slot.pointee.sweep = mark.number
            carryOut(mark.kind, at: place, mark.at, &actions)
            guard slots.contains(place) else { return false }
            if let ticket = mark.ticket, slots[place].pointee.lane != .max {
                tickets[ticket, default: 0] += add(ticket, to: lanes[slots[place].pointee.lane])
            }
        }
        // Those that have ended meanwhile had no business here.
        let slot = slots[place]
        slot.pointee.sweep = sweepNumber
        return true
    }

    @inlinable
    mutating func dropUnreachable(_ place: UInt32, _ actions: inout Actions<Key, Value>) {
        settle(place, at: now, &actions)
        let slot = slots[place]
        if slot.pointee.batch != nil, slot.pointee.gate.pendingDue(by: setup.policy) == .farFuture {
            slot.pointee.gate.close()
            drop(takeBatch(slot), of: slot.pointee.key, .cancelled, &actions)
        }
        // Something pending has its entry in the queue already.
        if slot.pointee.batch == nil { rest(place, &actions) }
    }

    /// Whether a call that is under way leaves nothing pending at a key.
    @inlinable
    func willBeIdle(_ place: UInt32) -> Bool {
        isBehind(place)
            && sweeps.contains { mark in
                slots[place].pointee.isBehind(mark.number) && mark.kind != .dropUnreachable
            }
    }

    /// Whether a call that is under way drops what is pending or waiting at a key.
    @inlinable
    func willBeCancelled(_ place: UInt32) -> Bool {
        isBehind(place)
            && sweeps.contains { mark in
                guard case .cancel = mark.kind else { return false }
                return slots[place].pointee.isBehind(mark.number)
            }
    }
}

extension Engine.Slot {
    /// Whether a call for all keys has not reached this one. Numbers wrap around; few calls are under way at once.
    @inlinable
    func isBehind(_ number: UInt16) -> Bool { Int16(bitPattern: number &- sweep) > 0 }
}
