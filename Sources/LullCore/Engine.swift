/// The whole decision logic of debouncing and throttling over any number of keys, as a value without a clock, a lock or a
/// task.
///
/// A driver reports each event with its instant, and does what the returned ``Actions`` say. The same calls at the same
/// instants always have the same results (<doc:Semantics>, section 2). An instant earlier than the last one handled counts
/// as that one.
///
/// A submit costs the same whatever the number of keys: a hash look-up, or none for the key of the previous submit; and now
/// and then an entry in a radix heap. Neither grows by more than a small piece at a time. A key's memory is given back when
/// its gate is idle and none of its executions is running.
///
/// All decisions are made over numbers, by code that is compiled once; this type finds the numbers of keys, and keeps and
/// moves values. It is inlinable since generic code that is called unspecialised from another module takes several times as
/// long.
@frozen
public struct Engine<Key: Hashable, Value>: ~Copyable {
    @usableFromInline var core: SlotEngine

    /// Creates an engine with nothing pending.
    @inlinable
    public init(_ setup: Setup) {
        core = SlotEngine(
            setup, slots: Self.slotSlab(collects: setup.combination == .collect),
            executions: Self.executionsSlab(collects: setup.combination == .collect))
    }

    @inlinable
    deinit { deinitializeCells() }

    // MARK: - State

    /// The settings.
    @inlinable
    public var setup: Setup { core.setup }
    /// The number of submits with each outcome so far.
    @inlinable
    public var counters: Counters { core.tally }
    /// The instant at which ``advance(to:limit:)`` is to be called next; ``CoreInstant/farFuture`` for never.
    ///
    /// It may come before anything is due: a submit that only postpones something leaves it where it is.
    @inlinable
    public var alarm: CoreInstant { core.nextAlarm }
    /// Whether ``shutDown(flushing:at:)`` has been called.
    @inlinable
    public var isShutDown: Bool { core.isClosed }
    /// The last instant handled.
    @inlinable
    package var now: CoreInstant { core.now }

    /// The number of submits that are due and wait to start; ``counters`` has them in ``Counters/pending``.
    @inlinable
    public var waitingCount: Int { core.waitingSubmits }

    /// How many due values have joined or replaced one that waited to start.
    @inlinable
    public var joinedCount: Int { core.joinedCount }

    /// The number of keys with an open gate or a waiting value; a gate that is idle by now is included until the next
    /// wake-up.
    @inlinable
    public var openKeyCount: Int { core.openCount }

    /// The number of other keys that are remembered for their spacing alone (<doc:Semantics>, section 3); one whose spacing
    /// has passed by now is included until the next wake-up. They count towards the capacity, too.
    @inlinable
    public var restingKeyCount: Int { core.restingCount }

    /// The number of keys that anything is kept for. A call for all keys visits each.
    @inlinable
    public var slotCount: Int { core.keyCount }

    /// The number of executions that are running.
    @inlinable
    public var runningExecutions: Int { core.runningCount }

    /// Hands memory that is no longer needed to the caller, which frees it while it holds no lock.
    @inlinable
    public mutating func takeDiscarded() -> Discarded { core.slots.discarded.take() }

    // MARK: - Finding keys

    /// Returns the index of a key's slot, or `UInt32.max`.
    @inlinable
    @inline(__always)
    package mutating func slotIndex(of key: Key) -> UInt32 {
        let recent = core.recentSlot
        return recent != .max && Self.key(of: core.slots[recent]).pointee == key ? recent : lookUp(key)
    }

    @inlinable
    @inline(never)
    mutating func lookUp(_ key: Key) -> UInt32 {
        let found = findSlot(of: key)
        if found != .max { core.recentSlot = found }
        return found
    }

    /// Returns the index of a key's slot, or `UInt32.max`; for questions, which change nothing.
    ///
    /// Always inlined: a call from a mutating function copies the engine (row `filter`).
    @inlinable
    @inline(__always)
    func findSlot(of key: Key) -> UInt32 {
        core.keyIndex.find(KeyIndex.hash(key)) { Self.key(of: core.slots[$0]).pointee == key } ?? .max
    }

