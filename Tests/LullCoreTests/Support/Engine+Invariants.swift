@testable import LullCore
@testable import LullEngine

// The invariants of an engine between any two calls. Checking them visits everything there is.

extension Engine {
    /// The rules that do not hold; empty unless there is a bug.
    func checkInvariants() -> [String] {
        var broken = InvariantReport()
        broken.rules = core.checkInvariants()
        core.slots.forEach { index, slot in
            let key = Cells.key(of: slot).pointee
            broken.unless(slotIndex(of: key) == index, "the index finds key \(index) where it is")
            broken.unless(slot.pointee.hash == KeyIndex.hash(key), "the hash of key \(index) is known")
            guard core.collects, slot.pointee.gate.count > 0 else { return }
            broken.unless(
                Cells.collected(slot.pointee.companion).count == slot.pointee.gate.count,
                "key \(index) keeps the right number of values")
        }
        core.keyExecutions.forEach { index, executions in
            guard core.collects, executions.pointee.hasValues else { return }
            broken.unless(
                Cells.collected(executions.pointee.companion).count == executions.pointee.waiting?.size,
                "what waits at executions \(index) is counted")
        }
        return broken.rules
    }
}

extension SlotEngine {
    /// The rules of the core's own data that do not hold.
    fileprivate func checkInvariants() -> [String] {
        var broken = InvariantReport()
        broken.unless(actionCount == 0 && !movesAlarm, "every action has been done")
        checkSlots(&broken)
        checkExecutions(&broken)
        checkCounters(&broken)
        broken.rules += deadlines.checkInvariants().map { "deadlines: \($0)" }
        broken.rules += idleQueue.checkInvariants().map { "idle queue: \($0)" }
        broken.rules += keyIndex.checkInvariants { slots[$0].pointee.hash }.map { "index: \($0)" }
        broken.rules += slots.checkInvariants().map { "slots: \($0)" }
        broken.rules += keyExecutions.checkInvariants().map { "executions: \($0)" }
        return broken.rules
    }

    private func checkSlots(_ broken: inout InvariantReport) {
        let (knownDeadlines, knownIdle) = (DeadlineQueue.Lookup(deadlines), DeadlineQueue.Lookup(idleQueue))
        var (open, resting) = (0, 0)
        slots.forEach { index, slot in
            let slot = slot.pointee
            let gate = slot.gate
            broken.unless(slot.gauge != .forgotten, "what is forgotten has been released: key \(index)")
            broken.unless(gate.count == 0 || gate.isOpen, "the gate of key \(index) is open when something is pending")
            broken.unless(
                gate.phase != .idle || slot.executions != .max, "key \(index) is forgotten when nothing is left of it")
            broken.unless(gate.phase != .full || gate.count > 0, "the gate of key \(index) is full of something")
            broken.unless(
                gate.phase != .resting || setup.policy.spacing > .zero, "key \(index) rests only for its spacing")
            let entry = DeadlineQueue.Entry(at: slot.scheduled, slot: index, burst: slot.burst)
            if gate.count > 0 {
                broken.unless(slot.scheduled <= gate.pendingDue(by: setup.policy), "key \(index) is looked at in time")
                broken.unless(nextAlarm <= slot.scheduled, "the alarm is in time for key \(index)")
                broken.unless(
                    slots.isCurrent(entry, pending: true) && knownDeadlines.contains(entry),
                    "the deadlines have key \(index)")
            } else if gate.phase != .idle {
                broken.unless(slot.scheduled <= gate.nextChange(by: setup.policy), "key \(index) is forgotten in time")
                broken.unless(
                    slots.isCurrent(entry, pending: false) && knownIdle.contains(entry),
                    "key \(index) will be forgotten")
            }
            let isWaiting = slot.executions != .max && keyExecutions[slot.executions].pointee.waiting != nil
            let isOpen = gate.isOpen || isWaiting
            broken.unless((slot.gauge == .open) == isOpen, "key \(index) is counted as open exactly if it is")
            let isResting = !isOpen && gate.phase == .resting
            broken.unless((slot.gauge == .resting) == isResting, "key \(index) is counted as resting exactly if it is")
            if isOpen { open += 1 }
            if isResting { resting += 1 }
            broken.unless(slot.burst <= burstCount, "the burst of key \(index) has begun")
            broken.unless(
                slot.executions == .max || keyExecutions[slot.executions].pointee.slot == index,
                "the executions of key \(index) are its own")
        }
        broken.unless(
            keyIndex.count == slots.count && keyCount == slots.count, "the index has as many keys as there are")
        broken.unless(openCount == open, "\(open) keys are counted as open, not \(openCount)")
        broken.unless(restingCount == resting, "\(resting) keys are counted as resting, not \(restingCount)")
        broken.unless(recentSlot == .max || slots.contains(recentSlot), "the most recent key is there")
        broken.unless(
            recent == (slots.contains(recentSlot) ? slots[recentSlot] : nil), "the most recent key lies where it did")
        let bound = 2 * slots.count + 64
        broken.unless(deadlines.count <= bound || deadlines.isCompacted, "the deadlines are compacted")
        broken.unless(idleQueue.count <= bound || idleQueue.isCompacted, "the idle queue is compacted")
    }

