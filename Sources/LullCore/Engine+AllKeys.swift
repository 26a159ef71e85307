// Calls for all keys, at once or in portions: section 5 of the semantics.
extension Engine {
    /// Executes what is pending under every key now, in the order in which the bursts began.
    @inlinable
    public mutating func flush(at instant: CoreInstant) -> Actions<Key, Value> {
        sweep(.flush, at: instant)
    }

    /// Drops what is pending or waiting under every key, and makes all gates idle.
    ///
    /// With `running`, cancels the running executions too.
    @inlinable
    public mutating func cancel(running: Bool = false, at instant: CoreInstant) -> Actions<Key, Value> {
        sweep(.cancel(running: running), at: instant)
    }

    /// Refuses submits from now on, and flushes or drops what is pending.
    ///
    /// Waiting values, which are due already, are executed after a flush and dropped otherwise. Repeating the call is
    /// harmless.
    public mutating func shutDown(flushing: Bool, at instant: CoreInstant) -> Actions<Key, Value> {
        close()
        return flushing ? flush(at: instant) : cancel(at: instant)
    }

    /// Refuses submits from now on.
    public mutating func close() {
        isClosed = true
        needsSlowPath = true
    }

    /// Carries out a call for all keys at once.
    @inlinable
    public mutating func sweep(_ kind: Sweep.Kind, at instant: CoreInstant) -> Actions<Key, Value> {
        let now = advanceNow(to: instant)
        var actions = advance(to: now)
        finishSweeps(&actions)
        for index in slotsByBurst() where slots.contains(index) { apply(kind, to: index, at: now, &actions) }
        startWaiting(&actions)
        guard kind != .dropUnreachable else { return actions }
        // With no gate open any more, no entry is current but those of resting gates.
        deadlines.removeAll()
        if setup.policy.spacing == .zero { idleQueue.removeAll() }
        nextAlarm = .farFuture
        return actions
    }

    /// The slots of all keys, in the order in which their bursts began.
    @inlinable
    func slotsByBurst() -> [UInt32] {
        var found: [(burst: UInt64, slot: UInt32)] = []
        slots.forEach { index, slot in found.append((slot.pointee.burst, index)) }
        found.sort { $0.burst < $1.burst }
        return found.map { $0.slot }
    }

    // MARK: - In portions

    /// Begins a call for all keys, which counts as of this instant. ``continueSweep(_:limit:)`` carries it out.
    ///
    /// Call ``advance(to:limit:)`` first until it has done what was due by then, so that keys come in the order in which they
    /// were due.
    ///
    /// - Parameters:
    ///   - kind: What is done at every key.
    ///   - instant: The instant of the call.
    ///   - waiter: A caller that waits for what runs and waits at every key once the call has been applied to it.
    ///     ``Action/resume(_:)`` is returned for it once, not before the call is done. Not for ``Sweep/Kind/dropUnreachable``,
    ///     which does not visit every key.
    @inlinable
    public mutating func beginSweep(_ kind: Sweep.Kind, at instant: CoreInstant, waiter: WaiterID? = nil) -> Sweep {
        let now = advanceNow(to: instant)
        sweepNumber &+= 1
        sweeps.append(Sweep.Mark(number: sweepNumber, kind: kind, at: now, waiter: waiter))
        needsSlowPath = true
        if let waiter { waiters[waiter] = 1 }
        var sweep = Sweep(number: sweepNumber, blocks: 0..<slots.blockCount)
        // Growing it later would take longer than a lock may be held.
        if kind != .dropUnreachable { sweep.found.reserveCapacity(slots.count) }
        return sweep
    }

    /// Carries out a portion of a call for all keys: visits about 16 times `limit` of them, or changes `limit`.
    ///
    /// Also does what other calls at the same time have left to do at a key.
    @inlinable
    public mutating func continueSweep(_ sweep: inout Sweep, limit: Int) -> Actions<Key, Value> {
        var actions = Actions<Key, Value>()
        guard let mark = sweeps.first(where: { $0.number == sweep.number }) else {
            // Another call has applied this one to every key.
            sweep.hasFinished = true
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
            let index = sweep.found[sweep.position].slot
            if slots.contains(index) { _ = applyPendingSweeps(to: index, &actions) }
            sweep.position += 1
        }
        if sweep.position == sweep.found.count {
            sweep.hasFinished = true
            finish(mark, &actions)
        }
        // The end of an execution may have left this to the sweep.
        startWaiting(&actions)
        return actions
    }

