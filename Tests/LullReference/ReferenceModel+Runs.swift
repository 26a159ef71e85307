// Section 7: what becomes of a due value.
extension ReferenceModel {
    mutating func fallDue(_ index: Int, _ values: [Int], _ due: ReferenceGate.Due) {
        if setup.whileRunning == .skip, keys[index].running.contains(where: { $0.telling == nil }), due.cause != .flush
        {
            for value in values { fates[value] = .absorbed }
            return
        }
        if setup.whileRunning == .replace { replaceRuns(index) }
        dueCount += 1
        var new = Waiting(values: values, due: due, queuedAt: due.at, dueNumber: dueCount)
        if let old = keys[index].waiting {
            // Counts are added, `first` is the earlier's, edge and instant are the later's.
            new.values = combine(old.values, with: values)
            new.due.count += old.due.count
            new.due.first = old.due.first
            new.isRest = old.isRest
        } else if let held = keys[index].held {
            new.values = combine(held.values, with: values)
            new.due.count += held.due.count
            new.due.first = held.due.first
            keys[index].held = nil
        }
        keys[index].waiting = new
        queueIfRest(index)
        interruptRuns(index, at: due.at)
        startUnlimited()
    }

    /// Makes room for a newer value that is due, or submitted, at an instant, if the rule says so.
    mutating func interruptRuns(_ index: Int, at instant: Int) {
        if setup.whileRunning == .cancelRunning { cancelRuns(index, .superseded) }
        guard setup.whileRunning == .restart else { return }
        for number in keys[index].running.indices {
            let run = keys[index].running[number]
            let limit = setup.policy.kind == .debounce ? setup.policy.maxWait.map { later(run.first, by: $0) } : nil
            guard run.fateIfItThrows == .failed, run.telling == nil, !run.isInterrupted, !run.isExpired,
                limit.map({ instant < $0 }) ?? true
            else { continue }
            keys[index].running[number].isInterrupted = true
            events.append(.stop(run.number))
        }
    }

    /// The submits of what runs are superseded.
    private mutating func replaceRuns(_ index: Int) {
        for number in keys[index].running.indices {
            let run = keys[index].running[number]
            guard run.telling == nil, !run.isReplaced else { continue }
            keys[index].running[number].isReplaced = true
            let isCancelled = run.fateIfItThrows == .cancelled
            for value in run.values { fates[value] = isCancelled ? .cancelled : .superseded }
            if !isCancelled, !run.isExpired { events.append(.stop(run.number)) }
        }
    }

    /// Lets a submit join what runs, if the rule says so, and returns whether it does.
    mutating func joins(_ number: Int, _ index: Int) -> Bool {
        let key = keys[index]
        guard setup.whileRunning == .share, key.values.isEmpty, key.waiting == nil, let run = key.running.first,
            run.telling == nil, run.fateIfItThrows == .failed, !run.isExpired
        else { return false }
        keys[index].running[0].values.append(number)
        keys[index].running[0].count += 1
        fates[number] = .running
        return true
    }

    /// What is held falls due, with the cause `flush`.
    mutating func flushHeld(_ index: Int) {
        guard let held = keys[index].held else { return }
        keys[index].held = nil
        dueCount += 1
        let due = ReferenceGate.Due(at: now, cause: .flush, count: held.due.count, first: held.due.first)
        keys[index].waiting = Waiting(values: held.values, due: due, queuedAt: now, dueNumber: dueCount)
        keys[index].gate.noteDue(at: now)
        startUnlimited()
    }

    /// The values of an interrupted execution are pending again: in front of what waits, or held.
    private mutating func putBack(_ run: Run, _ index: Int) {
        let key = keys[index].key
        restarts += 1
        for value in run.values { fates[value] = .pending }
        keys[index].running.removeAll { $0.number == run.number }
        if var waiting = keys[index].waiting {
            waiting.values = combine(run.values, with: waiting.values)
            waiting.due.count += run.count
            waiting.due.first = min(run.first, waiting.due.first)
            keys[index].waiting = waiting
            moveWaiters(from: run, to: key)
            queueIfRest(index)
        } else {
            let due = ReferenceGate.Due(at: now, cause: .flush, count: run.count, first: run.first)
            keys[index].held = Waiting(values: run.values, due: due, queuedAt: now, dueNumber: 0)
            guard flushesHeld == true, keys[index].gate.due == nil else { return }
            moveWaiters(from: run, to: key)
            flushHeld(index)
        }
    }

