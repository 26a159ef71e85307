// Calls on a gate, and on those of all keys, at once or in portions: section 5 of the semantics.
extension SlotEngine {
    // MARK: - One key

    /// Carries out a call on one key: a flush or a cancel.
    package mutating func call(_ kind: Sweep.Kind, at index: UInt32, _ instant: CoreInstant) {
        let now = advanceNow(to: instant)
        passTimeLimits()
        if index != .max, applyPendingSweeps(to: index) { apply(kind, to: index, at: now) }
        startLimited()
    }

    private mutating func apply(_ kind: Sweep.Kind, to index: UInt32, at now: CoreInstant) {
        switch kind {
        case .flush: flush(index, at: now)
        case .cancel(let running): cancel(index, running, at: now)
        case .dropUnreachable: dropUnreachable(index, at: now)
        }
    }

    /// Carries out a touch on one key.
    package mutating func touch(_ index: UInt32, at instant: CoreInstant, wait: CoreDuration?) {
        let now = advanceNow(to: instant)
        guard index != .max, applyPendingSweeps(to: index) else { return }
        settleUnlessOpen(index, at: now)
        let slot = slots[index]
        guard isTaken(index), slot.pointee.gate.isOpen else { return }
        slot.pointee.gate.touch(at: now, wait: wait, by: policy)
        guard changesEarlier(slot) else { return }
        if slot.pointee.gate.count == 0 { forgetWhenIdle(index) } else { schedule(index) }
    }

    /// Does what was due at `now` or before, makes the gate idle, and executes what is pending. The key may be
    /// forgotten then.
    private mutating func flush(_ index: UInt32, at now: CoreInstant) {
        settle(index, at: now)
        let slot = slots[index]
        if let due = slot.pointee.gate.flush(at: now, by: policy) {
            fallDue(index, due)
        } else {
            flushHeld(index, at: now)
        }
        forgetWhenIdle(index)
    }

    /// Does what was due at `now` or before, makes the gate idle, and drops what is pending or waiting. The key may be
    /// forgotten then.
    private mutating func cancel(_ index: UInt32, _ running: Bool, at now: CoreInstant) {
        settle(index, at: now)
        close(index, at: now)
        let slot = slots[index]
        if let executions = executions(of: slot) {
            // The value that was to take the place of a cancelled run is dropped.
            executions.pointee.cancel(.superseded)
            if running {
                executions.pointee.cancel(.interrupted)
                executions.pointee.cancel(.expired)
                cancelRuns(of: executions, .cancelled)
            }
            drop(slot)
        }
        forgetWhenIdle(index)
    }

    /// Drops what waits or is held at a key, which has executions.
    mutating func drop(_ slot: UnsafeMutablePointer<Slot>, _ fate: NotExecutedError = .cancelled) {
        let number = slot.pointee.executions
        dropWaiting(number, fate)
        if !keyExecutions[number].pointee.hasStarted { retire(number) }
    }

    /// Does what was due at `now` or before, and drops what is never due; what is held with nothing pending starts. The
    /// key may be forgotten then.
    private mutating func dropUnreachable(_ index: UInt32, at now: CoreInstant) {
        settle(index, at: now)
        let slot = slots[index]
        if isUnreachable(slot) {
            close(index, at: now)
            if isHeld(slot) { drop(slot) }
        } else if slot.pointee.gate.count == 0 {
            flushHeld(index, at: now)
        }
        // Something pending has its entry in the queue already.
        if slot.pointee.gate.count == 0 { forgetWhenIdle(index) }
    }

    /// Makes a gate idle, and drops what is pending.
    private mutating func close(_ index: UInt32, at now: CoreInstant) {
        let slot = slots[index]
        let count = slot.pointee.gate.count
        slot.pointee.gate.close(at: now, by: policy)
        if count > 0 { dropPending(index, count, .cancelled) }
    }

    @inline(__always)
    private func isUnreachable(_ slot: UnsafeMutablePointer<Slot>) -> Bool {
        slot.pointee.gate.count > 0 && slot.pointee.gate.pendingDue(by: policy) == .farFuture
    }

    // MARK: - All at once

    /// Refuses submits from now on.
    package mutating func close() {
        isClosed = true
        needsSlowPath = true
    }

    /// Holds no values from now on: `Engine.stopHolding(flushing:)`.
    package mutating func stopHolding(flushing: Bool) { heldRule = flushing ? .flush : .drop }

    /// Carries out a call for all keys at once.
    package mutating func sweep(_ kind: Sweep.Kind, at instant: CoreInstant) {
        let now = advanceNow(to: instant)
        advance(to: now, limit: .max)
        finishSweeps()
        for index in slotsByBurst() where isTaken(index) { apply(kind, to: index, at: now) }
        startWaiting()
        guard kind != .dropUnreachable else { return }
        // With no gate open any more, no entry is current but those of resting gates.
        deadlines.removeAll()
        if policy.spacing == .zero { idleQueue.removeAll() }
        nextAlarm = min(startAlarm, timeLimitAlarm)
    }

