// Keeping the index and the queues: a little at a time, so that no call takes long however many keys there are.
extension Engine {
    // MARK: - The index

    /// Gives a new key its place in the index.
    @inlinable
    mutating func addToIndex(_ key: Key, _ place: UInt32) {
        let hash = KeyIndex.hash(key)
        guard !index.insert(hash, place: place) else { return }
        makeRoomInIndex(hash, place)
        guard index.insert(hash, place: place) else {
            preconditionFailure("the index has no room for a key: this is a bug in LullCore")
        }
    }

    // The index is taken out for as long as it asks for keys: it must not be what is asked.

    @inlinable
    @inline(never)
    mutating func makeRoomInIndex(_ hash: UInt, _ place: UInt32) {
        var taken = KeyIndex()
        swap(&taken, &index)
        taken.makeRoom(for: hash, place: place) { KeyIndex.hash(slots[$0].pointee.key) }
        swap(&taken, &index)
    }

    @inlinable
    @inline(never)
    mutating func shrinkIndex(near hash: UInt) {
        var taken = KeyIndex()
        swap(&taken, &index)
        taken.giveBack(near: hash) { KeyIndex.hash(slots[$0].pointee.key) }
        swap(&taken, &index)
    }

    // MARK: - The queues

    /// Looks for entries that no longer hold when they are more than those that may: a few at each call.
    @inlinable
    mutating func compactQueues() {
        let bound = 2 * slots.count + 64
        if deadlines.count > bound || deadlines.isCompacting { compactDeadlines() }
        if idleQueue.count > bound || idleQueue.isCompacting { compactIdleQueue() }
    }

    /// How many entries a call looks at: so many that the others do not grow faster than they are looked at.
    @inlinable
    static var compactionSteps: Int { 8 }

    @inlinable
    @inline(never)
    mutating func compactDeadlines() {
        // What is half dealt out is no part of a pass, and is not to be missed for ever.
        deadlines.deal(atMost: Self.compactionSteps)
        if !deadlines.isCompacting, deadlines.moving == nil { deadlines.beginCompaction() }
        for _ in 0..<Self.compactionSteps {
            guard let entry = deadlines.takeToCompact() else { return }
            if keeps(entry, pending: true, deadlines.isDetachedToCompact ? deadlines.pass : 0) { deadlines.push(entry) }
        }
    }

    @inlinable
    @inline(never)
    mutating func compactIdleQueue() {
        idleQueue.deal(atMost: Self.compactionSteps)
        if !idleQueue.isCompacting, idleQueue.moving == nil { idleQueue.beginCompaction() }
        for _ in 0..<Self.compactionSteps {
            guard let entry = idleQueue.takeToCompact() else { return }
            if keeps(entry, pending: false, idleQueue.pass) { idleQueue.push(entry) }
        }
    }

    /// Whether an entry holds, and the pass has not seen another one like it: a gate that is put off to where it was before
    /// has two. Outside a pass, which may have seen the very entry, `pass` is 0.
    @inlinable
    mutating func keeps(_ entry: DeadlineQueue.Entry, pending: Bool, _ pass: UInt8) -> Bool {
        guard holds(entry, pending: pending) else { return false }
        let slot = slots[entry.slot]
        guard pass == 0 || slot.pointee.compactionPass != pass else { return false }
        slot.pointee.compactionPass = pass
        return true
    }

    // MARK: - The next deadline

    /// Finds out when the next value of any key falls due, bit by bit; a shell has called ``advance(to:limit:)`` until nothing
    /// was due at `instant` any more.
    ///
    /// - Parameters:
    ///   - instant: The present instant.
    ///   - budget: At most so many entries are looked at; at least one.
    /// - Returns: Whether that was enough, and if so the instant, or nil if nothing is pending. If it was not, call again: the
    ///   instant is a lower bound, and other calls may come between.
    @inlinable
    public mutating func refineNextDue(at instant: CoreInstant, budget: Int) -> (isExact: Bool, due: CoreInstant?) {
        let now = max(now, instant)
        for _ in 0..<max(budget, 1) {
            if let entry = deadlines.takeDetached() {
                reconsider(entry)
                continue
            }
            guard let next = deadlines.next else { return (true, nil) }
            // Something is still to be done.
            guard next > now, let entry = deadlines.frontEntry else { return (false, next) }
            if holds(entry, pending: true), isDue(entry) { return (true, next) }
            deadlines.detachFront()
        }
        return (false, deadlines.next)
    }

    /// Whether what is pending at an entry's gate falls due at its very instant.
    @inlinable
    func isDue(_ entry: DeadlineQueue.Entry) -> Bool {
        slots[entry.slot].pointee.gate.pendingDue(by: setup.policy).nanoseconds == entry.at
    }

    /// Puts a detached entry back, at the instant at which its gate is due now, if it holds.
    @inlinable
    mutating func reconsider(_ entry: DeadlineQueue.Entry) {
        guard holds(entry, pending: true) else { return }
        let slot = slots[entry.slot]
        guard isDue(entry) else { return enter(entry.slot, slot) }
        slot.pointee.compactionPass = 0
        deadlines.push(entry)
    }
}
