// Due values that wait: for an earlier execution of its key, or for `maxConcurrent`. Section 7 of the semantics.
extension Engine {
    /// Starts what has fallen due, or lets it wait.
    @inlinable
    mutating func fallDue(
        _ slotIndex: UInt32, _ batch: consuming Batch<Value>, _ due: Gate.Due, _ actions: inout Actions<Key, Value>
    ) {
        let slot = slots[slotIndex]
        if slot.pointee.executions == .max {
            slot.pointee.executions = keyExecutions.insert(KeyExecutions(slot: slotIndex))
        }
        let executions = keyExecutions[slot.pointee.executions]
        if setup.whileRunning == .skip, due.edge != .flush, executions.pointee.isRunning {
            return drop(batch, of: slot.pointee.key, .absorbed, &actions)
        }
        dueCount += 1
        if !executions.pointee.isWaiting, !isBlocked(executions), runningCount < setup.maxConcurrent,
            batch.size <= setup.maxBatch, startQueue.count == 0
        {
            start(executions, batch, due, [], &actions)
        } else {
            wait(slot, batch, due, &actions)
        }
    }

    @usableFromInline
    @inline(never)
    mutating func wait(
        _ slot: UnsafeMutablePointer<Slot>, _ batch: consuming Batch<Value>, _ due: Gate.Due,
        _ actions: inout Actions<Key, Value>
    ) {
        let index = slot.pointee.executions
        let executions = keyExecutions[index]
        if let earlier = executions.pointee.waiting.take() {
            waitingSubmits -= earlier.size
            removeFromStartQueue(executions)
            executions.pointee.waiting = join(batch, due, to: earlier, of: slot.pointee.key, &actions)
        } else {
            executions.pointee.waiting = WaitingBatch(batch, due, dueNumber: dueCount, maxBatch: setup.maxBatch)
        }
        waitingSubmits += executions.pointee.waiting?.size ?? 0
        if setup.whileRunning == .cancelRunning { cancelRuns(of: executions, .superseded, &actions) }
        guard !isBlocked(executions) else { return }
        queueStart(index)
        // Only this key starts: where others queue, the call that is starting them continues with that.
        while startQueue.count == 1, runningCount < setup.maxConcurrent, !isStartingWaiting {
            startFirstWaiting(&actions)
        }
    }

    /// Lets a due value replace, or join, the one that waits: counts are added, and `first` is the earlier's.
    private mutating func join(
        _ later: Batch<Value>, _ due: Gate.Due, to earlier: consuming WaitingBatch<Value>, of key: Key,
        _ actions: inout Actions<Key, Value>
    ) -> WaitingBatch<Value> {
        if setup.combination == .collect {
            earlier.collect(later, maxBatch: setup.maxBatch)
        } else if let displaced = earlier.batch.add(later, by: setup.combination) {
            drop(displaced, of: key, setup.combination.fateOfDisplaced, &actions)
        }
        earlier.due.at = due.at
        earlier.due.edge = due.edge
        earlier.due.count += due.count
        earlier.dueNumber = dueCount
        return earlier
    }

    @inlinable
    func isBlocked(_ executions: UnsafeMutablePointer<KeyExecutions<Value>>) -> Bool {
        setup.whileRunning != .concurrent && executions.pointee.hasStarted
    }

    /// Drops what waits at a key.
    @inlinable
    mutating func dropWaiting(
        _ executions: UnsafeMutablePointer<KeyExecutions<Value>>, _ actions: inout Actions<Key, Value>
    ) {
        guard let waiting = executions.pointee.waiting.take() else { return }
        removeFromStartQueue(executions)
        waitingSubmits -= waiting.size
        let waiters = waiting.waiters.map { $0.id }
        let slot = executions.pointee.slot
        drop(waiting.takeAll(), of: slots[slot].pointee.key, .cancelled, &actions)
        noteEnd(for: waiters, &actions)
        updateGauge(slot)
    }

    // MARK: - The queue of starts

    /// Queues a key whose value waits, to start as soon as `maxConcurrent` allows.
    @usableFromInline
    @inline(never)
    mutating func queueStart(_ index: UInt32) {
        let executions = keyExecutions[index]
        guard let due = executions.pointee.waiting?.due else { return }
        let isRest = executions.pointee.waiting?.isRest == true
        if isRest {
            // The rest of a batch queues behind all that waits by now: its key does not hold back the others.
            dueCount += 1
            executions.pointee.waiting?.dueNumber = dueCount
        }
        let entry = StartQueue.Entry(
            at: isRest ? now : due.at, dueNumber: executions.pointee.waiting?.dueNumber ?? dueCount, executions: index)
        startQueue.insert(entry) { index, position in
            let executions = keyExecutions[index]
            executions.pointee.queuePosition = position
        }
    }

    /// Removes a key from the queue of starts, if it is there.
    @inlinable
    mutating func removeFromStartQueue(_ executions: UnsafeMutablePointer<KeyExecutions<Value>>) {
        let position = executions.pointee.queuePosition
        guard position != .max else { return }
        executions.pointee.queuePosition = .max
        startQueue.remove(at: Int(position)) { index, position in
            let executions = keyExecutions[index]
            executions.pointee.queuePosition = position
        }
    }

