// Section 7: what becomes of a due value.
extension ReferenceModel {
    mutating func fallDue(_ index: Int, _ values: [Int], _ due: ReferenceGate.Due) {
        if setup.whileRunning == .skip, !keys[index].running.isEmpty, due.edge != .flush {
            for value in values { fates[value] = .absorbed }
            return
        }
        turns += 1
        var new = Waiting(values: values, due: due, turn: turns)
        if let old = keys[index].waiting {
            // Counts are added, `first` is the earlier's, edge and instant are the later's.
            new.values = combine(old.values, with: values)
            new.due.count += old.due.count
            new.due.first = old.due.first
        }
        keys[index].waiting = new
        if setup.whileRunning == .cancelRunning { tell(index, .superseded) }
        giveSlots()
    }

    /// Tells the running executions of a key to stop, unless they were told before.
    mutating func tell(_ index: Int, _ fate: ReferenceFate) {
        for run in keys[index].running.indices where keys[index].running[run].fateIfItThrows == .failed {
            keys[index].running[run].fateIfItThrows = fate
            events.append(.stop(keys[index].running[run].number))
        }
    }

    /// Starts what waits for nothing but a slot, in order of due instants, equal ones in the order in which they fell due.
    mutating func giveSlots() {
        while runningExecutions < setup.maxConcurrent ?? .max {
            let ready = keys.indices.compactMap { index -> (at: Int, turn: Int, index: Int)? in
                guard let waiting = keys[index].waiting else { return nil }
                if setup.whileRunning != .concurrent, !keys[index].running.isEmpty { return nil }
                return (waiting.due.at, waiting.turn, index)
            }
            guard let next = ready.min(by: { ($0.at, $0.turn) < ($1.at, $1.turn) }) else { return }
            start(next.index)
        }
    }

    mutating func start(_ index: Int) {
        guard let waiting = keys[index].waiting else { return }
        keys[index].waiting = nil
        let key = keys[index].key
        let execution = ReferenceExecution(
            run: executions.count + 1, key: key, values: waiting.values, count: waiting.due.count,
            edge: waiting.due.edge, at: waiting.due.at, first: waiting.due.first)
        executions.append(execution)
        events.append(.start(execution))
        for value in waiting.values { fates[value] = .running }
        keys[index].running.append(Run(number: execution.run, values: waiting.values))
        for watch in watches.indices where watches[watch].keys.contains(key) {
            watches[watch].keys.removeAll { $0 == key }
            watches[watch].runs.append(execution.run)
        }
    }

    mutating func cancelWaiting(_ index: Int) {
        for value in keys[index].waiting?.values ?? [] { fates[value] = .cancelled }
        keys[index].waiting = nil
        let key = keys[index].key
        for watch in watches.indices { watches[watch].keys.removeAll { $0 == key } }
        resumeWatches()
    }

    /// The handler of an execution, by its number, has returned or thrown.
    public mutating func ended(_ run: Int, threw: Bool = false) {
        for index in keys.indices {
            for ended in keys[index].running where ended.number == run {
                for value in ended.values { fates[value] = threw ? ended.fateIfItThrows : .executed }
            }
            keys[index].running.removeAll { $0.number == run }
        }
        for watch in watches.indices { watches[watch].runs.removeAll { $0 == run } }
        resumeWatches()
        giveSlots()
    }

    /// The numbers of the executions that are running.
    public var running: [Int] { keys.flatMap { $0.running }.map { $0.number }.sorted() }

    /// How many executions are running.
    public var runningExecutions: Int { keys.reduce(0) { $0 + $1.running.count } }

    /// Waits under a ticket for what runs and waits at a key, or at all keys.
    ///
    /// - Returns: Whether there is anything to wait for.
    public mutating func watch(_ ticket: Int, _ key: String? = nil) -> Bool {
        let watched = keys.filter { key == nil || $0.key == key }
        let watch = Watch(
            ticket: ticket, runs: watched.flatMap { $0.running }.map { $0.number },
            keys: watched.filter { $0.waiting != nil }.map { $0.key })
        guard !watch.runs.isEmpty || !watch.keys.isEmpty else { return false }
        watches.append(watch)
        return true
    }

    mutating func resumeWatches() {
        for watch in watches where watch.runs.isEmpty && watch.keys.isEmpty { events.append(.resume(watch.ticket)) }
        watches.removeAll { $0.runs.isEmpty && $0.keys.isEmpty }
    }
}