    // MARK: - Submitting

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
        guard index != .max else { return .needsSlowPath }
        let slot = core.slots[index]
        switch core.submitFastPath(slot, at: instant, wait: wait) {
        case .instead:
            let pending = Self.value(of: slot)
            swap(&pending.pointee, &value)
            return .displaced(.superseded)
        case .behind:
            Self.append(value, to: slot)
            return .collected
        case .displaced(let fate): return .displaced(fate)
        case .alone, .undecided: return .needsSlowPath
        }
    }

    @inlinable
    @inline(never)
    static func append(_ value: Value, to slot: UnsafeMutablePointer<SlotEngine.Slot>) {
        let batch = Self.batch(of: slot)
        batch.pointee.append(value)
    }

    /// Submits a value in any case.
    ///
    /// - Parameter found: The result of ``slotIndex(of:)`` for the key.
    @inlinable
    @inline(never)
    package mutating func submitSlowPath(
        _ value: consuming Value, for key: Key, at found: UInt32, at instant: CoreInstant, wait: CoreDuration?
    ) -> Actions<Key, Value> {
        var index = core.beginSubmit(at: found, at: instant)
        var actions = takeActions()
        actions.dueBeforeCall = UInt32(clamping: actions.more.count)
        if index == .max {
            index = core.addSlot(hash: KeyIndex.hash(key))
            if index != .max { Self.key(of: core.slots[index]).initialize(to: key) }
        }
        switch core.submit(at: index, wait: wait) {
        case .alone:
            if collects {
                Self.batch(of: core.slots[index]).initialize(to: Batch(value))
            } else {
                Self.value(of: core.slots[index]).initialize(to: value)
            }
        case .instead:
            let pending = Self.value(of: core.slots[index])
            swap(&pending.pointee, &value)
            actions.displaced = value
        case .behind:
            Self.append(value, to: core.slots[index])
        case .displaced(let fate):
            actions.displaced = value
            actions.fate = fate
        case .undecided:
            break
        }
        takeActions(&actions)
        return actions
    }

    // MARK: - Time

    /// Does everything that was due at `instant` or before, in the order of due instants, and updates ``alarm``.
    ///
    /// A driver that calls this under a lock gives a `limit`: the call stops after this many executions or keys forgotten, or
    /// sixteen times as many steps of keeping the queues, or a mixture of both. Then ``alarm`` may be at `instant` or before,
    /// whether or not anything was executed: call again.
    @inlinable
    public mutating func advance(to instant: CoreInstant, limit: Int = .max) -> Actions<Key, Value> {
        core.advance(to: instant, limit: limit)
        return takeActions()
    }

    /// Determines when the next value of any key falls due, a little at a time; after ``advance(to:limit:)`` has been
    /// called until nothing was due at `instant` any more.
    ///
    /// - Parameters:
    ///   - instant: The present instant.
    ///   - budget: The greatest number of entries that are checked; at least one is.
    /// - Returns: Whether that was enough, and if so the instant, or nil if nothing is pending. If it was not, call again: the
    ///   instant is a lower bound, and other calls may come between.
    @inlinable
    public mutating func refineNextDue(at instant: CoreInstant, budget: Int) -> (isExact: Bool, due: CoreInstant?) {
        core.refineNextDue(at: instant, budget: budget)
    }

    // MARK: - Other calls on a key

    /// Executes what is pending under a key now, and makes its gate idle.
    @inlinable
    public mutating func flush(_ key: Key, at instant: CoreInstant) -> Actions<Key, Value> {
        core.call(.flush, at: slotIndex(of: key), instant)
        return takeActions()
    }

    /// Postpones what is pending under a key as a submit would, without a value: "still busy" (<doc:Semantics>, section 5).
    ///
    /// `wait` is the delay of this call alone; a negative one counts as zero. Nothing else changes: a key without an open gate
    /// stays so, and a throttle ignores it.
    @inlinable
    public mutating func touch(
        _ key: Key, at instant: CoreInstant, wait: CoreDuration? = nil
    ) -> Actions<Key, Value> {
        core.touch(slotIndex(of: key), at: instant, wait: wait)
        return takeActions()
    }

    /// Drops what is pending, waiting or held under a key, and makes its gate idle.
    ///
    /// With `running`, cancels the running execution too.
    @inlinable
    public mutating func cancel(_ key: Key, running: Bool = false, at instant: CoreInstant) -> Actions<Key, Value> {
        core.call(.cancel(running: running), at: slotIndex(of: key), instant)
        return takeActions()
    }

    /// Whether a key has a value that is not yet due at `instant`, or one that is held.
    @inlinable
    public func isPending(_ key: Key, at instant: CoreInstant) -> Bool {
        let index = findSlot(of: key)
        return core.nextDue(index, at: instant) != nil || core.isHeld(index, at: instant)
    }

    /// Whether any key holds values that an interrupted execution has given back.
    @inlinable
    public var isHolding: Bool { core.heldCount > 0 }

    /// Whether nothing is pending, waiting or running under any key, and every outcome has been told.
    @inlinable
    public var isIdle: Bool { core.tally.pending == 0 && core.keyExecutions.count == 0 }

    /// Whether nothing of a key is pending, waiting or running, and every outcome of the key has been told.
    @inlinable
    public func isIdle(_ key: Key) -> Bool { core.isIdle(findSlot(of: key)) }

    /// When what is pending under a key falls due, as if everything due at `instant` or before had been done.
    @inlinable
    public func nextDue(_ key: Key, at instant: CoreInstant) -> CoreInstant? {
        core.nextDue(findSlot(of: key), at: instant)
    }

    /// When the next value of any key falls due, as if everything due at `instant` or before had been done.
    ///
    /// Visits every open key.
    @inlinable
    public func nextDue(at instant: CoreInstant) -> CoreInstant? { core.nextDue(at: instant) }

    // MARK: - Calls for all keys

    /// Executes what is pending under every key now, in the order in which the bursts began.
    @inlinable
    public mutating func flush(at instant: CoreInstant) -> Actions<Key, Value> { sweep(.flush, at: instant) }

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
    @inlinable
    public mutating func shutDown(flushing: Bool, at instant: CoreInstant) -> Actions<Key, Value> {
        close()
        stopHolding(flushing: flushing)
        return flushing ? flush(at: instant) : cancel(at: instant)
    }

    /// Refuses submits from now on.
    @inlinable
    public mutating func close() { core.close() }

    /// Holds no values from now on: what an interrupted execution gives back starts at once, on the edge `flush`, or is
    /// cancelled, unless a newer value waits. For an engine of which no more submits are expected; a call for all keys has to
    /// follow for what is held already.
    @inlinable
    public mutating func stopHolding(flushing: Bool) { core.stopHolding(flushing: flushing) }

    /// Carries out a call for all keys at once.
    @inlinable
    public mutating func sweep(_ kind: Sweep.Kind, at instant: CoreInstant) -> Actions<Key, Value> {
        core.sweep(kind, at: instant)
        return takeActions()
    }

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
        core.beginSweep(kind, at: instant, waiter: waiter)
    }

    /// Carries out a portion of a call for all keys: visits about 16 times `limit` of them, or changes `limit`.
    ///
    /// Also does what other calls at the same time have left to do at a key.
    @inlinable
    public mutating func continueSweep(_ sweep: inout Sweep, limit: Int) -> Actions<Key, Value> {
        core.continueSweep(&sweep, limit: limit)
        return takeActions()
    }

    // MARK: - Executions

    /// Reports the end of an execution.
    ///
    /// - Parameters:
    ///   - run: The execution.
    ///   - ending: How its handler has ended.
    ///   - steps: How many steps of telling its outcome are to end before the next execution of the key starts, and before
    ///     callers that wait for this one are resumed. The driver reports the end of each with ``told(_:)``.
    /// - Returns: What became of its submits, and what is to be done next.
    @inlinable
    public mutating func ended(
        _ run: RunID, _ ending: Ending, telling steps: Int = 0
    ) -> (Verdict, Actions<Key, Value>) {
        let verdict = core.ended(run, ending, telling: steps)
        precondition(
            verdict != .interrupted, "an execution that was interrupted has ended without giving its values back")
        return (verdict, takeActions())
    }

    /// Reports the end of an execution under ``WhileRunning/restart``, where its values may go back.
    ///
    /// - Parameters:
    ///   - run: The execution.
    ///   - ending: How its handler has ended.
    ///   - values: The values that it got. If it was interrupted and threw, the engine keeps a copy.
    ///   - steps: As with the other form. If the answer is ``Verdict/interrupted`` there are none: nothing is to be told.
    @inlinable
    public mutating func ended(
        _ run: RunID, _ ending: Ending, returning values: Batch<Value>, telling steps: Int = 0
    ) -> (Verdict, Actions<Key, Value>) {
        // What calls for all keys have left to do comes first: it may move the values that wait.
        core.settle(run)
        var actions = takeActions()
        let verdict = core.ended(run, ending, telling: steps)
        if verdict == .interrupted { putBack(values, of: run, &actions) }
        takeActions(&actions)
        return (verdict, actions)
    }

    /// Reports the end of one of the steps of telling the outcome of an execution that has ended.
    ///
    /// - Returns: What is to be done next: after the last step, what waited for it.
    @inlinable
    public mutating func told(_ run: RunID) -> Actions<Key, Value> {
        core.told(run)
        return takeActions()
    }

    /// Whether an execution is being cancelled or interrupted.
    ///
    /// Between ``Action/start(_:)`` and the handler lies a queue or an actor that may be busy: a driver that asks right
    /// before it calls the handler can skip it, and report the end as ``Ending/threw``.
    @inlinable
    public func isCancelling(_ run: RunID) -> Bool { state(of: run).isCancelling }

    /// Whether an execution has started, and its outcome has not been told.
    @inlinable
    public func hasStarted(_ run: RunID) -> Bool { state(of: run) != .ended }

    /// The state of an execution.
    @inlinable
    public func state(of run: RunID) -> RunState { core.state(of: run) }

    /// Attaches a number of the driver's choosing to an execution that is running; `UInt32.max` for none.
    @inlinable
    @discardableResult
    public mutating func attach(_ number: UInt32, to run: RunID) -> RunState { core.attach(number, to: run) }

    /// The number that is attached to an execution that is running, if there is one.
    @inlinable
    public func attachment(of run: RunID) -> UInt32? {
        let number = core.attachment(of: run)
        return number == .max ? nil : number
    }

    // MARK: - Callers that wait

    /// Lets a caller wait for the ends of what runs and waits, of one key or of all.
    ///
    /// - Returns: Whether there is anything to wait for. If so, ``Action/resume(_:)`` will be returned for the caller, once.
    @inlinable
    public mutating func addWaiter(_ waiter: WaiterID, for key: Key? = nil) -> Bool {
        if let key { core.addWaiter(waiter, at: slotIndex(of: key)) } else { core.addWaiter(waiter) }
    }

    /// Withdraws a caller that no longer waits: it will not be resumed, and nothing is kept for it.
    ///
    /// - Parameters:
    ///   - waiter: A caller that was added and may have been resumed since; not one of a ``Sweep`` that is under way.
    ///   - key: The key for which it was added; nil if that was for all, which visits every key with executions.
    @inlinable
    public mutating func removeWaiter(_ waiter: WaiterID, for key: Key? = nil) {
        if let key {
            core.removeWaiter(waiter, at: slotIndex(of: key))
        } else {
            _ = removeWaiter(waiter, fromBlocks: 0..<core.keyExecutions.blockCount)
        }
    }

    /// Withdraws a caller from the executions of a portion of the keys, 64 in each block at most.
    ///
    /// - Returns: Whether nothing is kept for it any more.
    @inlinable
    package mutating func removeWaiter(_ waiter: WaiterID, fromBlocks blocks: Range<Int>) -> Bool {
        core.removeWaiter(waiter, fromBlocks: blocks)
    }
}

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
