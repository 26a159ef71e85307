// Section 7: what becomes of a due value.
extension ReferenceModel {
    mutating func fallDue(_ index: Int, _ values: [Int], _ due: ReferenceGate.Due) {
        if setup.whileRunning == .skip, keys[index].running.contains(where: { $0.telling == nil }), due.edge != .flush {
            for value in values { fates[value] = .absorbed }
            return
        }
        dueCount += 1
        var new = Waiting(values: values, due: due, queuedAt: due.at, dueNumber: dueCount)
        if let old = keys[index].waiting {
            // Counts are added, `first` is the earlier's, edge and instant are the later's.
            new.values = combine(old.values, with: values)
            new.due.count += old.due.count
            new.due.first = old.due.first
            new.isRest = old.isRest
        }
        keys[index].waiting = new
        queueIfRest(index)
        if setup.whileRunning == .cancelRunning { cancelRuns(index, .superseded) }
        startWaiting()
    }

    /// Cancels the running executions of a key that are not cancelled yet.
    mutating func cancelRuns(_ index: Int, _ fate: ReferenceFate) {
        for run in keys[index].running.indices
        where keys[index].running[run].fateIfItThrows == .failed && keys[index].running[run].telling == nil {
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

    func isBlocked(_ index: Int) -> Bool { setup.whileRunning != .concurrent && !keys[index].running.isEmpty }

    /// Starts what waits for a concurrency slot alone, in order of due instants, equal ones in the order in which they fell
    /// due.
    mutating func startWaiting() {
        while runningExecutions < setup.maxConcurrent ?? .max {
            let ready = keys.indices.compactMap { index -> (at: Int, dueNumber: Int, index: Int)? in
                guard let waiting = keys[index].waiting, !isBlocked(index) else { return nil }
                return (waiting.queuedAt, waiting.dueNumber, index)
            }
            guard let next = ready.min(by: { ($0.at, $0.dueNumber) < ($1.at, $1.dueNumber) }) else { return }
            start(next.index)
        }
    }

    mutating func start(_ index: Int) {
        guard var waiting = keys[index].waiting else { return }
        keys[index].waiting = nil
        let key = keys[index].key
        let values = Array(waiting.values.prefix(setup.maxBatch ?? .max))
        let rest = Array(waiting.values.dropFirst(values.count))
        let count = rest.isEmpty ? waiting.due.count : values.count
        let execution = ReferenceExecution(
            run: executions.count + 1, key: key, values: values, count: count, edge: waiting.due.edge,
            at: waiting.due.at, first: waiting.due.first)
        executions.append(execution)
        events.append(.start(execution))
        for value in values { fates[value] = .running }
        keys[index].running.append(Run(number: execution.run, values: values))
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
        for value in keys[index].waiting?.values ?? [] { fates[value] = .cancelled }
        keys[index].waiting = nil
        let key = keys[index].key
        for waiter in waiters.indices { waiters[waiter].keys[key] = nil }
        resumeWaiters()
    }

    /// Reports that the handler of an execution, by its number, has returned or thrown. Its outcome is told in a number of
    /// steps.
    public mutating func ended(_ run: Int, threw: Bool = false, telling steps: Int = 0) {
        for index in keys.indices {
            for ended in keys[index].running.indices where keys[index].running[ended].number == run {
                keys[index].running[ended].telling = steps
                let ended = keys[index].running[ended]
                for value in ended.values { fates[value] = threw ? ended.fateIfItThrows : .executed }
            }
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
