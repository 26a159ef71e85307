// Restarting: newer values interrupt runs, whose values go back in front of them.
extension DurableReference {
    /// A newer value was submitted, or fell due.
    mutating func interrupt(_ key: String, at instant: Int) {
        guard interrupting != nil, let index = find(key, .claimed, .backoff), !spans[index].isExempt,
            !spans[index].isInterrupted, mayGoBack(spans[index])
        else { return }
        if spans[index].place == .backoff { return putBack(index, at: instant) }
        let maxWait = keys.first { $0.key == key }?.gate.policy.maxWait
        if let maxWait, later(spans[index].first, by: maxWait) <= instant { return }
        spans[index].isInterrupted = true
    }

    /// Whether nothing that came after a run has ended.
    private func mayGoBack(_ run: Span) -> Bool {
        !spans.contains { span in
            guard case .ended = span.place else { return false }
            return span.key == run.key && span.numbers.lowerBound > run.numbers.upperBound
        }
    }

    /// Whether the values of a run that a worker has go back unless it completes.
    func goesBack(_ run: Span) -> Bool { run.place == .claimed && run.isInterrupted && mayGoBack(run) }

    /// Puts the values of an interrupted run back.
    ///
    /// - Returns: Whether they go back.
    mutating func putBackIfInterrupted(_ index: Int, at now: Int) -> Bool {
        if goesBack(spans[index]) {
            putBack(index, at: now)
            return true
        }
        if spans[index].isInterrupted {
            spans[index].isInterrupted = false
            spans[index].isExempt = true
        }
        return false
    }

    private mutating func putBack(_ index: Int, at now: Int) {
        var run = spans.remove(at: index)
        restarted += 1
        (run.run, run.fence, run.owner, run.attempt, run.error) = (nil, 0, 0, 0, nil)
        (run.isInterrupted, run.since, run.isSnoozed, run.snoozes) = (false, nil, false, 0)
        let wasInBackoff = run.place == .backoff
        if let ready = find(run.key, .ready) {
            spans[ready].join(behind: run, by: combine)
            if spans[ready].since != nil || wasInBackoff { spans[ready].since = now }
        } else {
            run.place = .held
            spans.append(run)
        }
    }

    /// Returns the runs of a worker that newer values have interrupted.
    public mutating func interruptions(of owner: Int, at now: Int) -> [Int] {
        settle(at: now)
        return spans.filter { $0.place == .claimed && $0.owner == owner && $0.isInterrupted }.compactMap(\.run).sorted()
    }

    /// Records that the values of a run have gone back with the end of its lease.
    public mutating func observeReturn(of key: String, _ number: Int, at now: Int) {
        guard let index = find(key, .claimed), spans[index].numbers.contains(number) else { return }
        if !putBackIfInterrupted(index, at: now) { findings.append("#\(number) of \(key) went back") }
    }

    /// Takes a touch.
    ///
    /// - Returns: Whether the gate was open.
    public mutating func touch(_ key: String, wait: Int?, at now: Int) -> Bool {
        settle(at: now)
        guard let index = keys.firstIndex(where: { $0.key == key }) else { return false }
        let policy = keys[index].gate.policy
        keys[index].gate.policy = setup.policy
        defer { keys[index].gate.policy = policy }
        keys[index].gate.touch(at: now, wait: wait)
        return policy.kind == .debounce && keys[index].gate.openUntil != nil
    }
}

extension DurableReference.Span {
    /// Puts older values in front.
    mutating func join(behind older: Self, by combine: ([Int], [Int]) -> [Int]) {
        values = combine(older.values, values)
        origins = combine(older.origins, origins)
        numbers = older.numbers.lowerBound...numbers.upperBound
        count += older.count
        first = older.first
    }
}