    /// Starts waiting values while `maxConcurrent` allows.
    ///
    /// A call for all keys that is under way is applied to a key before its value starts. Where it is applied to many, all
    /// of which it may cancel, the rest is left to ``continueSweep(_:limit:)``.
    @inlinable
    mutating func startWaiting(_ actions: inout Actions<Key, Value>) {
        if startQueue.count > 0, runningCount < setup.maxConcurrent { startQueued(&actions) }
    }

    @inlinable
    @inline(never)
    mutating func startQueued(_ actions: inout Actions<Key, Value>) {
        var sweptCount = 0
        isStartingWaiting = true
        while runningCount < setup.maxConcurrent, let entry = startQueue.first, sweptCount < 64 {
            let slot = keyExecutions[entry.executions].pointee.slot
            if isAwaitingSweep(slot) {
                _ = applyPendingSweeps(to: slot, &actions)
                sweptCount += 1
            } else {
                startFirstWaiting(&actions)
            }
        }
        isStartingWaiting = false
    }

    /// Starts what is first in the queue, or a part of it.
    @inlinable
    mutating func startFirstWaiting(_ actions: inout Actions<Key, Value>) {
        guard let entry = startQueue.first else { return }
        let executions = keyExecutions[entry.executions]
        removeFromStartQueue(executions)
        if executions.pointee.waiting?.hasParts == true, let part = executions.pointee.waiting?.takePart() {
            waitingSubmits -= part.batch.size
            for waiter in part.remaining { waiters[waiter.id, default: 0] += 1 }
            start(executions, part.batch, part.due, part.waiters, &actions)
            if !isBlocked(executions) { queueStart(entry.executions) }
            return
        }
        guard let waiting = executions.pointee.waiting.take() else {
            preconditionFailure("a key is to start and has no value waiting: this is a bug in LullCore")
        }
        waitingSubmits -= waiting.size
        start(executions, waiting.batch, waiting.due, waiting.waiters.map { $0.id }, &actions)
        updateGauge(executions.pointee.slot)
    }

    // MARK: - Callers that wait

    /// Lets a caller wait for the ends of what runs and waits, of one key or of all.
    ///
    /// - Returns: Whether there is anything to wait for. If so, ``Action/resume(_:)`` will be returned for the caller, once.
    public mutating func addWaiter(_ waiter: WaiterID, for key: Key? = nil) -> Bool {
        var awaited = 0
        if let key {
            let index = slotIndex(of: key)
            if index != .max, let executions = executions(of: slots[index]) { awaited = executions.pointee.add(waiter) }
        } else {
            keyExecutions.forEach { _, executions in awaited += executions.pointee.add(waiter) }
        }
        if awaited > 0 { waiters[waiter] = awaited }
        return awaited > 0
    }

    /// Withdraws a caller that no longer waits: it will not be resumed, and nothing is kept for it.
    ///
    /// - Parameters:
    ///   - waiter: A caller that was added and may have been resumed since; not one of a ``Sweep`` that is under way.
    ///   - key: The key for which it was added; nil if that was for all, which visits every key with executions.
    public mutating func removeWaiter(_ waiter: WaiterID, for key: Key? = nil) {
        guard let key else {
            _ = removeWaiter(waiter, fromBlocks: 0..<keyExecutions.blockCount)
            return
        }
        let index = slotIndex(of: key)
        guard let left = waiters[waiter], index != .max, let executions = executions(of: slots[index]) else { return }
        setAwaited(left - executions.pointee.remove(waiter), by: waiter)
    }

    /// Withdraws a caller from the executions of a portion of the keys, 64 in each block at most.
    ///
    /// - Returns: Whether nothing is kept for it any more.
    @inlinable
    package mutating func removeWaiter(_ waiter: WaiterID, fromBlocks blocks: Range<Int>) -> Bool {
        guard var left = waiters[waiter] else { return true }
        keyExecutions.forEach(inBlocks: blocks) { _, executions in left -= executions.pointee.remove(waiter) }
        setAwaited(left, by: waiter)
        return left == 0
    }

    /// Sets the number of executions that a caller still waits for after others were removed.
    @usableFromInline
    mutating func setAwaited(_ count: Int, by waiter: WaiterID) {
        waiters[waiter] = count > 0 ? count : nil
        if waiters.isEmpty { waiters = [:] }
    }

    /// Counts one execution less for each of these callers, and resumes those that wait for no other.
    @usableFromInline
    @inline(never)
    mutating func noteEnd(for ended: [WaiterID], _ actions: inout Actions<Key, Value>) {
        for waiter in ended {
            guard let left = waiters[waiter] else { continue }
            if left > 1 {
                waiters[waiter] = left - 1
            } else {
                waiters[waiter] = nil
                actions.more.append(.resume(waiter))
            }
        }
    }
}