    /// Collects the keys of some blocks that the call matters to.
    @inlinable
    func gather(_ sweep: inout Sweep, _ kind: Sweep.Kind, until end: Int) {
        var found = sweep.found
        sweep.found = []
        // The slots may have given back blocks meanwhile: these are passed over.
        slots.forEach(inBlocks: sweep.blocks.lowerBound..<end) { index, slot in
            let matters = kind != .dropUnreachable || isUnreachable(slot)
            if matters, slot.pointee.isBehind(sweep.number) { found.append((slot.pointee.burst, index)) }
        }
        sweep.found = found
        sweep.blocks = end..<sweep.blocks.upperBound
    }

    @inlinable
    mutating func finish(_ mark: Sweep.Mark, _ actions: inout Actions<Key, Value>) {
        sweeps.removeAll { $0.number == mark.number }
        needsSlowPath = isClosed || !sweeps.isEmpty
        if let waiter = mark.waiter { noteEnd(for: [waiter], &actions) }
    }

    /// Applies the calls that are under way to every key, which ends them.
    @inlinable
    mutating func finishSweeps(_ actions: inout Actions<Key, Value>) {
        guard !sweeps.isEmpty else { return }
        for index in slotsByBurst() where slots.contains(index) { _ = applyPendingSweeps(to: index, &actions) }
        for mark in sweeps { finish(mark, &actions) }
        startWaiting(&actions)
    }

    // MARK: - One key

    /// Whether a call for all keys is under way and has not been applied to a key.
    @inlinable
    @inline(__always)
    func isAwaitingSweep(_ index: UInt32) -> Bool {
        !sweeps.isEmpty && slots[index].pointee.isBehind(sweepNumber)
    }

    /// Applies the calls for all keys that are under way to a key, as of their instants.
    ///
    /// - Returns: Whether the key is still there.
    @inlinable
    @inline(__always)
    mutating func applyPendingSweeps(to index: UInt32, _ actions: inout Actions<Key, Value>) -> Bool {
        isAwaitingSweep(index) ? applySweeps(to: index, &actions) : true
    }

    @inlinable
    @inline(never)
    mutating func applySweeps(to index: UInt32, _ actions: inout Actions<Key, Value>) -> Bool {
        for mark in sweeps {
            let slot = slots[index]
            guard slot.pointee.isBehind(mark.number) else { continue }
            slot.pointee.sweep = mark.number
            apply(mark.kind, to: index, at: mark.at, &actions)
            guard slots.contains(index) else { return false }
            if let waiter = mark.waiter, let executions = executions(of: slots[index]) {
                waiters[waiter, default: 0] += executions.pointee.add(waiter)
            }
        }
        // Those that have ended meanwhile had nothing to do here.
        let slot = slots[index]
        slot.pointee.sweep = sweepNumber
        return true
    }

    @inlinable
    mutating func apply(
        _ kind: Sweep.Kind, to index: UInt32, at now: CoreInstant, _ actions: inout Actions<Key, Value>
    ) {
        switch kind {
        case .flush: flush(index, at: now, &actions)
        case .cancel(let running): cancel(index, running, at: now, &actions)
        case .dropUnreachable: dropUnreachable(index, &actions)
        }
    }

    @inlinable
    mutating func dropUnreachable(_ index: UInt32, _ actions: inout Actions<Key, Value>) {
        settle(index, at: now, &actions)
        let slot = slots[index]
        if isUnreachable(slot) {
            slot.pointee.gate.close(at: now, by: setup.policy)
            drop(takeBatch(slot), of: slot.pointee.key, .cancelled, &actions)
        }
        // Something pending has its entry in the queue already.
        if slot.pointee.batch == nil { forgetWhenIdle(index, &actions) }
    }

    @inlinable
    func isUnreachable(_ slot: UnsafeMutablePointer<Slot>) -> Bool {
        slot.pointee.batch != nil && slot.pointee.gate.pendingDue(by: setup.policy) == .farFuture
    }

    /// Whether a call that is under way leaves nothing pending at a key.
    @inlinable
    func willBeIdle(_ index: UInt32) -> Bool {
        sweeps.contains { slots[index].pointee.isBehind($0.number) && $0.kind != .dropUnreachable }
    }

    /// Whether a call that is under way drops what never falls due at a key.
    @inlinable
    func willDropUnreachable(_ index: UInt32) -> Bool {
        sweeps.contains { slots[index].pointee.isBehind($0.number) && $0.kind == .dropUnreachable }
    }

    /// Whether a call that is under way drops what is pending or waiting at a key.
    @inlinable
    func willBeCancelled(_ index: UInt32) -> Bool {
        sweeps.contains { mark in
            guard case .cancel = mark.kind else { return false }
            return slots[index].pointee.isBehind(mark.number)
        }
    }
}

extension Engine.Slot {
    /// Whether a call for all keys has not been applied to this one. Numbers wrap around; few calls are under way at once.
    @inlinable
    func isBehind(_ number: UInt16) -> Bool { Int16(bitPattern: number &- sweep) > 0 }
}
