// Executions: those that run, and due values that wait for an earlier one, for `maxConcurrent` or for the limit.
// Section 7 of the semantics.
extension SlotEngine {
    /// Returns the executions of a slot's key, if it has any.
    @inline(__always)
    func executions(of slot: UnsafeMutablePointer<Slot>) -> UnsafeMutablePointer<KeyExecutions>? {
        let index = slot.pointee.executions
        return index == .max ? nil : keyExecutions[index]
    }

    /// Returns the executions of a run's key, if it has any.
    @inline(__always)
    private func executions(of run: RunID) -> UnsafeMutablePointer<KeyExecutions>? {
        slots.contains(run.slot) ? executions(of: slots[run.slot]) : nil
    }

    /// The number of values behind this many submits.
    @inline(__always)
    func size(of count: Int) -> Int { setup.combination == .collect ? count : 1 }

    // MARK: - Falling due

    /// Starts what has fallen due and is pending in a slot, or lets it wait.
    mutating func fallDue(_ slotIndex: UInt32, _ due: Gate.Due) {
        let slot = slots[slotIndex]
        if slot.pointee.executions == .max {
            slot.pointee.executions = keyExecutions.insert(KeyExecutions(slot: slotIndex))
        }
        let executions = keyExecutions[slot.pointee.executions]
        if case .skip = setup.whileRunning, due.cause != .flush, executions.pointee.isRunning {
            return dropPending(slotIndex, due.count, .absorbed)
        }
        if setup.whileRunning == .replace { replaceRuns(of: executions) }
        dueCount += 1
        let size = size(of: due.count)
        if !executions.pointee.isWaiting, !isBlocked(executions), allowsStart, size <= setup.maxBatch,
            startQueue.count == 0
        {
            // Values fall due in the order in which they would start, so that the first ones need not wait for the
            // others.
            start(executions, size, due, [])
        } else {
            wait(slotIndex, size, due)
        }
    }

    private mutating func wait(_ slotIndex: UInt32, _ size: Int, _ due: Gate.Due) {
        let index = slots[slotIndex].pointee.executions
        let executions = keyExecutions[index]
        if executions.pointee.isWaiting {
            removeFromStartQueue(executions)
            join(slotIndex, size, due, to: index)
        } else {
            executions.pointee.waiting = KeyExecutions.Waiting(size: size, due: due, dueNumber: dueCount)
            waitingSubmits += size
            add(.wait(slot: slotIndex, executions: index))
        }
        interruptRuns(of: executions, at: due.at)
        startIfPossible(index)
    }

    /// Starts the value of a key that waits, or queues it.
    private mutating func startIfPossible(_ index: UInt32) {
        guard !isBlocked(keyExecutions[index]) else { return }
        queueStart(index)
        // Only this key starts: where others queue, the call that is starting them continues with that.
        while startQueue.count == 1, startsWhenDue, !isStartingWaiting { startFirstWaiting() }
    }

    /// Whether a value that waits may start while others are still to fall due in the same call. With a limit, all that
    /// is due comes before the starts of that instant.
    private var startsWhenDue: Bool { runningCount < setup.maxConcurrent && setup.limit == nil }

    /// Whether `maxConcurrent` and the limit allow a start now.
    var allowsStart: Bool { runningCount < setup.maxConcurrent && limiter.next <= now }

    /// Lets a due value replace, or join, the one that waits: counts are added, and `first` is the earlier's.
    private mutating func join(_ slotIndex: UInt32, _ size: Int, _ due: Gate.Due, to index: UInt32) {
        let executions = keyExecutions[index]
        if executions.pointee.isHeld { endHolding(executions) } else { joinedCount += 1 }
        switch setup.combination {
        case .first:
            dropPending(slotIndex, due.count, .absorbed)
        case .latest:
            dropWaitingValues(index, size: 1, .superseded)
            add(.wait(slot: slotIndex, executions: index))
        case .collect:
            executions.pointee.waiting?.size += size
            waitingSubmits += size
            add(.wait(slot: slotIndex, executions: index))
        }
        executions.pointee.waiting?.due.at = due.at
        executions.pointee.waiting?.due.cause = due.cause
        executions.pointee.waiting?.due.count += due.count
        executions.pointee.waiting?.dueNumber = dueCount
    }