    private func checkExecutions(_ broken: inout InvariantReport) {
        var running = 0
        var awaited: [WaiterID: Int] = [:]
        keyExecutions.forEach { index, executions in
            let executions = executions.pointee
            let key = "key \(executions.slot)"
            let runs = executions.others + (executions.run.map { [$0] } ?? [])
            running += runs.filter { $0.state != .telling }.count
            broken.unless(
                runs.allSatisfy { if case .telling(let steps) = $0.phase { steps > 0 } else { true } },
                "what has been told of \(key) is gone")
            broken.unless(
                slots.contains(executions.slot) && slots[executions.slot].pointee.executions == index,
                "the executions \(index) have a key")
            broken.unless(!runs.isEmpty || executions.waiting != nil, "\(key) has executions")
            let running = setup.whileRunning == .replace ? runs.filter { $0.phase == .running } : runs
            broken.unless(running.count < 2 || setup.whileRunning == .concurrent, "the runs of \(key) do not overlap")
            if let waiting = executions.waiting {
                broken.unless(
                    !waiting.isHeld || runs.allSatisfy { $0.state == .telling }, "\(key) holds nothing while it runs")
                let isBlocked =
                    waiting.isHeld
                    || setup.whileRunning != .concurrent
                        && !runs.allSatisfy { setup.whileRunning == .replace && $0.state != .telling }
                let position = Int(executions.queuePosition)
                let isQueued = position < startQueue.count && startQueue[position].executions == index
                broken.unless(executions.hasValues && waiting.size > 0, "\(key) has the values that wait")
                broken.unless(
                    !isQueued || startQueue[position].dueNumber == waiting.dueNumber,
                    "\(key) is queued where it should be")
                broken.unless(isBlocked != isQueued, "what waits at \(key) waits for the key or in the queue")
                broken.unless(
                    isBlocked || runningCount >= setup.maxConcurrent || !sweeps.isEmpty
                        || awaitsLimit && nextAlarm <= max(limiter.next, now),
                    "what waits at \(key) could not start, and will when it can")
            } else {
                broken.unless(
                    executions.queuePosition == .max && !executions.hasValues,
                    "\(key) is not queued with nothing waiting")
            }
            for waiter in runs.flatMap({ $0.waiters }) + (executions.waiting?.waiters.map { $0.id } ?? []) {
                awaited[waiter, default: 0] += 1
            }
        }
        broken.unless(nextAlarm <= timeLimitAlarm, "the alarm is in time for the time limits")
        broken.unless(runningCount == running, "\(running) executions are running, not \(runningCount)")
        broken.unless(runningCount <= setup.maxConcurrent, "no more executions run than may")
        for waiter in sweeps.compactMap({ $0.waiter }) { awaited[waiter, default: 0] += 1 }
        broken.unless(waiters == awaited, "every caller waits for as many executions as have it")
        broken.unless(startQueue.isInOrder, "the queue of starts is a heap")
        for child in 0..<startQueue.count {
            let entry = startQueue[child]
            broken.unless(
                keyExecutions[entry.executions].pointee.queuePosition == UInt32(child),
                "the position of \(child) is known")
        }
    }

    private func checkCounters(_ broken: inout InvariantReport) {
        var (pending, waiting, running, held) = (0, 0, 0, 0)
        slots.forEach { _, slot in
            let count = slot.pointee.gate.count
            pending += setup.combination == .collect ? count : min(count, 1)
        }
        keyExecutions.forEach { _, executions in
            let size = executions.pointee.waiting?.size ?? 0
            if executions.pointee.isHeld { (pending, held) = (pending + size, held + 1) } else { waiting += size }
            let runs = executions.pointee.others + (executions.pointee.run.map { [$0] } ?? [])
            running += runs.filter { $0.state != .telling && $0.phase != .replaced }.reduce(0) { $0 + $1.size }
        }
        broken.unless(heldCount == held, "\(held) keys hold values, not \(heldCount)")
        broken.unless(waitingSubmits == waiting, "\(waiting) submits wait, not \(waitingSubmits)")
        broken.unless(
            tally.pending == pending + waiting, "\(pending + waiting) submits are pending, not \(tally.pending)")
        broken.unless(tally.running == running, "\(running) submits are running, not \(tally.running)")
        broken.unless(tally.addUp, "the counters add up")
    }
}
