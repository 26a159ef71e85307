// Executions that run, from start to end: section 7 of the semantics.
extension Engine {
    /// Returns the executions of a slot's key, if it has any.
    @inlinable
    func executions(of slot: UnsafeMutablePointer<Slot>) -> UnsafeMutablePointer<KeyExecutions<Value>>? {
        let index = slot.pointee.executions
        return index == .max ? nil : keyExecutions[index]
    }

    /// Returns the executions of a run's key, if it has any.
    @inlinable
    func executions(of run: RunID) -> UnsafeMutablePointer<KeyExecutions<Value>>? {
        slots.contains(run.slot) ? executions(of: slots[run.slot]) : nil
    }

    // MARK: - Starts and ends

    @inlinable
    mutating func start(
        _ executions: UnsafeMutablePointer<KeyExecutions<Value>>, _ batch: consuming Batch<Value>, _ due: Gate.Due,
        _ waiters: [WaiterID], _ actions: inout Actions<Key, Value>
    ) {
        let size = batch.size
        startCount += 1
        runningCount += 1
        tally.pending -= size
        tally.running += size
        executions.pointee.add(KeyExecutions.Run(serial: startCount, size: size, waiters: waiters))
        let slot = executions.pointee.slot
        let run = RunID(slot: slot, serial: startCount)
        actions.add(.start(Execution(run: run, key: slots[slot].pointee.key, batch: batch, due: due)))
    }

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
        var actions = Actions<Key, Value>()
        let index = slots.contains(run.slot) ? slots[run.slot].pointee.executions : .max
        // A key with a running execution stays.
        if index != .max { _ = applyPendingSweeps(to: run.slot, &actions) }
        guard index != .max, case let executions = keyExecutions[index],
            let ended = executions.pointee.end(run.serial, telling: steps)
        else {
            preconditionFailure("an execution that is not running was reported as ended")
        }
        runningCount -= 1
        tally.running -= ended.size
        let verdict = verdict(of: ended, ending)
        switch verdict {
        case .executed: tally.executed += ended.size
        case .failed: tally.failed += ended.size
        case .superseded: tally.superseded += ended.size
        case .cancelled: tally.cancelled += ended.size
        }
        // While it is being told, other keys may have its slot.
        if steps == 0 { unblock(index, ended.waiters, &actions) } else { startWaiting(&actions) }
        return (verdict, actions)
    }

    @inlinable
    func verdict(of run: KeyExecutions<Value>.Run, _ ending: Ending) -> Verdict {
        guard ending == .threw else { return .executed }
        return switch run.phase {
        case .running, .telling: .failed
        case .superseded: .superseded
        case .cancelled: .cancelled
        }
    }

    /// Reports the end of one of the steps of telling the outcome of an execution that has ended.
    ///
    /// - Returns: What is to be done next: after the last step, what waited for it.
    @inlinable
    public mutating func told(_ run: RunID) -> Actions<Key, Value> {
        var actions = Actions<Key, Value>()
        let index = slots.contains(run.slot) ? slots[run.slot].pointee.executions : .max
        if index != .max { _ = applyPendingSweeps(to: run.slot, &actions) }
        guard index != .max, case let executions = keyExecutions[index],
            let steps = executions.pointee.endStep(run.serial)
        else {
            preconditionFailure("the outcome of an execution was told once too often")
        }
        if steps == 0, let told = executions.pointee.remove(run.serial) {
            unblock(index, told.waiters, &actions)
        }
        return actions
    }

    /// Starts what waits for a key of which an execution was removed, and resumes the callers that waited for that.
    @inlinable
    mutating func unblock(_ index: UInt32, _ waiters: [WaiterID], _ actions: inout Actions<Key, Value>) {
        let executions = keyExecutions[index]
        if !waiters.isEmpty { noteEnd(for: waiters, &actions) }
        // What waited for the key may start as soon as `maxConcurrent` allows; under `.concurrent` it could from the beginning.
        if setup.whileRunning != .concurrent, executions.pointee.isWaiting { queueStart(index) }
        startWaiting(&actions)
        retire(index, &actions)
    }

    /// Forgets the executions of a key, and perhaps the key, if nothing of it runs or waits.
    @inlinable
    mutating func retire(_ index: UInt32, _ actions: inout Actions<Key, Value>) {
        let executions = keyExecutions[index]
        guard !executions.pointee.hasStarted, !executions.pointee.isWaiting else { return }
        let slotIndex = executions.pointee.slot
        let slot = slots[slotIndex]
        keyExecutions.discard(index)
        slot.pointee.executions = .max
        updateGauge(slotIndex)
        if slot.pointee.gate.phase == .idle { forget(slotIndex, &actions) }
    }

    /// Cancels the running executions of a key that are not being cancelled yet.
    @inlinable
    @inline(never)
    mutating func cancelRuns(
        of executions: UnsafeMutablePointer<KeyExecutions<Value>>, _ reason: KeyExecutions<Value>.Phase,
        _ actions: inout Actions<Key, Value>
    ) {
        for serial in executions.pointee.cancelRuns(reason) {
            actions.more.append(.cancel(RunID(slot: executions.pointee.slot, serial: serial)))
        }
    }

    /// Hands out values that were pending or waiting and are not executed.
    @inlinable
    @inline(never)
    mutating func drop(_ batch: consuming Batch<Value>, of key: Key, _ fate: Fate, _ actions: inout Actions<Key, Value>)
    {
        tally.pending -= batch.size
        tally.add(batch.size, fate)
        actions.more.append(.settle(key, batch, fate))
    }

    // MARK: - Questions about a run

    /// Whether an execution is being cancelled.
    ///
    /// Between ``Action/start(_:)`` and the handler lies a queue or an actor that may be busy: a driver that asks right
    /// before it calls the handler can skip it, and report the end as ``Ending/threw``.
    @inlinable
    public func isCancelling(_ run: RunID) -> Bool { state(of: run) == .cancelling }

    /// Whether an execution has started, and its outcome has not been told.
    @inlinable
    public func hasStarted(_ run: RunID) -> Bool { state(of: run) != .ended }

    /// The state of an execution.
    @inlinable
    public func state(of run: RunID) -> RunState {
        executions(of: run)?.pointee.find(run.serial)?.state ?? .ended
    }

    /// Attaches a number of the driver's choosing to an execution that is running; `UInt32.max` for none.
    @inlinable
    @discardableResult
    public mutating func attach(_ number: UInt32, to run: RunID) -> RunState {
        var state = RunState.ended
        guard let executions = executions(of: run) else { return state }
        executions.pointee.changeRuns { other in
            guard other.serial == run.serial else { return }
            other.attachment = number
            state = other.state
        }
        return state
    }

    /// The number that is attached to an execution that is running, if there is one.
    @inlinable
    public func attachment(of run: RunID) -> UInt32? {
        guard let found = executions(of: run)?.pointee.find(run.serial), found.attachment != .max else { return nil }
        return found.attachment
    }
}