    @inline(__always)
    func isBlocked(_ executions: UnsafeMutablePointer<KeyExecutions>) -> Bool {
        switch setup.whileRunning {
        case .concurrent: false
        // Nothing starts before an outcome that is being told, so that newer ones come later.
        case .replace: executions.pointee.isTelling
        case .queue, .cancelRunning, .restart, .skip, .share: executions.pointee.hasStarted
        }
    }

    // MARK: - Dropping

    /// Hands out what was pending in a slot, this many submits.
    mutating func dropPending(_ slotIndex: UInt32, _ count: Int, _ fate: NotExecutedError) {
        let size = size(of: count)
        tally.pending -= size
        tally.add(size, fate)
        add(.resolve(slot: slotIndex, fate))
    }

    /// Hands out the values that wait.
    private mutating func dropWaitingValues(_ index: UInt32, size: Int, _ fate: NotExecutedError) {
        tally.pending -= size
        tally.add(size, fate)
        add(.resolveWaiting(slot: keyExecutions[index].pointee.slot, executions: index, fate))
    }

    /// Drops what waits at a key.
    mutating func dropWaiting(_ index: UInt32, _ fate: NotExecutedError) {
        let executions = keyExecutions[index]
        guard let waiting = executions.pointee.waiting.take() else { return }
        removeFromStartQueue(executions)
        if waiting.isHeld { heldCount -= 1 } else { waitingSubmits -= waiting.size }
        dropWaitingValues(index, size: waiting.size, fate)
        noteEnd(for: waiting.waiters.map { $0.id })
        updateGauge(executions.pointee.slot)
    }

    // MARK: - Starts

    /// Starts an execution of what is pending in the slot, or with `queued` of what waits.
    private mutating func start(
        _ executions: UnsafeMutablePointer<KeyExecutions>, _ size: Int, _ due: Gate.Due, _ waiters: [WaiterID],
        queued: UInt32 = .max
    ) {
        startCount += 1
        runningCount += 1
        if setup.removesDuplicates, setup.limit != nil {
            tentativeStarts.add(startCount, at: now, before: limiter)
        }
        limiter.start(at: now)
        tally.pending -= size
        tally.running += size
        executions.pointee.add(KeyExecutions.Run(serial: startCount, size: size, due: due, waiters: waiters))
        if setup.hasTimeLimit { limitTime(of: RunID(slot: executions.pointee.slot, serial: startCount)) }
        add(.start(slot: executions.pointee.slot, executions: queued, values: size, serial: startCount, due))
    }

    /// Queues a key whose value waits, to start as soon as `maxConcurrent` and the limit allow.
    private mutating func queueStart(_ index: UInt32) {
        let executions = keyExecutions[index]
        guard let waiting = executions.pointee.waiting, !waiting.isHeld else { return }
        var (at, number) = (waiting.due.at, waiting.dueNumber)
        if waiting.isRest {
            // The rest of a batch queues behind all that waits by now: its key does not hold back the others.
            dueCount += 1
            executions.pointee.waiting?.dueNumber = dueCount
            (at, number) = (now, dueCount)
        }
        startQueue.insert(QueuedStart(at: at, dueNumber: number, executions: index)) { start, position in
            let executions = keyExecutions[start.executions]
            executions.pointee.queuePosition = UInt32(position)
        }
    }

    /// Removes a key from the queue of starts, if it is there.
    private mutating func removeFromStartQueue(_ executions: UnsafeMutablePointer<KeyExecutions>) {
        let position = executions.pointee.queuePosition
        guard position != .max else { return }
        executions.pointee.queuePosition = .max
        startQueue.remove(at: Int(position)) { start, position in
            let executions = keyExecutions[start.executions]
            executions.pointee.queuePosition = UInt32(position)
        }
    }

