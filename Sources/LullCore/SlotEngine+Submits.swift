// Submitting, and falling due in the course of time: sections 2 to 4 of the semantics.
extension SlotEngine {
    // MARK: - The fast path

    /// Submits where a burst goes on, and all that is left to do is to place a value: by far the most frequent case.
    ///
    /// It adds no actions.
    @inlinable
    @inline(__always)
    package mutating func submitFastPath(
        _ slot: UnsafeMutablePointer<Slot>, at instant: CoreInstant, wait: CoreDuration? = nil
    ) -> Placement {
        if instant > now { now = instant }
        let now = now
        guard !needsSlowPath, slot.pointee.isOpen(beyond: now) else { return .undecided }
        // A copy decides, since the case may turn out not to be that simple.
        var gate = slot.pointee.gate
        let decision = gate.submit(at: now, wait: wait, by: policy)
        // The gate must not change before its entry. It would not have done so before this submit, which has moved
        // `quiet` alone, and nothing falls due before `next`.
        let scheduled = slot.pointee.scheduled
        guard gate.quiet >= scheduled || gate.next(by: policy) >= scheduled else { return .undecided }
        let placement: Placement
        switch decision {
        // A promise that is displaced has to be told.
        case .join where gate.count > 1 && setup.combination == .latest && slot.pointee.companion == nil:
            tally.superseded += 1
            placement = .instead
        case .join where gate.count > 1 && setup.combination == .collect:
            tally.pending += 1
            placement = .behind
        case .join where gate.count > 1 && setup.combination == .first, .absorb:
            tally.absorbed += 1
            placement = .displaced(.absorbed)
        default:
            return .undecided
        }
        slot.pointee.gate = gate
        tally.submitted += 1
        return placement
    }

    // MARK: - The slow path

    /// Does what is due at the key of a submit, and makes room for it: the first step of a submit in any case.
    ///
    /// - Parameter found: The slot of the key; `UInt32.max` for none.
    /// - Returns: The slot, settled. `UInt32.max` if there is none: the second step is ``addSlot(hash:)`` then.
    ///   With ``isOverflowing``, there is no second step, unless ``dropOldest(for:)`` makes room.
    package mutating func beginSubmit(at found: UInt32, at instant: CoreInstant, wait: CoreDuration?) -> UInt32 {
        let now = advanceNow(to: instant)
        passTimeLimits()
        tally.submitted += 1
        isOverflowing = false
        hasMadeRoom = false
        guard !isClosed else { return .max }
        var index = settleForSubmit(at: found, at: now)
        if setup.maxPending < .max, index != .max || hasRoom(for: .max) {
            isOverflowing = overflows(at: &index, wait: wait)
        }
        return index
    }

    private mutating func settleForSubmit(at found: UInt32, at now: CoreInstant) -> UInt32 {
        var index = found == .max || applyPendingSweeps(to: found) ? found : .max
        if index != .max {
            if slots[index].pointee.gate.isOpen(beyond: now, by: policy) { return index }
            settle(index, at: now)
            if sharedRun(at: index) != nil {
                forgetWhenIdle(index)
                return index
            }
            if slots[index].pointee.gate.isOpen { return index }
        }
        if !hasRoom(for: index) {
            index = makeRoom(for: index)
            guard hasRoom(for: index) else { return .max }
        }
        forgetIdle(at: now, steps: 3 * Self.stepsPerKey)
        return index
    }

    /// Decides on the value of a submit at a slot that has been settled: the last step.
    ///
    /// - Parameter index: The slot; `UInt32.max` if no key may be added.
    /// - Returns: Where the value belongs. The owner puts it there before it does the actions.
    package mutating func submit(at index: UInt32, wait: CoreDuration?) -> Placement {
        if isOverflowing {
            isOverflowing = false
            let fate: NotExecutedError = setup.overflow == .dropNewest ? .absorbed : .rejected(.tooManyPending)
            tally.add(1, fate)
            if index != .max, slots[index].pointee.gate.count == 0 { forgetWhenIdle(index) }
            return .displaced(fate)
        }
        guard index != .max else {
            tally.rejected += 1
            return .displaced(.rejected(isClosed ? .shutDown : .overCapacity))
        }
        if !hasMadeRoom, let run = sharedRun(at: index) {
            join(run)
            return .shared(run)
        }
        let slot = slots[index]
        if !slot.pointee.gate.isOpen {
            burstCount += 1
            slot.pointee.burst = burstCount
            count(slot, as: .open)
        }
        defer { startLimited() }
        switch slot.pointee.gate.submit(at: now, wait: wait, by: policy) {
        case .join, .fill:
            let isFirst = slot.pointee.gate.count == 1
            if isFirst || changesEarlier(slot) { schedule(index) }
            let placement = combine(isFirst: isFirst)
            if needsSlowPath, isFirst || setup.combination != .first { interruptForSubmit(slot) }
            return placement
        case .absorb:
            tally.absorbed += 1
            if changesEarlier(slot) { forgetWhenIdle(index) }
            return .displaced(.absorbed)
        case .lead:
            let placement = combine(isFirst: true)
            fallDue(index, Gate.Due(at: now, cause: .leading, count: 1, first: now))
            forgetWhenIdle(index)
            return placement
        case .complete(let due):
            let placement = combine(isFirst: due.count == 1)
            fallDue(index, due)
            forgetWhenIdle(index)
            return placement
        }
    }

