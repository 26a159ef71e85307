// Submitting: sections 3 and 4 of the semantics.
extension Engine {
    /// Submits a value under a key (<doc:Semantics>, sections 3 and 4).
    ///
    /// `wait` is the delay of this call alone; a negative one counts as zero. A throttle ignores it.
    @inlinable
    public mutating func submit(
        _ value: consuming Value, for key: Key, at instant: CoreInstant, wait: CoreDuration? = nil
    ) -> Actions<Key, Value> {
        let index = slotIndex(of: key)
        switch submitFastPath(&value, at: index, at: instant, wait: wait) {
        case .displaced(let fate): return Actions(displaced: value, fate)
        case .collected: return Actions()
        case .needsSlowPath: return submitSlowPath(value, for: key, at: index, at: instant, wait: wait)
        }
    }

    // MARK: - The fast path

    /// The result of the fast path of a submit.
    @frozen
    @usableFromInline
    package enum FastPathResult {
        /// A value was displaced, with this fate.
        case displaced(Fate)
        /// The value is kept beside the others.
        case collected
        /// Nothing was done: call ``Engine/submitSlowPath(_:for:at:at:wait:)``.
        case needsSlowPath
    }

    /// Submits a value where a burst goes on, and all that is left to do is to release a value.
    ///
    /// By far the most frequent case. It makes no ``Actions``: to make, inspect and release them took a quarter of a submit
    /// (row `hot`).
    ///
    /// - Parameters:
    ///   - value: What is submitted; afterwards the displaced value, to be released outside the driver's lock.
    ///   - index: The result of ``slotIndex(of:)`` for the key.
    @inlinable
    @inline(__always)
    package mutating func submitFastPath(
        _ value: inout Value, at index: UInt32, at instant: CoreInstant, wait: CoreDuration?
    ) -> FastPathResult {
        let now = advanceNow(to: instant)
        guard index != .max, !needsSlowPath else { return .needsSlowPath }
        let slot = slots[index]
        guard slot.pointee.isOpen(beyond: now) else { return .needsSlowPath }
        // A copy decides, since the case may turn out not to be that simple.
        var gate = slot.pointee.gate
        let decision = gate.submit(at: now, wait: wait, by: setup.policy)
        // The gate must not change before its entry. It would not have done so before this submit, which has moved `quiet`
        // alone, and nothing falls due before `next`.
        let scheduled = slot.pointee.scheduled
        guard gate.quiet >= scheduled || gate.next(by: setup.policy) >= scheduled else { return .needsSlowPath }
        let result: FastPathResult
        switch decision {
        case .join where gate.count > 1 && setup.combination == .latest:
            // Proof: another submit has joined before, so there is a batch.
            swap(&slot.pointee.batch!.value, &value)
            tally.superseded += 1
            result = .displaced(.superseded)
        case .join where gate.count > 1 && setup.combination == .collect:
            collect(value, into: slot)
            result = .collected
        case .join where gate.count > 1, .absorb:
            tally.absorbed += 1
            result = .displaced(.absorbed)
        default:
            return .needsSlowPath
        }
        slot.pointee.gate = gate
        tally.submitted += 1
        return result
    }

    @inlinable
    @inline(never)
    mutating func collect(_ value: Value, into slot: UnsafeMutablePointer<Slot>) {
        tally.pending += 1
        _ = slot.pointee.batch?.add(value, by: .collect)
    }

    // MARK: - The slow path