    /// Who waits for an interrupted execution waits for the one that gets its values.
    private mutating func moveWaiters(from run: Run, to key: String) {
        for waiter in waiters.indices where waiters[waiter].runs.contains(run.number) {
            waiters[waiter].runs.removeAll { $0 == run.number }
            if waiters[waiter].keys[key] == nil { waiters[waiter].keys[key] = run.values.last }
        }
    }

    /// Cancels the running executions of a key that are not cancelled yet.
    mutating func cancelRuns(_ index: Int, _ fate: ReferenceFate) {
        for run in keys[index].running.indices
        where keys[index].running[run].fateIfItThrows == .failed && keys[index].running[run].telling == nil
            && !keys[index].running[run].isInterrupted && !keys[index].running[run].isReplaced
            && !keys[index].running[run].isExpired
        {
            keys[index].running[run].fateIfItThrows = fate
            events.append(.stop(keys[index].running[run].number))
        }
    }

    /// Queues the rest of a batch behind all that waits by now.
    mutating func queueIfRest(_ index: Int) {
        guard keys[index].waiting?.isRest == true, !isBlocked(index) else { return }
        dueCount += 1
        keys[index].waiting?.dueNumber = dueCount
        keys[index].waiting?.queuedAt = now
    }

    func isBlocked(_ index: Int) -> Bool {
        switch setup.whileRunning {
        case .concurrent: false
        // An outcome that is being told comes before newer ones.
        case .replace: keys[index].running.contains { $0.telling != nil }
        case .queue, .cancelRunning, .restart, .skip, .share: !keys[index].running.isEmpty
        }
    }

    /// Starts what waits for a concurrency slot and the limit alone, in order of due instants, equal ones in the order
    /// in which they fell due.
    mutating func startWaiting() {
        while runningExecutions < setup.maxConcurrent ?? .max, setup.limit?.next(tat) ?? .min <= now {
            let ready = keys.indices.compactMap { index -> (at: Int, dueNumber: Int, index: Int)? in
                guard let waiting = keys[index].waiting, !isBlocked(index) else { return nil }
                return (waiting.queuedAt, waiting.dueNumber, index)
            }
            guard let next = ready.min(by: { ($0.at, $0.dueNumber) < ($1.at, $1.dueNumber) }) else { return }
            limitedStarts.append((executions.count + 1, now))
            start(next.index)
        }
    }

    /// The limit: when the next execution would start if all so far had been spread evenly.
    var tat: Int? {
        guard let limit = setup.limit else { return nil }
        return limitedStarts.reduce(nil) { tat, start in later(max(tat ?? .min, start.at), by: limit.interval) }
    }

    /// Something is due: without a limit it may start before the next thing falls due.
    mutating func startUnlimited() { if setup.limit == nil { startWaiting() } }

    /// With a limit, everything due at an instant comes before the starts.
    mutating func startLimited() { if setup.limit != nil { startWaiting() } }

    /// Whether something waits for the limit alone.
    var waitsForLimit: Bool {
        setup.limit != nil && runningExecutions < setup.maxConcurrent ?? .max
            && keys.indices.contains { keys[$0].waiting != nil && !isBlocked($0) }
    }

    mutating func start(_ index: Int) {
        guard var waiting = keys[index].waiting else { return }
        keys[index].waiting = nil
        let key = keys[index].key
        let values = Array(waiting.values.prefix(setup.maxBatch ?? .max))
        let rest = Array(waiting.values.dropFirst(values.count))
        let count = rest.isEmpty ? waiting.due.count : values.count
        let execution = ReferenceExecution(
            run: executions.count + 1, key: key, values: values, count: count, cause: waiting.due.cause,
            at: waiting.due.at, first: waiting.due.first)
        executions.append(execution)
        events.append(.start(execution))
        for value in values { fates[value] = .running }
        keys[index].running.append(
            Run(number: execution.run, values: values, count: count, first: waiting.due.first, startedAt: now))
        for waiter in waiters.indices {
            guard let last = waiters[waiter].keys[key] else { continue }
            waiters[waiter].runs.append(execution.run)
            // Where only one value is kept, this one may have replaced the one that the caller waits for.
            if setup.combination == .collect, rest.contains(last) { continue }
            waiters[waiter].keys[key] = nil
        }
        guard !rest.isEmpty else { return }
        waiting.values = rest
        waiting.due.count -= count
        waiting.isRest = true
        keys[index].waiting = waiting
        queueIfRest(index)
    }

