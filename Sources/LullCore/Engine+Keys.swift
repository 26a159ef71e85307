// The slots of the keys: how they are found, added and forgotten.
extension Engine {
    /// Returns the index of a key's slot, or `UInt32.max`.
    @inlinable
    @inline(__always)
    package mutating func slotIndex(of key: Key) -> UInt32 {
        recentSlot != .max && slots[recentSlot].pointee.key == key ? recentSlot : lookUp(key)
    }

    @inlinable
    @inline(never)
    mutating func lookUp(_ key: Key) -> UInt32 {
        let found = findSlot(of: key)
        if found != .max { recentSlot = found }
        return found
    }

    /// Returns the index of a key's slot, or `UInt32.max`; for questions, which change nothing.
    ///
    /// Always inlined: a call from a mutating function copies the engine (row `filter`).
    @inlinable
    @inline(__always)
    func findSlot(of key: Key) -> UInt32 {
        keyIndex.find(KeyIndex.hash(key)) { slots[$0].pointee.key == key } ?? .max
    }

    /// Adds the slot of a new key, and returns its index.
    @inlinable
    mutating func addSlot(for key: Key) -> UInt32 {
        let index = slots.insert(Slot(key: key, sweep: sweepNumber))
        keyIndex.insert(KeyIndex.hash(key), slot: index) { KeyIndex.hash(slots[$0].pointee.key) }
        recentSlot = index
        // Here rather than when the value is due, which would make it late.
        keyExecutions.prepare()
        return index
    }

    /// Forgets a key.
    @inlinable
    mutating func forget(_ index: UInt32, _ actions: inout Actions<Key, Value>) {
        if recentSlot == index { recentSlot = .max }
        let slot = slots.remove(index)
        keyIndex.remove(KeyIndex.hash(slot.key), slot: index) { KeyIndex.hash(slots[$0].pointee.key) }
        if !_isPOD(Key.self) { actions.more.append(.release(slot.key)) }
        compactQueues()
    }

    /// Forgets a key that has nothing pending: now if its gate is idle and nothing of it runs or waits, otherwise when that is
    /// so.
    @inlinable
    mutating func forgetWhenIdle(_ index: UInt32, _ actions: inout Actions<Key, Value>) {
        let slot = slots[index]
        // A call for all keys counts as of its own instant: the spacing may have passed since.
        if slot.pointee.gate.phase == .resting { _ = slot.pointee.gate.settle(at: now, by: setup.policy) }
        updateGauge(index)
        if slot.pointee.gate.phase != .idle {
            let change = slot.pointee.gate.nextChange(by: setup.policy)
            slot.pointee.scheduled = change
            slot.pointee.compactionPass = 0
            idleQueue.push(DeadlineQueue.Entry(at: change, slot: index, burst: slot.pointee.burst))
            compactQueues()
        } else if slot.pointee.executions == .max {
            forget(index, &actions)
        }
    }

    /// Forgets keys whose gates have become idle with nothing pending.
    @inlinable
    mutating func forgetIdle(at now: CoreInstant, steps: Int, _ actions: inout Actions<Key, Value>) {
        var budget = steps
        while budget > 0, let entry = idleQueue.pop(notAfter: now, budget: &budget) {
            budget -= 1
            guard slots.isCurrent(entry, pending: false) else { continue }
            if isAwaitingSweep(entry.slot) {
                guard applyPendingSweeps(to: entry.slot, &actions), slots.isCurrent(entry, pending: false) else {
                    continue
                }
            }
            let slot = slots[entry.slot]
            _ = slot.pointee.gate.settle(at: now, by: setup.policy)
            if slot.pointee.gate.phase == .idle { budget -= Self.stepsPerKey - 1 }
            forgetWhenIdle(entry.slot, &actions)
        }
    }

    // MARK: - Capacity

    /// Whether a key, perhaps a new one, may be open.
    @inlinable
    func hasRoom(for index: UInt32) -> Bool {
        openCount + restingCount < setup.capacity || (index != .max && slots[index].pointee.gauge != .none)
    }

    /// Does what is due by now, which may make room: whether there is room must not depend on when a timer fires.
    ///
    /// - Returns: The slot of the key, which may be forgotten by then.
    @usableFromInline
    @inline(never)
    mutating func makeRoom(
        for key: Key, _ index: UInt32, _ now: CoreInstant, _ actions: inout Actions<Key, Value>
    ) -> UInt32 {
        if index != .max { forgetWhenIdle(index, &actions) }
        let earlier = advance(to: now)
        actions.more += earlier.more
        actions.movesAlarm = actions.movesAlarm || earlier.movesAlarm
        finishSweeps(&actions)
        return slotIndex(of: key)
    }

    /// Updates the numbers of keys after a change of a gate or of what waits.
    @inlinable
    mutating func updateGauge(_ index: UInt32) {
        let slot = slots[index]
        let isOpen = slot.pointee.gate.isOpen || executions(of: slot)?.pointee.isWaiting == true
        count(slot, as: isOpen ? .open : slot.pointee.gate.phase == .resting ? .resting : .none)
    }

    @inlinable
    mutating func count(_ slot: UnsafeMutablePointer<Slot>, as gauge: Gauge) {
        let before = slot.pointee.gauge
        guard gauge != before else { return }
        slot.pointee.gauge = gauge
        switch before {
        case .none: break
        case .open: openCount -= 1
        case .resting: restingCount -= 1
        }
        switch gauge {
        case .none: break
        case .open: openCount += 1
        case .resting: restingCount += 1
        }
    }
}
