// A bound of what is pending, over all keys: section 7 of the semantics.
extension SlotEngine {
    // MARK: - Whether a submit goes beyond it

    /// Whether a submit at a slot, or of a new key, would leave more submits pending than allowed; after everything due
    /// has been done if it seems so, since that must not depend on when a timer fires.
    ///
    /// - Parameter index: The slot, settled; `UInt32.max` for a new key, and afterwards if the key has been forgotten.
    mutating func overflows(at index: inout UInt32, wait: CoreDuration?) -> Bool {
        guard addsPending(at: index, wait: wait) else { return false }
        index = makeRoom(for: index)
        return addsPending(at: index, wait: wait)
    }

    /// Whether as many submits are pending as allowed, and a further one would add to them.
    private func addsPending(at index: UInt32, wait: CoreDuration?) -> Bool {
        guard tally.pending >= setup.maxPending, sharedRun(at: index) == nil else { return false }
        var gate = index == .max ? Gate() : slots[index].pointee.gate
        let executions = index == .max ? nil : executions(of: slots[index])
        switch gate.submit(at: now, wait: wait, by: policy) {
        case .absorb: return false
        case .join, .fill: return collects || gate.count == 1
        case .lead: return addsWaiting(to: executions)
        case .complete(let due): return (collects || due.count == 1) && addsWaiting(to: executions)
        }
    }

    /// Whether a value that falls due at a key would wait, and not in the place of another one.
    private func addsWaiting(to executions: UnsafeMutablePointer<KeyExecutions>?) -> Bool {
        guard let executions else { return !allowsStart }
        if case .skip = setup.whileRunning, executions.pointee.isRunning { return false }
        if !isBlocked(executions), allowsStart { return false }
        return collects || !executions.pointee.isWaiting
    }

    // MARK: - The oldest submit

    /// Keeps the order of a submit whose value is about to be placed, if the oldest one may have to make room.
    package mutating func keep(_ companion: inout Companion?, at index: UInt32, _ placement: Placement) {
        guard setup.keepsOrder else { return }
        switch placement {
        case .alone, .instead, .behind:
            let bound = 2 * (tally.pending + tally.running) + 64
            companion = keptOrder.add(at: index, companion, bound: bound)
        case .displaced, .shared, .undecided: break
        }
    }

    /// Keeps the order of submits again that an interrupted execution gives back.
    package mutating func keepAgain(_ companion: Companion?) {
        guard setup.keepsOrder, let companion else { return }
        // Proof: `Cells` makes the companions of values that are kept together; and `keep` those of the values.
        let all = collects ? unsafeDowncast(companion, to: Companions.self).all : [companion]
        keptOrder.putBack(all.compactMap { $0.map { unsafeDowncast($0, to: KeptSubmit.self) } })
    }

    /// Lets a submit that ``isOverflowing`` supersede the oldest one that is kept, if that is the rule. The owner does
    /// the actions before it goes on.
    ///
    /// - Parameter index: The slot of the submit; afterwards `UInt32.max` if its key has been forgotten.
    package mutating func dropOldest(for index: inout UInt32) {
        guard setup.keepsOrder else { return }
        dropOldest()
        if index != .max, !isTaken(index) { index = .max }
    }

    private mutating func dropOldest() {
        isOverflowing = false
        hasMadeRoom = true
        while let (submit, index) = keptOrder.takeFirst() {
            guard isTaken(index) else { continue }
            let slot = slots[index]
            if isFirst(submit, of: executions(of: slot)?.pointee.companion) { return dropFirstWaiting(index) }
            if isFirst(submit, of: slot.pointee.companion) { return dropFirstPending(index) }
        }
        preconditionFailure("submits are pending, and none is the oldest: this is a bug in LullCore")
    }

    private func isFirst(_ submit: KeptSubmit, of companion: Companion?) -> Bool {
        guard let companion else { return false }
        // Proof: `Cells` makes the companions of values that are kept together.
        guard collects else { return companion === submit }
        return unsafeDowncast(companion, to: Companions.self).first === submit
    }

    private mutating func dropFirstPending(_ index: UInt32) {
        let slot = slots[index]
        let count = slot.pointee.gate.count
        if size(of: count) > 1 {
            slot.pointee.gate.drop(1)
            dropFirst(index, .max)
        } else {
            slot.pointee.gate.drop(count)
            dropPending(index, count, .superseded)
            // What was pending may have been held up by the spacing alone.
            settle(index, at: now)
            forgetWhenIdle(index)
        }
    }

    private mutating func dropFirstWaiting(_ index: UInt32) {
        let slot = slots[index]
        let number = slot.pointee.executions
        let executions = keyExecutions[number]
        if let size = executions.pointee.waiting?.size, size > 1 {
            let waiters = executions.pointee.waiting?.waiters ?? []
            executions.pointee.waiting?.dropFirst()
            if !executions.pointee.isHeld { waitingSubmits -= 1 }
            dropFirst(index, number)
            noteEnd(for: waiters.filter { $0.values == 1 }.map { $0.id })
        } else {
            drop(slot, .superseded)
            if slot.pointee.gate.count == 0 { forgetWhenIdle(index) }
        }
    }

    private mutating func dropFirst(_ index: UInt32, _ executions: UInt32) {
        tally.pending -= 1
        tally.superseded += 1
        add(.resolveFirst(slot: index, executions: executions, .superseded))
    }
}