    mutating func cancelWaiting(_ index: Int) {
        for value in (keys[index].waiting?.values ?? []) + (keys[index].held?.values ?? []) {
            fates[value] = .cancelled
        }
        keys[index].waiting = nil
        keys[index].held = nil
        let key = keys[index].key
        for waiter in waiters.indices { waiters[waiter].keys[key] = nil }
        resumeWaiters()
    }

    /// Reports that the handler of an execution, by its number, has returned or thrown, or was not called since the
    /// value is unchanged. Its outcome is told in a number of steps.
    public mutating func ended(_ run: Int, _ ending: ReferenceEnding = .returned, telling steps: Int = 0) {
        let threw = ending == .threw
        if ending == .unchanged { limitedStarts.removeAll { $0.run == run } }
        for index in keys.indices {
            for ended in keys[index].running.indices where keys[index].running[ended].number == run {
                if threw, keys[index].running[ended].isInterrupted {
                    if flushesHeld != false || keys[index].waiting != nil {
                        putBack(keys[index].running[ended], index)
                        break
                    }
                    keys[index].running[ended].fateIfItThrows = .cancelled
                }
                keys[index].running[ended].telling = keys[index].running[ended].isReplaced ? 0 : steps
                let ended = keys[index].running[ended]
                if ended.isReplaced { break }
                for value in ended.values {
                    switch ending {
                    case .returned: fates[value] = .executed
                    case .threw: fates[value] = ended.fateIfItThrows
                    case .unchanged: fates[value] = .absorbed
                    }
                }
            }
        }
        for waiter in waiters.indices where !running.contains(run) && !telling.contains(run) {
            waiters[waiter].runs.removeAll { $0 == run }
        }
        leaveIfTold(run)
        startWaiting()
    }

    /// Reports the end of one of the steps of telling an outcome.
    public mutating func told(_ run: Int) {
        for index in keys.indices {
            for told in keys[index].running.indices where keys[index].running[told].number == run {
                keys[index].running[told].telling = keys[index].running[told].telling.map { $0 - 1 }
            }
        }
        leaveIfTold(run)
        startWaiting()
    }

    private mutating func leaveIfTold(_ run: Int) {
        for index in keys.indices where keys[index].running.contains(where: { $0.number == run && $0.telling == 0 }) {
            keys[index].running.removeAll { $0.number == run }
            if setup.whileRunning != .concurrent { queueIfRest(index) }
            for waiter in waiters.indices { waiters[waiter].runs.removeAll { $0 == run } }
        }
        resumeWaiters()
    }

    /// The numbers of the executions that are running.
    public var running: [Int] { numbers { $0.telling == nil } }

    /// The numbers of the executions that have ended, and whose outcomes are being told.
    public var telling: [Int] { numbers { $0.telling != nil } }

    private func numbers(_ condition: (Run) -> Bool) -> [Int] {
        keys.flatMap { $0.running }.filter(condition).map { $0.number }.sorted()
    }

    /// The number of executions that are running.
    public var runningExecutions: Int { running.count }

    /// Lets a caller wait for what runs and waits at a key, or at all keys.
    ///
    /// - Returns: Whether there is anything to wait for.
    public mutating func addWaiter(_ id: Int, _ key: String? = nil) -> Bool {
        let awaited = keys.filter { key == nil || $0.key == key }
        let waiter = Waiter(
            id: id, runs: awaited.flatMap { $0.running }.map { $0.number },
            keys: awaited.reduce(into: [:]) { keys, key in
                if let last = key.waiting?.values.last { keys[key.key] = last }
            })
        guard !waiter.runs.isEmpty || !waiter.keys.isEmpty else { return false }
        waiters.append(waiter)
        return true
    }

    /// Withdraws a caller, if it has not been resumed.
    public mutating func removeWaiter(_ id: Int) {
        waiters.removeAll { $0.id == id }
    }

    mutating func resumeWaiters() {
        for waiter in waiters where waiter.runs.isEmpty && waiter.keys.isEmpty { events.append(.resume(waiter.id)) }
        waiters.removeAll { $0.runs.isEmpty && $0.keys.isEmpty }
    }
}
