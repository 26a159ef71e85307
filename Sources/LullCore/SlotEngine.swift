/// All decisions of debouncing and throttling, over numbers: it knows neither keys nor values, and is compiled once.
///
/// The key of a slot, and what is pending there, lie in the slot's cell; what waits to start lies in the cell of the
/// key's executions (``Slab``). The owner, which knows the types, moves them: each call adds to ``actions`` what is to
/// be done, and the owner does that, in order, before the next call. Until then a slot and executions that are no
/// longer needed keep their numbers.
@usableFromInline
package struct SlotEngine: ~Copyable {
    /// The state of one key.
    @usableFromInline
    package struct Slot {
        @usableFromInline package internal(set) var gate = Gate()
        /// Both ``gauge`` and ``compactionPass``: one byte more would make a slot eight bytes larger (row `memory`).
        var flags: UInt8 = 0
        /// The last call for all keys that has been applied to this one.
        var sweep: UInt16
        /// The index of the key's executions; `UInt32.max` for none.
        package internal(set) var executions = UInt32.max
        /// The instant of a gate's entry: in `deadlines` while something is pending, and in `idleQueue` otherwise,
        /// unless the gate is idle. It is never later than the gate's next change, and postponed only when it has come.
        @usableFromInline var scheduled = CoreInstant.farPast
        /// The number of the burst, in the order in which bursts began.
        var burst: UInt64 = 0
        /// The hash of the key.
        package let hash: UInt
        /// What goes with the pending value: the owner's business.
        @usableFromInline package internal(set) var companion: AnyObject?

        /// The number of keys that includes this one.
        var gauge: Gauge {
            // Proof: only the setter changes these bits.
            get { Gauge(rawValue: flags & 3).unsafelyUnwrapped }
            set { flags = flags & ~3 | newValue.rawValue }
        }

        /// The number of the pass of compaction that has kept the key's entry, or 0: a second entry seen in that pass
        /// is a duplicate.
        var compactionPass: UInt8 {
            get { flags >> 2 }
            set { flags = flags & 3 | newValue << 2 }
        }

        /// Whether the gate is open and has certainly not changed by itself yet.
        @inlinable
        func isOpen(beyond now: CoreInstant) -> Bool { gate.isOpen && now < scheduled }

        /// Whether a call for all keys has not been applied to this one. Numbers wrap around; few calls are under way
        /// at once.
        func isBehind(_ number: UInt16) -> Bool { Int16(bitPattern: number &- sweep) > 0 }
    }

    /// The numbers of keys that an engine reports.
    enum Gauge: UInt8 {
        case none
        /// ``openCount``.
        case open
        /// ``restingCount``.
        case resting
        /// None: the key is in no index any more, and the owner has still to release it.
        case forgotten
    }

    // The fields that every submit writes come first, close together: a thread that submits after another one waits for
    // these cache lines.

    /// The last instant handled.
    @usableFromInline package internal(set) var now = CoreInstant.farPast
    /// The slot of the key that was looked up last, or added: a burst at one key needs no hashing. Nil for none.
    @usableFromInline package internal(set) var recent: UnsafeMutablePointer<Slot>?
    /// Its number; `UInt32.max` for none.
    package internal(set) var recentSlot = UInt32.max
    /// Whether no submit may take the fast path: after a shut-down, while a call for all keys is under way, and where a
    /// submit interrupts what is running, or joins it.
    @usableFromInline package internal(set) var needsSlowPath: Bool
    /// Whether the alarm has moved since the owner last looked.
    package var movesAlarm = false
    /// The hash of the key that was looked up last by its hash: that of a new key need not be computed again.
    package internal(set) var lookedUpHash: UInt = 0
    // At a multiple of 16 bytes in a runtime: two counters that are increased together must not lie across two pages.
    @usableFromInline package internal(set) var tally = Counters()

    /// That of the setup, perhaps with another wait.
    @usableFromInline package private(set) var policy: Policy
    @usableFromInline package let setup: Setup
    package internal(set) var slots: Slab<Slot>
    package internal(set) var keyIndex = KeyIndex()
    /// How far the search for the key that was looked up last has come in the index.
    var searched: UInt32 = 0
    /// What the owner has to do before the next call, in order: ``actionCount`` of them. The memory is used again.
    package internal(set) var actions: [SlotAction] = []
    package internal(set) var actionCount = 0
    package internal(set) var isClosed = false
    package internal(set) var nextAlarm = CoreInstant.farFuture
    /// The number of keys, without those that are forgotten and have still to be released.
    package internal(set) var keyCount = 0
    /// When pending values fall due.
    var deadlines = DeadlineQueue()
    /// When gates that have nothing pending may be forgotten. No wake-up is made for it.
    var idleQueue = DeadlineQueue()
    /// The number of bursts begun.
    var burstCount: UInt64 = 0
    /// The number of keys with an open gate or a waiting value.
    package internal(set) var openCount = 0
    /// The number of the others whose gates are resting.
    package internal(set) var restingCount = 0

    package internal(set) var keyExecutions: Slab<KeyExecutions>
    /// The number of submits that are due and wait to start.
    package internal(set) var waitingSubmits = 0
    /// The number of executions running.
    package internal(set) var runningCount = 0
    /// The number of executions started.
    package internal(set) var startCount: UInt64 = 0
    var startQueue = Heap<QueuedStart>()
    /// When the next execution may start, as far as the limit decides.
    var limiter: RateLimiter
    /// The starts that it may have to forget.
    var tentativeStarts: TentativeStarts
    /// When executions are to be told to stop, and when those that were are overdue, if there is a time limit.
    var timeLimits = TimeLimitQueue()
    var overdueTimes = TimeLimitQueue()
    /// The number of keys that hold values.
    package internal(set) var heldCount = 0
    /// What becomes of values that an interrupted execution gives back, and that nothing newer waits for.
    var heldRule = HeldRule.hold
    /// The execution that makes the present submit, if it is one: a submit does not share the execution that made it.
    package var submitter: RunID?
    /// The order of the submits that are kept, if it matters.
    var keptOrder = KeptOrder()
    /// Whether the present submit goes beyond ``Setup/maxPending``.
    package internal(set) var isOverflowing = false
    /// Whether an older one has made room for it.
    var hasMadeRoom = false
    /// Whether ``startWaiting()`` is running.
    var isStartingWaiting = false
    /// The number of due values that have joined or replaced one that waited to start.
    package internal(set) var joinedCount = 0
    /// The number of values that have fallen due.
    var dueCount: UInt64 = 0
    /// How many executions each caller still waits for.
    var waiters: [WaiterID: Int] = [:]
    /// The calls for all keys that are under way, the oldest first.
    var sweeps: [Sweep.Mark] = []
    /// The number of the last of them that began, modulo 2¹⁶.
    var sweepNumber: UInt16 = 0

    /// Creates an engine with nothing pending, from slabs for its slots and executions.
    package init(_ setup: Setup, slots: consuming Slab<Slot>, executions: consuming Slab<KeyExecutions>) {
        self.setup = setup
        policy = setup.policy
        needsSlowPath = setup.concernsSubmits
        limiter = RateLimiter(setup.limit)
        tentativeStarts = TentativeStarts(before: limiter)
        self.slots = slots
        keyExecutions = executions
    }

    /// Gives what is submitted from now on another wait, and windows that begin from now on another interval
    /// (<doc:Semantics>, section 5). What was due has been done with the old one.
    package mutating func setWait(_ wait: CoreDuration, at instant: CoreInstant) throws(PolicyError) {
        let changed = try policy.changed(wait: wait)
        advance(to: instant, limit: .max)
        policy = changed
    }

    /// Moves ``now`` forward to the instant of a call, never backwards, and returns it: the instant at which the call
    /// is handled.
    @discardableResult
    package mutating func advanceNow(to instant: CoreInstant) -> CoreInstant {
        if instant > now { now = instant }
        return now
    }

    // Functions that change nothing are inlined: a call from one that does copies the engine.

    /// Whether nothing is pending, waiting or running under any key, and every outcome has been told.
    package var isIdle: Bool { tally.pending == 0 && keyExecutions.count == 0 }

    /// Whether all values are kept.
    package var collects: Bool { setup.combination == .collect }

    // MARK: - Actions

    /// Removes all actions, which the owner has done.
    package mutating func clearActions() {
        actionCount = 0
        if actions.count > 256 { actions = [] }
    }

    mutating func add(_ action: SlotAction) {
        if actionCount < actions.count { actions[actionCount] = action } else { actions.append(action) }
        actionCount += 1
    }

    /// Frees a slot whose cell is empty: ``SlotAction/release(slot:)``.
    package mutating func free(slot: UInt32) { slots.discard(slot) }

    /// Frees executions whose cell is empty: ``SlotAction/retire(executions:)``.
    package mutating func free(executions: UInt32) { keyExecutions.discard(executions) }

    // MARK: - Slots

    // The owner compares keys. Of a thousand slots that are offered here hardly one is that of another key.

    /// Returns the first slot whose key has this hash, or nil. If that is another key, ``lookUpNext()`` has the next
    /// one.
    @usableFromInline
    package mutating func lookUp(_ hash: UInt) -> UnsafeMutablePointer<Slot>? {
        lookedUpHash = hash
        searched = 0
        return lookUpNext()
    }

    @usableFromInline
    package mutating func lookUpNext() -> UnsafeMutablePointer<Slot>? {
        while true {
            remember(keyIndex.next(lookedUpHash, from: &searched))
            guard let recent, recent.pointee.hash != lookedUpHash else { return recent }
        }
    }

    /// Lets a slot be the one that was looked up last.
    private mutating func remember(_ index: UInt32) {
        // No other slot moves before the next one is added, which is remembered then.
        recentSlot = index
        recent = index == .max ? nil : slots[index]
    }

    // Mutating, since a call of a function that is not copies the engine.

    /// The slot with an index.
    package mutating func slot(_ index: UInt32) -> UnsafeMutablePointer<Slot> { slots[index] }

    /// The executions with an index.
    package mutating func executions(_ index: UInt32) -> UnsafeMutablePointer<KeyExecutions> { keyExecutions[index] }

    /// Hands memory that is no longer needed to the caller, which frees it while it holds no lock.
    package mutating func takeDiscarded() -> DiscardedMemory { slots.discarded.take() }

    /// Whether a slot is that of a key.
    @inline(__always)
    func isTaken(_ index: UInt32) -> Bool { slots.contains(index) && slots[index].pointee.gauge != .forgotten }

    /// Adds the slot of a new key, whose key the owner has to store at once, and returns its index; `UInt32.max` if no
    /// key may be added.
    package mutating func addSlot(hash: UInt) -> UInt32 {
        guard !isClosed, hasRoom(for: .max) else { return .max }
        let index = slots.insert(Slot(sweep: sweepNumber, hash: hash))
        keyIndex.insert(hash, slot: index) { slots[$0].pointee.hash }
        keyCount += 1
        remember(index)
        // Here rather than when the value is due, which would make it late.
        keyExecutions.prepare()
        return index
    }

    /// Forgets a key.
    mutating func forget(_ index: UInt32) {
        if recentSlot == index { remember(.max) }
        let slot = slots[index]
        slot.pointee.gauge = .forgotten
        keyIndex.remove(slot.pointee.hash, slot: index) { slots[$0].pointee.hash }
        keyCount -= 1
        add(.release(slot: index))
        compactQueues()
    }

    /// Forgets a key that has nothing pending: now if its gate is idle and nothing of it runs or waits, otherwise when
    /// that is so.
    mutating func forgetWhenIdle(_ index: UInt32) {
        let slot = slots[index]
        // A call for all keys counts as of its own instant: the spacing may have passed since.
        if slot.pointee.gate.phase == .resting { _ = slot.pointee.gate.settle(at: now, by: policy) }
        updateGauge(index)
        if slot.pointee.gate.phase != .idle {
            let change = slot.pointee.gate.nextChange(by: policy)
            slot.pointee.scheduled = change
            slot.pointee.compactionPass = 0
            idleQueue.push(DeadlineQueue.Entry(at: change, slot: index, burst: slot.pointee.burst))
            compactQueues()
        } else if slot.pointee.executions == .max {
            forget(index)
        }
    }

    /// Forgets keys whose gates have become idle with nothing pending.
    mutating func forgetIdle(at now: CoreInstant, steps: Int) {
        var budget = steps
        while budget > 0, let entry = idleQueue.pop(notAfter: now, budget: &budget) {
            budget -= 1
            guard slots.isCurrent(entry, pending: false) else { continue }
            if isAwaitingSweep(entry.slot) {
                guard applyPendingSweeps(to: entry.slot), slots.isCurrent(entry, pending: false) else { continue }
            }
            let slot = slots[entry.slot]
            _ = slot.pointee.gate.settle(at: now, by: policy)
            if slot.pointee.gate.phase == .idle { budget -= Self.stepsPerKey - 1 }
            forgetWhenIdle(entry.slot)
        }
    }

    /// How many steps of keeping the queues an execution, or a key forgotten, is worth.
    static var stepsPerKey: Int { 16 }

    // MARK: - Capacity

    /// Whether a key, perhaps a new one, may be open.
    @inline(__always)
    func hasRoom(for index: UInt32) -> Bool {
        openCount + restingCount < setup.capacity || (index != .max && slots[index].pointee.gauge != .none)
    }

    /// Does what is due by now, which may make room: whether there is room must not depend on when a timer fires.
    ///
    /// - Returns: The slot, or `UInt32.max` if there is none or its key has been forgotten.
    mutating func makeRoom(for index: UInt32) -> UInt32 {
        if index != .max, !slots[index].pointee.gate.isOpen { forgetWhenIdle(index) }
        advance(to: now, limit: .max)
        finishSweeps()
        return index != .max && isTaken(index) ? index : .max
    }

    /// Updates the numbers of keys after a change of a gate or of what waits.
    mutating func updateGauge(_ index: UInt32) {
        let slot = slots[index]
        let isOpen = slot.pointee.gate.isOpen || executions(of: slot)?.pointee.isWaiting == true
        count(slot, as: isOpen ? .open : slot.pointee.gate.phase == .resting ? .resting : .none)
    }

    mutating func count(_ slot: UnsafeMutablePointer<Slot>, as gauge: Gauge) {
        let before = slot.pointee.gauge
        guard gauge != before else { return }
        slot.pointee.gauge = gauge
        if before == .open { openCount -= 1 }
        if before == .resting { restingCount -= 1 }
        if gauge == .open { openCount += 1 }
        if gauge == .resting { restingCount += 1 }
    }

    // MARK: - Upkeep of the queues: a little at a time, so that no call takes long however many keys there are

    /// Checks a few entries of each queue that has more than twice as many as there are keys, and drops stale ones.
    mutating func compactQueues() {
        let bound = 2 * keyCount + 64
        if deadlines.count > bound || deadlines.isCompacting {
            deadlines.compact(limit: Self.compactionSteps) { slots.keeps($0, pending: true, pass: $1) }
        }
        if idleQueue.count > bound || idleQueue.isCompacting {
            idleQueue.compact(limit: Self.compactionSteps) { slots.keeps($0, pending: false, pass: $1) }
        }
    }

    /// How many entries a call checks: enough that others are not added faster than they are checked.
    static var compactionSteps: Int { 8 }

    /// Determines when the next value of any key falls due, a little at a time: `Engine.refineNextDue(at:budget:)`.
    package mutating func refineNextDue(at instant: CoreInstant, budget: Int) -> (isExact: Bool, due: CoreInstant?) {
        let now = max(now, instant)
        for _ in 0..<max(budget, 1) {
            if let entry = deadlines.popDetached() {
                reconsider(entry)
                continue
            }
            guard let next = deadlines.next else { return (true, nil) }
            // Something is still to be done.
            guard next > now, let entry = deadlines.frontEntry else { return (false, next) }
            if slots.isCurrent(entry, pending: true), isDue(entry) { return (true, next) }
            deadlines.detachFront()
        }
        return (false, deadlines.next)
    }

    /// Whether what is pending at an entry's gate falls due at the instant of the entry.
    private func isDue(_ entry: DeadlineQueue.Entry) -> Bool {
        slots[entry.slot].pointee.gate.pendingDue(by: policy).nanoseconds == entry.at
    }

    /// Pushes a detached entry that is current again, at the instant at which its gate is due now.
    private mutating func reconsider(_ entry: DeadlineQueue.Entry) {
        guard slots.isCurrent(entry, pending: true) else { return }
        let slot = slots[entry.slot]
        guard isDue(entry) else { return queueDeadline(entry.slot, slot) }
        slot.pointee.compactionPass = 0
        deadlines.push(entry)
    }
}