    /// Starts waiting values while `maxConcurrent` and the limit allow, and sets the alarm for when the limit does.
    ///
    /// A call for all keys that is under way is applied to a key before its value starts. Where it is applied to many,
    /// all of which it may cancel, the rest is left to ``continueSweep(_:limit:)``.
    mutating func startWaiting() {
        guard startQueue.count > 0, runningCount < setup.maxConcurrent else { return }
        var sweptCount = 0
        isStartingWaiting = true
        while allowsStart, let entry = startQueue.first, sweptCount < 64 {
            let slot = keyExecutions[entry.executions].pointee.slot
            if isAwaitingSweep(slot) {
                _ = applyPendingSweeps(to: slot)
                sweptCount += 1
            } else {
                startFirstWaiting()
            }
        }
        isStartingWaiting = false
        if startAlarm < nextAlarm {
            nextAlarm = startAlarm
            movesAlarm = true
        }
    }

    /// Starts waiting values as the limit allows, if there is one: at the end of each call that lets values fall due.
    mutating func startLimited() { if setup.limit != nil { startWaiting() } }

    /// When the limit allows what waits for it alone to start; the far future if nothing does.
    var startAlarm: CoreInstant { awaitsLimit ? limiter.next : .farFuture }

    /// Whether a value waits for the limit alone, or the limit allows its start by now, and the timer is late.
    package var awaitsLimit: Bool {
        setup.limit != nil && startQueue.count > 0 && runningCount < setup.maxConcurrent
    }

    /// Starts what is first in the queue, or a part of it.
    private mutating func startFirstWaiting() {
        guard let index = startQueue.first?.executions else { return }
        let executions = keyExecutions[index]
        removeFromStartQueue(executions)
        guard let size = executions.pointee.waiting?.size else {
            preconditionFailure("a key is to start and has no value waiting: this is a bug in LullCore")
        }
        let all = executions.pointee.waiting?.waiters.map { $0.id } ?? []
        if size > setup.maxBatch, let due = executions.pointee.waiting?.takePart(setup.maxBatch) {
            waitingSubmits -= setup.maxBatch
            // They wait for this part, and for a later one.
            for waiter in executions.pointee.waiting?.waiters ?? [] { waiters[waiter.id, default: 0] += 1 }
            start(executions, setup.maxBatch, due, all, queued: index)
            if !isBlocked(executions) { queueStart(index) }
        } else if let due = executions.pointee.waiting.take()?.due {
            waitingSubmits -= size
            start(executions, size, due, all, queued: index)
            updateGauge(executions.pointee.slot)
        }
    }

    // MARK: - Ends

    /// Reports the end of an execution, and returns what became of its submits.
    package mutating func ended(_ run: RunID, _ ending: Ending, telling steps: Int) -> Verdict {
        let index = settledExecutions(of: run)
        guard index != .max, case let executions = keyExecutions[index],
            let ended = executions.pointee.end(run.serial, telling: steps)
        else {
            preconditionFailure("an execution that is not running was reported as ended")
        }
        runningCount -= 1
        if ending != .unchanged {
            confirmStart(of: run)
        } else if let limiter = tentativeStarts.takeBack(run.serial) {
            self.limiter = limiter
        }
        if ended.phase == .replaced {
            // All has been told.
            if steps > 0 { _ = executions.pointee.remove(run.serial) }
            unblock(index, ended.waiters)
            return .replaced
        }
        tally.running -= ended.size
        if ending == .threw, ended.phase == .interrupted, heldRule != .drop || executions.pointee.isWaiting {
            // Nothing is told: its submits go on.
            if steps > 0 { _ = executions.pointee.remove(run.serial) }
            putBack(ended, to: index)
            return .interrupted
        }
        let verdict: Verdict
        switch (ending, ended.phase) {
        case (.returned, _):
            verdict = .executed
            tally.executed += ended.size
        case (.unchanged, _):
            verdict = .absorbed
            tally.absorbed += ended.size
        case (.threw, .running), (.threw, .expired), (.threw, .telling), (.threw, .replaced):
            verdict = .failed
            tally.failed += ended.size
        case (.threw, .superseded):
            verdict = .superseded
            tally.superseded += ended.size
        case (.threw, .cancelled), (.threw, .interrupted):
            verdict = .cancelled
            tally.cancelled += ended.size
        }
        if steps == 0 {
            unblock(index, ended.waiters)
        } else {
            if isBlocked(executions) { removeFromStartQueue(executions) }
            // While it is being told, other keys may have its slot.
            startWaiting()
        }
        return verdict
    }

