// The time limit of executions: section 7 of the semantics.
extension SlotEngine {
    /// When the next execution is to be told to stop, or is overdue, unless it has ended by then; nil for never.
    var nextTimeLimit: CoreInstant? {
        guard setup.hasTimeLimit else { return nil }
        guard let limit = timeLimits.front?.at else { return overdueTimes.front?.at }
        return min(limit, overdueTimes.front?.at ?? .farFuture)
    }

    /// The same for an alarm; the far future for never.
    var timeLimitAlarm: CoreInstant { nextTimeLimit ?? .farFuture }

    /// Notes that an execution has started, which may run for as long as the limit says.
    mutating func limitTime(of run: RunID) {
        let end = now.advanced(by: setup.timeLimit)
        // What is due in the far future is never due by itself.
        guard end < .farFuture else { return }
        timeLimits.push(.init(at: end, run: run), bound: 2 * runningCount + 64) {
            slots.isRunning($0.run, keyExecutions)
        }
        guard timeLimitAlarm < nextAlarm else { return }
        nextAlarm = timeLimitAlarm
        movesAlarm = true
    }

    /// Does what time limits ask for until the present instant, at which a call is made.
    ///
    /// What was due at a key before the limit of its execution is done before.
    mutating func passTimeLimits() {
        guard setup.hasTimeLimit else { return }
        while let next = nextTimeLimit, next <= now { passFirstTimeLimit() }
    }

    /// Tells the execution that has a time limit next to stop, or says that it is overdue, unless it has ended.
    mutating func passFirstTimeLimit() {
        if let entry = timeLimits.front, entry.at == nextTimeLimit {
            timeLimits.removeFront()
            if state(of: entry.run).isRunning { stop(entry) }
        } else if let entry = overdueTimes.front {
            overdueTimes.removeFront()
            if state(of: entry.run).isRunning { noteOverdue(entry.run) }
        }
    }

    private mutating func stop(_ entry: TimeLimitQueue.Entry) {
        let (run, slot) = (entry.run, slots[entry.run.slot])
        if applyPendingSweeps(to: run.slot), slot.pointee.gate.count > 0,
            slot.pointee.gate.pendingDue(by: policy) <= entry.at
        {
            settle(run.slot, at: now)
            forgetWhenIdle(run.slot)
        }
        guard let executions = executions(of: slot), let found = executions.pointee.find(run.serial) else { return }
        if found.phase == .running {
            executions.pointee.changeRuns { if $0.serial == run.serial { $0.phase = .expired } }
            add(.cancel(run))
        }
        if setup.isSynchronous {
            if found.hasEntered { noteOverdue(run) }
        } else if case let end = entry.at.advanced(by: setup.timeLimit), end < .farFuture {
            overdueTimes.push(.init(at: end, run: run), bound: 2 * runningCount + 64) {
                slots.isRunning($0.run, keyExecutions)
            }
        }
    }

    private mutating func noteOverdue(_ run: RunID) {
        tally.overdue += 1
        add(.overdue(run))
    }
}

extension Slab<SlotEngine.Slot> {
    /// Whether the handler of an execution has not ended.
    fileprivate func isRunning(_ run: RunID, _ executions: borrowing Slab<KeyExecutions>) -> Bool {
        guard contains(run.slot), case let index = self[run.slot].pointee.executions, index != .max else {
            return false
        }
        return executions[index].pointee.find(run.serial)?.state.isRunning == true
    }
}