extension Slab<SlotEngine.Slot> {
    /// Whether an entry of the deadlines (`pending`) or of the idle queue is the current one of its gate.
    func isCurrent(_ entry: DeadlineQueue.Entry, pending: Bool) -> Bool {
        guard contains(entry.slot) else { return false }
        let slot = self[entry.slot]
        return slot.pointee.gate.phase != .idle && (slot.pointee.gate.count > 0) == pending
            && slot.pointee.scheduled.nanoseconds == entry.at
            && UInt32(truncatingIfNeeded: slot.pointee.burst) == entry.burst
    }

    /// Whether an entry is current, and the pass of compaction has not seen another one like it: a gate that is
    /// postponed to where it was before has two. Outside a pass, `pass` is 0.
    func keeps(_ entry: DeadlineQueue.Entry, pending: Bool, pass: UInt8) -> Bool {
        guard isCurrent(entry, pending: pending) else { return false }
        let slot = self[entry.slot]
        guard pass == 0 || slot.pointee.compactionPass != pass else { return false }
        slot.pointee.compactionPass = pass
        return true
    }
}

/// What the owner of a ``SlotEngine`` has to do with keys and values.
package enum SlotAction {
    /// Start an execution of a slot's key: with what is pending in the slot; or, if `executions` is not `UInt32.max`,
    /// with this number of the values that wait there, from the front.
    case start(slot: UInt32, executions: UInt32, values: Int, serial: UInt64, Gate.Due)
    /// Move what is pending in a slot to the executions: behind what waits there, if anything does.
    case wait(slot: UInt32, executions: UInt32)
    /// Hand out what is pending in a slot: it is not executed.
    case resolve(slot: UInt32, NotExecutedError)
    /// Hand out all that waits at the executions of a slot's key: it is not executed.
    case resolveWaiting(slot: UInt32, executions: UInt32, NotExecutedError)
    /// Hand out the first of several values that are pending in a slot; or, if `executions` is not `UInt32.max`, that
    /// wait there: it is not executed.
    case resolveFirst(slot: UInt32, executions: UInt32, NotExecutedError)
    /// Cancel a running execution.
    case cancel(RunID)
    /// Report that the submits of an execution that goes on have ended so: a newer value has replaced it.
    case replace(RunID, NotExecutedError)
    /// Report that an execution goes on after its time limit.
    case overdue(RunID)
    /// Resume a caller that waits.
    case resume(WaiterID)
    /// Release the key of a slot, and free the slot.
    case release(slot: UInt32)
    /// Free the executions of a key, of which none runs or waits.
    case retire(executions: UInt32)
}

/// What the owner of a ``SlotEngine`` has to do with a submitted value.
@usableFromInline
package enum Placement {
    /// Put it in the cell of the slot, where nothing is.
    case alone
    /// Put it in place of the pending value, which is superseded.
    case instead
    /// Put it behind the pending values.
    case behind
    /// It is not kept, and has this fate.
    case displaced(NotExecutedError)
    /// It is not kept, and shares the outcome of this execution.
    case shared(RunID)
    /// Nothing was done: take the slow path.
    case undecided

    /// The fate of what is displaced, if anything is.
    package var fateOfDisplaced: NotExecutedError? {
        switch self {
        case .instead: .superseded
        case .displaced(let fate): fate
        case .alone, .behind, .shared, .undecided: nil
        }
    }
}