    /// Reports that the handler of an execution is to be called, which from now on cannot end as ``Ending/unchanged``:
    /// the limit counts it.
    package mutating func confirmStart(of run: RunID) { tentativeStarts.confirm(run.serial) }

    /// Reports the end of a step of telling the outcome of an execution that has ended.
    package mutating func told(_ run: RunID) {
        let index = settledExecutions(of: run)
        guard index != .max, case let executions = keyExecutions[index],
            let steps = executions.pointee.endStep(run.serial)
        else {
            preconditionFailure("the outcome of an execution was told once too often")
        }
        if steps == 0, let told = executions.pointee.remove(run.serial) { unblock(index, told.waiters) }
    }

    /// Applies the calls for all keys that are under way to the key of a run.
    package mutating func settle(_ run: RunID) { _ = settledExecutions(of: run) }

    /// Applies the calls for all keys that are under way to the key of a run, and returns the index of its executions.
    private mutating func settledExecutions(of run: RunID) -> UInt32 {
        let index = slots.contains(run.slot) ? slots[run.slot].pointee.executions : .max
        // A key with an execution that has started stays.
        if index != .max { _ = applyPendingSweeps(to: run.slot) }
        return index
    }

    /// Starts what waits for a key of which an execution was removed, and resumes the callers that waited for that.
    private mutating func unblock(_ index: UInt32, _ waiters: [WaiterID]) {
        let executions = keyExecutions[index]
        if !waiters.isEmpty { noteEnd(for: waiters) }
        // What waited for the key may start as soon as `maxConcurrent` allows; under `.concurrent` it could from the
        // beginning.
        if executions.pointee.isWaiting, executions.pointee.queuePosition == .max, !isBlocked(executions) {
            queueStart(index)
        }
        startWaiting()
        guard !executions.pointee.hasStarted, !executions.pointee.isWaiting else { return }
        let slot = executions.pointee.slot
        retire(index)
        updateGauge(slot)
        if slots[slot].pointee.gate.phase == .idle { forget(slot) }
    }

    /// Forgets the executions of a key: nothing of it runs or waits.
    mutating func retire(_ index: UInt32) {
        let slot = slots[keyExecutions[index].pointee.slot]
        slot.pointee.executions = .max
        add(.retire(executions: index))
    }

    /// Cancels the running executions of a key that are not being cancelled yet.
    mutating func cancelRuns(of executions: UnsafeMutablePointer<KeyExecutions>, _ reason: KeyExecutions.Phase) {
        cancel(executions.pointee.cancelRuns(reason, at: now), of: executions)
    }

    private mutating func cancel(_ serials: [UInt64], of executions: UnsafeMutablePointer<KeyExecutions>) {
        for serial in serials { add(.cancel(RunID(slot: executions.pointee.slot, serial: serial))) }
    }

    // MARK: - Interruption

    /// What becomes of values that an interrupted execution gives back when no newer value waits.
    enum HeldRule {
        /// They are held until a newer value falls due, or a flush.
        case hold
        /// They start at once, with the cause `flush`.
        case flush
        /// They are cancelled.
        case drop
    }

    /// Interrupts what is running at a key for a newer value, at the instant at which that is due or submitted, if the
    /// rule says so.
    private mutating func interruptRuns(of executions: UnsafeMutablePointer<KeyExecutions>, at instant: CoreInstant) {
        switch setup.whileRunning {
        case .queue, .concurrent, .skip, .replace, .share: break
        case .cancelRunning: cancelRuns(of: executions, .superseded)
        case .restart:
            let wait = policy.longestWait
            cancel(executions.pointee.cancelRuns(.interrupted, at: instant, within: wait), of: executions)
        }
    }

    /// Lets the submits of what is running at a key end, for a newer value: as superseded, or as cancelled if they were
    /// cancelled before.
    private mutating func replaceRuns(of executions: UnsafeMutablePointer<KeyExecutions>) {
        let slot = executions.pointee.slot
        for run in executions.pointee.replaceRuns() {
            let fate: NotExecutedError = run.phase == .cancelled ? .cancelled : .superseded
            tally.running -= run.size
            tally.add(run.size, fate)
            let id = RunID(slot: slot, serial: run.serial)
            if run.phase == .running { add(.cancel(id)) }
            add(.replace(id, fate))
        }
    }