    /// The slots of all keys, in the order in which their bursts began.
    @inline(__always)
    private func slotsByBurst() -> [UInt32] {
        var found: [(burst: UInt64, slot: UInt32)] = []
        slots.forEach { index, slot in found.append((slot.pointee.burst, index)) }
        Sweep.sortByBurst(&found)
        return found.map { $0.slot }
    }

    // MARK: - In portions

    /// Begins a call for all keys: `Engine.beginSweep(_:at:waiter:)`.
    package mutating func beginSweep(_ kind: Sweep.Kind, at instant: CoreInstant, waiter: WaiterID?) -> Sweep {
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

    /// Carries out a portion of a call for all keys: `Engine.continueSweep(_:limit:)`.
    package mutating func continueSweep(_ sweep: inout Sweep, limit: Int) {
        guard let mark = sweeps.first(where: { $0.number == sweep.number }) else {
            // Another call has applied this one to every key.
            sweep.hasFinished = true
            return
        }
        if !sweep.blocks.isEmpty {
            let end = sweep.blocks.lowerBound + min(sweep.blocks.count, max(1, limit / 4))
            gather(&sweep, mark.kind, until: end)
            guard sweep.blocks.isEmpty, limit == .max else { return }
        }
        sweep.sortIfNeeded()
        let end = sweep.position + min(limit, sweep.found.count - sweep.position)
        while sweep.position < end {
            let index = sweep.found[sweep.position].slot
            if isTaken(index) { _ = applyPendingSweeps(to: index) }
            sweep.position += 1
        }
        if sweep.position == sweep.found.count {
            sweep.hasFinished = true
            finish(mark)
        }
        // The end of an execution may have left this to the sweep.
        startWaiting()
    }

    /// Collects the keys of some blocks that the call matters to.
    private func gather(_ sweep: inout Sweep, _ kind: Sweep.Kind, until end: Int) {
        var found = sweep.found
        sweep.found = []
        // The slots may have given back blocks meanwhile: these are passed over.
        slots.forEach(inBlocks: sweep.blocks.lowerBound..<end) { index, slot in
            let matters = kind != .dropUnreachable || isUnreachable(slot) || isHeld(slot)
            if matters, slot.pointee.isBehind(sweep.number) { found.append((slot.pointee.burst, index)) }
        }
        sweep.found = found
        sweep.blocks = end..<sweep.blocks.upperBound
    }

    private mutating func finish(_ mark: Sweep.Mark) {
        sweeps.removeAll { $0.number == mark.number }
        needsSlowPath = isClosed || !sweeps.isEmpty || setup.concernsSubmits
        if let waiter = mark.waiter { noteEnd(for: [waiter]) }
    }

    /// Applies the calls that are under way to every key, which ends them.
    mutating func finishSweeps() {
        guard !sweeps.isEmpty else { return }
        for index in slotsByBurst() where isTaken(index) { _ = applyPendingSweeps(to: index) }
        for mark in sweeps { finish(mark) }
        startWaiting()
    }

    /// Whether a call for all keys is under way and has not been applied to a key.
    @inline(__always)
    func isAwaitingSweep(_ index: UInt32) -> Bool { !sweeps.isEmpty && slots[index].pointee.isBehind(sweepNumber) }

    /// Applies the calls for all keys that are under way to a key, as of their instants.
    ///
    /// - Returns: Whether the key is still there.
    mutating func applyPendingSweeps(to index: UInt32) -> Bool {
        guard isAwaitingSweep(index) else { return true }
        for mark in sweeps {
            let slot = slots[index]
            guard slot.pointee.isBehind(mark.number) else { continue }
            slot.pointee.sweep = mark.number
            apply(mark.kind, to: index, at: mark.at)
            guard isTaken(index) else { return false }
            if let waiter = mark.waiter, let executions = executions(of: slots[index]) {
                waiters[waiter, default: 0] += executions.pointee.add(waiter)
            }
        }
        // Those that have ended meanwhile had nothing to do here.
        let slot = slots[index]
        slot.pointee.sweep = sweepNumber
        return true
    }

    // MARK: - Questions

    /// Whether such a call for all keys is under way and has not been applied to a key.
    private func isUnderWay(at index: UInt32, _ matches: (Sweep.Kind) -> Bool) -> Bool {
        sweeps.contains { slots[index].pointee.isBehind($0.number) && matches($0.kind) }
    }

    /// When what is pending at a slot falls due, as if everything due at `instant` or before had been done.
    package func nextDue(_ index: UInt32, at instant: CoreInstant) -> CoreInstant? {
        guard index != .max, !isUnderWay(at: index, { $0 != .dropUnreachable }) else { return nil }
        var gate = slots[index].pointee.gate
        _ = gate.settle(at: max(now, instant), by: policy)
        let due = gate.due(by: policy)
        return due == .farFuture && isUnderWay(at: index, { $0 == .dropUnreachable }) ? nil : due
    }

    /// When the next value of any key falls due, as if everything due at `instant` or before had been done.
    package func nextDue(at instant: CoreInstant) -> CoreInstant? {
        var earliest: CoreInstant?
        slots.forEach { index, _ in
            if let due = nextDue(index, at: instant) { earliest = min(due, earliest ?? due) }
        }
        return earliest
    }
}
