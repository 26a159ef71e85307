package import LullCore

/// The whole decision logic of debouncing and throttling over any number of keys, as a value without a clock, a lock or
/// a task.
///
/// A driver reports each event with its instant, and does what the returned ``Actions`` say. The same calls at the same
/// instants always have the same results (<doc:Semantics>, section 2). An instant earlier than the last one handled
/// counts as that one.
///
/// A submit costs the same whatever the number of keys: a hash look-up, or none for the key of the previous submit; and
/// now and then an entry in a radix heap. Neither grows by more than a small piece at a time. A key's memory is given
/// back when its gate is idle and none of its executions is running.
///
/// The contract with a driver:
///
/// - The alarm: it calls ``advance(to:limit:)`` at ``alarm`` or later. Being late is harmless: what was due is executed
///   as of its due instant. The alarm also moves with a call that returns ``Actions/movesAlarm``.
/// - Starts and ends: it reports the end of each execution that ``Action/start(_:)`` asked for with
///   ``ended(_:_:telling:at:)``, once, and does what this returns: that starts what waited for it. Under
///   ``OverlapPolicy/restart`` it reports ends with ``ended(_:_:returning:telling:at:)``.
/// - What is handed out: displaced values, and keys in ``Action/release(_:)``, are released outside its lock.
/// - Threads: the engine has no lock. A driver holds its own during a call, and does what is returned without it.
///
/// All decisions are made over numbers, by code that is compiled once; this type finds the numbers of keys, and keeps
/// and moves values.
@usableFromInline
package struct Engine<Key: Hashable, Value>: ~Copyable {
    typealias Cells = LullCore.Cells<Key, Value>

    var core: SlotEngine
    /// The companions of the values that are handled, by the executions' serial numbers, where the order of submits
    /// matters.
    private var startedSubmits: [UInt64: Companion] = [:]

    /// Creates an engine with nothing pending.
    package init(_ setup: Setup) { core = Cells.engine(setup) }

    deinit { Cells.destroy(core) }

    // MARK: - State

    /// The settings.
    package var setup: Setup { core.setup }
    /// The number of submits with each outcome so far.
    package var counters: Counters { core.tally }
    /// The instant at which ``advance(to:limit:)`` is to be called next; ``CoreInstant/farFuture`` for never.
    ///
    /// It may come before anything is due: a submit that only postpones something leaves it where it is.
    package var alarm: CoreInstant { core.nextAlarm }
    /// How many due values have joined or replaced one that waited to start.
    package var joinedCount: Int { core.joinedCount }

    /// The number of keys with an open gate or a waiting value; a gate that is idle by now is included until the next
    /// wake-up.
    package var openKeyCount: Int { core.openCount }

    /// Hands memory that is no longer needed to the caller, which frees it while it holds no lock.
    package mutating func takeDiscarded() -> DiscardedMemory { core.takeDiscarded() }

    // MARK: - Submitting

    /// Returns the index of a key's slot, or `UInt32.max`.
    func slotIndex(of key: Key) -> UInt32 {
        let hash = KeyIndex.hash(key)
        var position: UInt32 = 0
        while true {
            let slot = core.keyIndex.next(hash, from: &position)
            if slot == .max || Cells.key(of: core.slots[slot]).pointee == key { return slot }
        }
    }

    /// Submits a value under a key (<doc:Semantics>, sections 3 and 4).
    ///
    /// `wait` is the delay of this call alone; a negative one counts as zero. A throttle ignores it.
    package mutating func submit(
        _ value: Value, for key: Key, at instant: CoreInstant, wait: CoreDuration? = nil
    ) -> Actions<Key, Value> {
        var index = slotIndex(of: key)
        var actions = Actions<Key, Value>()
        var placement = index == .max ? .undecided : core.submitFastPath(core.slot(index), at: instant, wait: wait)
        if case .undecided = placement {
            index = core.beginSubmit(at: index, at: instant, wait: wait)
            takeActions(&actions)
            if core.isOverflowing {
                core.dropOldest(for: &index)
                takeActions(&actions)
            }
            actions.dueBefore = actions.more.count
            if index == .max, !core.isOverflowing {
                index = core.addSlot(hash: KeyIndex.hash(key))
                if index != .max { Cells.key(of: core.slot(index)).initialize(to: key) }
            }
            placement = core.submit(at: index, wait: wait)
        }
        if case .displaced(let fate) = placement {
            actions.displaced = value
            actions.fate = fate
        } else {
            var (value, companion) = (value, Companion?.none)
            core.keep(&companion, at: index, placement)
            Cells.place(&value, &companion, placement, in: core.slot(index), collects: core.collects)
            if case .instead = placement { actions.displaced = value }
            if case .shared(let run) = placement { actions.joined = run }
        }
        takeActions(&actions)
        return actions
    }

    // MARK: - Time

    /// Does everything that was due at `instant` or before, in the order of due instants, and updates ``alarm``.
    ///
    /// A driver that calls this under a lock gives a `limit`: the call stops after this many executions or keys
    /// forgotten, or sixteen times as many steps of keeping the queues, or a mixture of both. Then ``alarm`` may be at
    /// `instant` or before, whether or not anything was executed: call again.
    package mutating func advance(to instant: CoreInstant, limit: Int = .max) -> Actions<Key, Value> {
        core.advance(to: instant, limit: limit)
        return takeActions()
    }

    /// Determines when the next value of any key falls due, a little at a time; after ``advance(to:limit:)`` has been
    /// called until nothing was due at `instant` any more.
    ///
    /// - Parameters:
    ///   - instant: The present instant.
    ///   - budget: The greatest number of entries that are checked; at least one is.
    /// - Returns: Whether that was enough, and if so the instant, or nil if nothing is pending. If it was not, call
    ///   again: the instant is a lower bound, and other calls may come between.
    package mutating func refineNextDue(at instant: CoreInstant, budget: Int) -> (isExact: Bool, due: CoreInstant?) {
        core.refineNextDue(at: instant, budget: budget)
    }

    // MARK: - Other calls on a key

    /// Executes what is pending under a key now, and makes its gate idle.
    package mutating func flush(_ key: Key, at instant: CoreInstant) -> Actions<Key, Value> {
        core.call(.flush, at: slotIndex(of: key), instant)
        return takeActions()
    }

    /// Postpones what is pending under a key as a submit would, without a value: "still busy" (<doc:Semantics>, section
    /// 5).
    ///
    /// `wait` is the delay of this call alone; a negative one counts as zero. Nothing else changes: a key without an
    /// open gate stays so, and a throttle ignores it.
    package mutating func touch(
        _ key: Key, at instant: CoreInstant, wait: CoreDuration? = nil
    ) -> Actions<Key, Value> {
        core.touch(slotIndex(of: key), at: instant, wait: wait)
        return takeActions()
    }

    /// Drops what is pending, waiting or held under a key, and makes its gate idle.
    ///
    /// With `running`, cancels the running execution too.
    package mutating func cancel(_ key: Key, running: Bool = false, at instant: CoreInstant) -> Actions<Key, Value> {
        core.call(.cancel(running: running), at: slotIndex(of: key), instant)
        return takeActions()
    }

    /// When what is pending under a key falls due, as if everything due at `instant` or before had been done.
    package func nextDue(_ key: Key, at instant: CoreInstant) -> CoreInstant? {
        core.nextDue(slotIndex(of: key), at: instant)
    }

    /// When the next value of any key falls due, as if everything due at `instant` or before had been done.
    ///
    /// Visits every open key.
    package func nextDue(at instant: CoreInstant) -> CoreInstant? { core.nextDue(at: instant) }

    // MARK: - Calls for all keys

    /// Executes what is pending under every key now, in the order in which the bursts began.
    package mutating func flush(at instant: CoreInstant) -> Actions<Key, Value> {
        core.sweep(.flush, at: instant)
        return takeActions()
    }

    /// Drops what is pending or waiting under every key, and makes all gates idle.
    ///
    /// With `running`, cancels the running executions too.
    package mutating func cancel(running: Bool = false, at instant: CoreInstant) -> Actions<Key, Value> {
        core.sweep(.cancel(running: running), at: instant)
        return takeActions()
    }

    /// Refuses submits from now on, and flushes or drops what is pending.
    ///
    /// Waiting values, which are due already, are executed after a flush and dropped otherwise. Repeating the call is
    /// harmless.
    package mutating func shutDown(flushing: Bool, at instant: CoreInstant) -> Actions<Key, Value> {
        core.close()
        core.stopHolding(flushing: flushing)
        return flushing ? flush(at: instant) : cancel(at: instant)
    }

    /// Begins a call for all keys, which counts as of this instant. ``continueSweep(_:limit:)`` carries it out.
    ///
    /// Call ``advance(to:limit:)`` first until it has done what was due by then, so that keys come in the order in
    /// which they were due.
    ///
    /// - Parameters:
    ///   - kind: What is done at every key.
    ///   - instant: The instant of the call.
    ///   - waiter: A caller that waits for what runs and waits at every key once the call has been applied to it.
    ///     ``Action/resume(_:)`` is returned for it once, not before the call is done. Not for
    ///     ``Sweep/Kind/dropUnreachable``, which does not visit every key.
    package mutating func beginSweep(_ kind: Sweep.Kind, at instant: CoreInstant, waiter: WaiterID? = nil) -> Sweep {
        core.beginSweep(kind, at: instant, waiter: waiter)
    }

    /// Carries out a portion of a call for all keys: looks at up to 16 × `limit` keys, or applies the call to `limit`
    /// keys.
    ///
    /// Also does what other calls at the same time have left to do at a key.
    package mutating func continueSweep(_ sweep: inout Sweep, limit: Int) -> Actions<Key, Value> {
        core.continueSweep(&sweep, limit: limit)
        return takeActions()
    }

    // MARK: - Executions

    /// Reports the end of an execution.
    ///
    /// - Parameters:
    ///   - run: The execution.
    ///   - ending: How its handler has ended.
    ///   - steps: How many steps of telling its outcome are to end before the next execution of the key starts, and
    ///     before callers that wait for this one are resumed: see ``SlotEngine/told(_:)``.
    ///   - instant: When it ended: a limit counts what starts then as of this instant. Nil for the last instant
    ///     handled.
    /// - Returns: What became of its submits, and what is to be done next.
    package mutating func ended(
        _ run: RunID, _ ending: Ending, telling steps: Int = 0, at instant: CoreInstant? = nil
    ) -> (Verdict, Actions<Key, Value>) {
        if let instant { core.advanceNow(to: instant) }
        let verdict = core.ended(run, ending, telling: steps)
        forgetStart(run)
        precondition(
            verdict != .interrupted, "an execution that was interrupted has ended without giving its values back")
        return (verdict, takeActions())
    }

    /// Reports the end of an execution under ``OverlapPolicy/restart``, where its values may go back.
    ///
    /// - Parameters:
    ///   - run: The execution.
    ///   - ending: How its handler has ended.
    ///   - values: The values that it got. If it was interrupted and threw, the engine keeps a copy.
    ///   - steps: As with the other form. If the answer is ``Verdict/interrupted`` there are none: nothing is to be
    ///     told.
    ///   - instant: As with the other form.
    package mutating func ended(
        _ run: RunID, _ ending: Ending, returning values: Batch<Value>, telling steps: Int = 0,
        at instant: CoreInstant? = nil
    ) -> (Verdict, Actions<Key, Value>) {
        if let instant { core.advanceNow(to: instant) }
        // What calls for all keys have left to do comes first: it may move the values that wait.
        core.settle(run)
        var actions = takeActions()
        let verdict = core.ended(run, ending, telling: steps)
        if verdict == .interrupted { putBack(values, of: run, &actions) }
        forgetStart(run)
        takeActions(&actions)
        return (verdict, actions)
    }

    private mutating func forgetStart(_ run: RunID) {
        if core.setup.keepsOrder { startedSubmits[run.serial] = nil }
    }

    /// The state of an execution.
    ///
    /// Between ``Action/start(_:)`` and the handler lies a queue or an actor that may be busy: a driver that asks right
    /// before it calls the handler can skip one that is to be cancelled, and report the end as ``Ending/threw``.
    package func state(of run: RunID) -> RunState { core.state(of: run) }

    // MARK: - Actions

    /// Does what the core asks for, and returns what is left for the driver.
    mutating func takeActions() -> Actions<Key, Value> {
        var actions = Actions<Key, Value>()
        takeActions(&actions)
        return actions
    }

    /// Does what the core asks for. Values and keys leave in the results, to be released outside the driver's lock.
    private mutating func takeActions(_ results: inout Actions<Key, Value>) {
        if core.movesAlarm {
            core.movesAlarm = false
            results.movesAlarm = true
        }
        for position in 0..<core.actionCount {
            switch core.actions[position] {
            case .start(let slot, let executions, let values, let serial, let due):
                let (batch, companion) = executions == .max ? takePending(slot) : takeWaiting(executions, values)
                if core.setup.keepsOrder { startedSubmits[serial] = companion }
                let run = RunID(slot: slot, serial: serial)
                results.more.append(.start(Execution(run: run, key: key(of: slot), batch: batch, due: due)))
            case .wait(let slot, let executions):
                Cells.wait(core.slot(slot), core.executions(executions), collects: core.collects)
            case .resolve(let slot, let fate):
                results.more.append(.resolve(key(of: slot), takePending(slot).batch, fate))
            case .resolveWaiting(let slot, let executions, let fate):
                results.more.append(.resolve(key(of: slot), takeWaiting(executions, .max).batch, fate))
            case .resolveFirst(let slot, let executions, let fate):
                let executions = executions == .max ? nil : core.executions(executions)
                let first = core.slot(slot)
                let (batch, _) = batch { _ in Cells.takeFirst(first, executions) }
                results.more.append(.resolve(key(of: slot), batch, fate))
            case .cancel(let run): results.more.append(.cancel(run))
            case .replace(let run, let fate): results.more.append(.replace(run, fate))
            case .overdue(let run): results.more.append(.overdue(run))
            case .resume(let waiter): results.more.append(.resume(waiter))
            case .release(let slot):
                let key = Cells.key(of: core.slot(slot)).move()
                KeyIndex.check(KeyIndex.hash(key) == core.slot(slot).pointee.hash)
                if !_isPOD(Key.self) { results.more.append(.release(key)) }
                core.free(slot: slot)
            case .retire(let executions): core.free(executions: executions)
            }
        }
        core.clearActions()
    }

    private mutating func key(of slot: UInt32) -> Key { Cells.key(of: core.slot(slot)).pointee }

    private mutating func takePending(_ slot: UInt32) -> (batch: Batch<Value>, Companion?) {
        let slot = core.slot(slot)
        return batch { Cells.takePending(slot, to: $0, collects: core.collects) }
    }

    private mutating func takeWaiting(_ executions: UInt32, _ count: Int) -> (batch: Batch<Value>, Companion?) {
        let executions = core.executions(executions)
        return batch { Cells.takeWaiting(executions, count, to: $0, collects: core.collects) }
    }

    /// Makes a batch of what `take` moves out: the value to a memory, or the values in a companion.
    private func batch(
        _ take: (UnsafeMutablePointer<Value>) -> Companion?
    ) -> (batch: Batch<Value>, Companion?) {
        withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { memory in
            // Proof: a buffer of one element has an address.
            let destination = memory.baseAddress.unsafelyUnwrapped
            let companion = take(destination)
            return (
                core.collects ? Batch(all: Cells.collected(companion).values) : Batch(destination.move()), companion
            )
        }
    }

    /// Keeps the values of an interrupted execution.
    private mutating func putBack(_ values: Batch<Value>, of run: RunID, _ results: inout Actions<Key, Value>) {
        let slot = core.slots[run.slot]
        let executions = core.keyExecutions[slot.pointee.executions]
        var values = values
        var companion = startedSubmits.removeValue(forKey: run.serial)
        core.keepAgain(companion)
        if companion == nil, core.collects { companion = Collected<Value>(all: values.values) }
        let fate = withUnsafeMutablePointer(to: &values.value) {
            Cells.putBack(core.collects ? nil : $0, &companion, to: executions, core.setup.combination)
        }
        if let fate { results.more.append(.resolve(key(of: run.slot), values, fate)) }
    }
}