    /// Whether a gate changes before the instant of its entry.
    @inline(__always)
    func changesEarlier(_ slot: UnsafeMutablePointer<Slot>) -> Bool {
        slot.pointee.gate.nextChange(by: policy) < slot.pointee.scheduled
    }

    /// Combines a value with the pending ones, if there are any.
    private mutating func combine(isFirst: Bool) -> Placement {
        if isFirst || setup.combination == .collect {
            tally.pending += 1
            return isFirst ? .alone : .behind
        }
        tally.add(1, setup.combination.fateOfDisplaced)
        return setup.combination == .latest ? .instead : .displaced(.absorbed)
    }

    // MARK: - Time

    /// Does everything that was due at `instant` or before: `Engine.advance(to:limit:)`.
    package mutating func advance(to instant: CoreInstant, limit: Int) {
        let now = advanceNow(to: instant)
        var budget = limit.multipliedReportingOverflow(by: Self.stepsPerKey).overflow ? .max : limit * Self.stepsPerKey
        while budget > 0 {
            // At one instant, what falls due comes first.
            if let limit = nextTimeLimit, limit <= now, deadlines.next.map({ limit < $0 }) ?? true {
                passFirstTimeLimit()
                budget -= Self.stepsPerKey
                continue
            }
            guard let entry = deadlines.pop(notAfter: now, budget: &budget) else { break }
            guard slots.isCurrent(entry, pending: true) else {
                budget -= 1
                continue
            }
            if isAwaitingSweep(entry.slot) {
                budget -= Self.stepsPerKey
                guard applyPendingSweeps(to: entry.slot), slots.isCurrent(entry, pending: true) else { continue }
            }
            let slot = slots[entry.slot]
            if slot.pointee.gate.pendingDue(by: policy).nanoseconds > entry.at {
                queueDeadline(entry.slot, slot)
                budget -= 1
            } else {
                settle(entry.slot, at: now)
                forgetWhenIdle(entry.slot)
                budget -= Self.stepsPerKey
            }
        }
        forgetIdle(at: now, steps: budget)
        if deadlines.next.map({ $0 > now }) ?? true { startLimited() }
        nextAlarm = min(deadlines.next ?? .farFuture, startAlarm, timeLimitAlarm)
        // No wake-up is made to forget keys, but one that happens anyway is asked to come back for the rest.
        if let idle = idleQueue.next, idle <= now { nextAlarm = min(nextAlarm, now) }
        if nextAlarm != .farFuture { movesAlarm = true }
    }

    /// Queues a gate that has become due earlier, and moves the alarm forward if need be.
    mutating func schedule(_ index: UInt32) {
        let slot = slots[index]
        queueDeadline(index, slot)
        if slot.pointee.scheduled < nextAlarm {
            nextAlarm = slot.pointee.scheduled
            movesAlarm = true
        }
        compactQueues()
    }

    /// Adds the entry of a gate that has something pending.
    mutating func queueDeadline(_ index: UInt32, _ slot: UnsafeMutablePointer<Slot>) {
        let due = slot.pointee.gate.pendingDue(by: policy)
        slot.pointee.scheduled = due
        slot.pointee.compactionPass = 0
        deadlines.push(DeadlineQueue.Entry(at: due, slot: index, burst: slot.pointee.burst))
    }

    /// Does what one key had due at `now` or before, if that is not certain to be nothing. The key may be forgotten
    /// then.
    mutating func settleUnlessOpen(_ index: UInt32, at now: CoreInstant) {
        if slots[index].pointee.gate.isOpen(beyond: now, by: policy) { return }
        settle(index, at: now)
        forgetWhenIdle(index)
        startLimited()
    }

    /// Does what the gate of one key had due at `now` or before.
    mutating func settle(_ index: UInt32, at now: CoreInstant) {
        let slot = slots[index]
        if let due = slot.pointee.gate.settle(at: now, by: policy) { fallDue(index, due) }
        updateGauge(index)
    }
}