    /// Submits a value in any case.
    ///
    /// - Parameter found: The result of ``slotIndex(of:)`` for the key.
    @inlinable
    @inline(never)
    package mutating func submitSlowPath(
        _ value: consuming Value, for key: Key, at found: UInt32, at instant: CoreInstant, wait: CoreDuration?
    ) -> Actions<Key, Value> {
        var actions = Actions<Key, Value>()
        let now = advanceNow(to: instant)
        tally.submitted += 1
        guard !isClosed else {
            reject(value, .shutDown, &actions)
            return actions
        }
        var index = found == .max || applyPendingSweeps(to: found, &actions) ? found : .max
        if index == .max || !slots[index].pointee.gate.isOpen(beyond: now, by: setup.policy) {
            index = beginBurst(of: key, at: index, now, &actions)
            actions.dueBeforeCall = UInt32(clamping: actions.more.count)
            guard index != .max else {
                reject(value, .overCapacity, &actions)
                return actions
            }
        }
        let slot = slots[index]
        let decision = slot.pointee.gate.submit(at: now, wait: wait, by: setup.policy)
        apply(decision, to: value, at: index, &actions)
        return actions
    }

    /// Settles the gate of a key that has none, or whose gate changes at `now`, so that it is open or a submit opens it.
    ///
    /// - Returns: The slot of the key, or `UInt32.max` if there is no room for it.
    @inlinable
    @inline(never)
    mutating func beginBurst(
        of key: Key, at found: UInt32, _ now: CoreInstant, _ actions: inout Actions<Key, Value>
    ) -> UInt32 {
        var index = found
        if index != .max {
            settle(index, at: now, &actions)
            if slots[index].pointee.gate.isOpen { return index }
        }
        if !hasRoom(for: index) {
            index = makeRoom(for: key, index, now, &actions)
            guard hasRoom(for: index) else { return .max }
        }
        forgetIdle(at: now, steps: 3 * Self.stepsPerKey, &actions)
        if index == .max { index = addSlot(for: key) }
        let slot = slots[index]
        burstCount += 1
        slot.pointee.burst = burstCount
        count(slot, as: .open)
        return index
    }

    /// Does with a value what its gate has decided.
    @inlinable
    mutating func apply(
        _ decision: Gate.Decision, to value: consuming Value, at index: UInt32, _ actions: inout Actions<Key, Value>
    ) {
        let slot = slots[index]
        switch decision {
        case .join, .fill:
            let isFirst = slot.pointee.batch == nil
            combine(value, into: slot, &actions)
            if isFirst || changesEarlier(slot) { schedule(index, &actions) }
        case .absorb:
            tally.absorbed += 1
            actions.displaced = value
            actions.fate = .absorbed
            if changesEarlier(slot) { forgetWhenIdle(index, &actions) }
        case .lead:
            tally.pending += 1
            let due = Gate.Due(at: now, edge: .leading, count: 1, first: now)
            fallDue(index, Batch(value), due, &actions)
            forgetWhenIdle(index, &actions)
        case .complete(let due):
            combine(value, into: slot, &actions)
            fallDue(index, takeBatch(slot), due, &actions)
            forgetWhenIdle(index, &actions)
        }
    }

    /// Whether a gate changes before the instant of its entry.
    @inlinable
    func changesEarlier(_ slot: UnsafeMutablePointer<Slot>) -> Bool {
        slot.pointee.gate.nextChange(by: setup.policy) < slot.pointee.scheduled
    }

    /// Combines a value with the pending ones, if there are any.
    @inlinable
    mutating func combine(
        _ value: consuming Value, into slot: UnsafeMutablePointer<Slot>, _ actions: inout Actions<Key, Value>
    ) {
        guard slot.pointee.batch != nil else {
            tally.pending += 1
            slot.pointee.batch = Batch(value)
            return
        }
        switch setup.combination {
        case .latest: tally.superseded += 1
        case .first: tally.absorbed += 1
        case .collect: tally.pending += 1
        }
        actions.displaced = slot.pointee.batch?.add(value, by: setup.combination)
        actions.fate = setup.combination.fateOfDisplaced
    }

    @usableFromInline
    @inline(never)
    mutating func reject(_ value: consuming Value, _ why: Rejection, _ actions: inout Actions<Key, Value>) {
        tally.rejected += 1
        actions.displaced = value
        actions.fate = .rejected(why)
    }
}