    /// The execution that a submit to a slot joins, if it does.
    func sharedRun(at index: UInt32) -> RunID? {
        guard setup.whileRunning == .share, index != .max, slots[index].pointee.gate.count == 0,
            let executions = executions(of: slots[index]), !executions.pointee.isWaiting,
            let run = executions.pointee.run, run.phase == .running, run.serial != submitter?.serial
        else { return nil }
        return RunID(slot: index, serial: run.serial)
    }

    /// Lets a submit join an execution.
    mutating func join(_ run: RunID) {
        executions(of: slots[run.slot])?.pointee.changeRuns { running in
            guard running.serial == run.serial else { return }
            running.size += 1
            running.count += 1
        }
        tally.running += 1
    }

    /// Interrupts what is running at a key for a submit that has been accepted.
    mutating func interruptForSubmit(_ slot: UnsafeMutablePointer<Slot>) {
        guard setup.whileRunning.interruptsWhenSubmitted, let executions = executions(of: slot) else { return }
        interruptRuns(of: executions, at: now)
    }

    /// Lets the submits of an interrupted execution be pending again: in front of what waits, or held.
    private mutating func putBack(_ run: KeyExecutions.Run, to index: UInt32) {
        let executions = keyExecutions[index]
        tally.restarted += 1
        var resumed: [WaiterID] = []
        if executions.pointee.isWaiting {
            switch setup.combination {
            case .latest: tally.superseded += run.size
            case .first:
                tally.absorbed += run.size
            case .collect:
                tally.pending += run.size
                waitingSubmits += run.size
            }
            executions.pointee.addInFront(run, collects: setup.combination == .collect) { waiters[$0, default: 1] -= 1 }
        } else {
            tally.pending += run.size
            let due = Gate.Due(at: now, cause: .flush, count: run.count, first: run.first)
            executions.pointee.waiting = KeyExecutions.Waiting(size: run.size, due: due, dueNumber: 0, isHeld: true)
            heldCount += 1
            if heldRule == .flush, slots[executions.pointee.slot].pointee.gate.count == 0 {
                executions.pointee.waiting?.waiters = run.waiters.map { .init(id: $0, values: run.size) }
                flushHeld(executions.pointee.slot, at: now)
                forgetWhenIdle(executions.pointee.slot)
            } else {
                resumed = run.waiters
            }
        }
        unblock(index, resumed)
        updateGauge(executions.pointee.slot)
    }

    /// Whether values of a key are held.
    @inline(__always)
    func isHeld(_ slot: UnsafeMutablePointer<Slot>) -> Bool { executions(of: slot)?.pointee.isHeld == true }

    /// Makes the values that a key holds wait, if it holds any.
    private mutating func endHolding(_ executions: UnsafeMutablePointer<KeyExecutions>) {
        guard executions.pointee.isHeld, let size = executions.pointee.waiting?.size else { return }
        executions.pointee.waiting?.isHeld = false
        heldCount -= 1
        waitingSubmits += size
    }

    /// Lets the values that a key holds fall due with the cause `flush`, if it holds any.
    mutating func flushHeld(_ slotIndex: UInt32, at now: CoreInstant) {
        let slot = slots[slotIndex]
        guard isHeld(slot), let executions = executions(of: slot) else { return }
        endHolding(executions)
        dueCount += 1
        executions.pointee.waiting?.due.at = now
        executions.pointee.waiting?.dueNumber = dueCount
        slot.pointee.gate.noteDue(at: now, by: policy)
        startIfPossible(slot.pointee.executions)
    }

    // MARK: - Questions about a run

    /// The state of an execution.
    package func state(of run: RunID) -> RunState { executions(of: run)?.pointee.find(run.serial)?.state ?? .ended }

    /// Attaches a number to an execution that is running.
    package mutating func attach(_ number: UInt, to run: RunID) -> RunState {
        var state = RunState.ended
        guard let executions = executions(of: run) else { return state }
        executions.pointee.changeRuns { other in
            guard other.serial == run.serial else { return }
            other.attachment = number
            state = other.state
        }
        return state
    }

    /// The number that is attached to an execution that is running; `UInt.max` for none.
    package func attachment(of run: RunID) -> UInt { executions(of: run)?.pointee.find(run.serial)?.attachment ?? .max }
}
