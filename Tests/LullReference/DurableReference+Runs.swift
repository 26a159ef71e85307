// The claims of workers.
extension DurableReference {
    /// A run as a store has handed it out.
    public struct Handed: Hashable, Sendable {
        /// The key.
        public var key: String
        /// The number of the run.
        public var run: Int
        /// The number of the claim.
        public var fence: Int
        /// The numbers of its submits.
        public var numbers: ClosedRange<Int>
        /// The values that the handler gets.
        public var values: [Int]
        /// The submits behind it.
        public var count: Int
        /// Why it fell due.
        public var cause: ReferenceEdge
        /// When it fell due.
        public var due: Int
        /// The instant of the oldest submit.
        public var first: Int
        /// The attempt.
        public var attempt: Int

        /// Creates a run from its parts.
        public init(
            key: String, run: Int, fence: Int, numbers: ClosedRange<Int>, values: [Int], count: Int,
            cause: ReferenceEdge, due: Int, first: Int, attempt: Int
        ) {
            self.key = key
            self.run = run
            self.fence = fence
            self.numbers = numbers
            self.values = values
            self.count = count
            self.cause = cause
            self.due = due
            self.first = first
            self.attempt = attempt
        }
    }

    /// A worker's claim.
    public struct Claim: Hashable, Sendable {
        /// The worker.
        public var owner: Int
        /// The length of the lease.
        public var lease: Int
        /// The greatest number of times that a run is handed out.
        public var maxAttempts: Int
        /// The runs that the worker holds.
        public var holding: [Int]
        /// Those of them that it does not take over when their leases have ended.
        public var hanging: [Int]
        /// The greatest number of runs that it requests.
        public var limit: Int

        /// Creates a claim from its parts.
        public init(
            owner: Int, lease: Int, maxAttempts: Int, holding: [Int], hanging: [Int] = [], limit: Int
        ) {
            self.owner = owner
            self.lease = lease
            self.maxAttempts = maxAttempts
            self.holding = holding
            self.hanging = hanging
            self.limit = limit
        }

        /// Whether a run is one that its worker lets go without taking it over.
        func keeps(_ span: Span) -> Bool {
            (span.place == .claimed || span.place == .backoff) && hanging.contains(span.run ?? 0)
        }
    }

    /// Checks the answer to a claim: these runs have to be the right ones, in the right order.
    ///
    /// - Returns: Runs whose last lease has ended, or whose values go back with the end of their lease, which the store
    ///   may notice now or with a later claim: by a submit of each.
    public mutating func claim(
        _ claim: Claim, at now: Int, handed: [Handed]
    ) -> [(key: String, number: Int)] {
        settle(at: now)
        var handed = handed[...]
        if isPaused(at: now) {
            requireAllTaken(handed)
            return []
        }
        let lost = spans.indices.filter { index in
            spans[index].place == .claimed && spans[index].owner == claim.owner
                && !claim.holding.contains(spans[index].run ?? 0)
        }
        for _ in lost {
            guard let next = handed.popFirst() else {
                findings.append("a run whose hand-over was lost is not handed out again")
                return []
            }
            guard let index = lost.first(where: { spans[$0].key == next.key && spans[$0].run == next.run }) else {
                findings.append("\(next) is no run whose hand-over was lost")
                return []
            }
            give(index, claim, next, at: now)
        }
        var room = claim.limit - lost.count
        let isLimited = setup.limit != nil || setup.maxConcurrent != nil
        while room > 0, setup.limit?.next(tat) ?? .min <= now {
            let startable = spans.filter {
                ($0.start ?? .max) <= now && !isBlocked($0) && (hasSlot || $0.place == .claimed) && !claim.keeps($0)
            }
            guard let start = startable.compactMap(\.start).min() else { break }
            let group = startable.filter { $0.start == start }
            let giving = group.filter { !vanishes($0, claim) }
            let dying = group.filter { vanishes($0, claim) }
            // Each start may be the last one that is allowed.
            for _ in 0..<min(isLimited ? 1 : room, giving.count) {
                guard let next = handed.popFirst() else {
                    findings.append("of \(giving.map(\.key)), startable since \(start), not all is handed out")
                    return []
                }
                guard giving.contains(where: { $0.key == next.key }) else {
                    findings.append("\(next) is handed out before \(giving.map(\.key)), startable since \(start)")
                    return []
                }
                take(next, claim, at: now)
                if let limit = setup.limit { tat = later(max(tat ?? .min, now), by: limit.interval) }
            }
            if isLimited, !giving.isEmpty {
                room -= 1
                if room > 0, setup.limit?.next(tat) ?? .min <= now { continue }
                requireAllTaken(handed)
                return dying.map { ($0.key, $0.numbers.lowerBound) }
            }
            if giving.count >= room, !dying.isEmpty {
                requireAllTaken(handed)
                return dying.map { ($0.key, $0.numbers.lowerBound) }
            }
            room -= giving.count
            for span in dying {
                if goesBack(span) {
                    observeReturn(of: span.key, span.numbers.lowerBound, at: now)
                } else {
                    observeDeath(of: span.key, span.numbers.lowerBound, at: now)
                }
            }
        }
        requireAllTaken(handed)
        return []
    }

    private mutating func requireAllTaken(_ handed: ArraySlice<Handed>) {
        if !handed.isEmpty { findings.append("\(handed.map(\.description)) may not be handed out") }
    }

    /// Returns whether a run of the key comes before what is ready.
    private func isBlocked(_ span: Span) -> Bool {
        span.place == .ready && find(span.key, .claimed, .backoff) != nil
    }

    /// Returns whether the end of a lease leaves nothing to claim.
    private func vanishes(_ span: Span, _ claim: Claim) -> Bool {
        (dies(span, claim) || goesBack(span)) && find(span.key, .ready) == nil
    }

    /// Returns whether a lease that has ended was the last one.
    private func dies(_ span: Span, _ claim: Claim) -> Bool {
        span.place == .claimed && span.attempt >= claim.maxAttempts && !goesBack(span)
    }

    /// Records that the store has reported the end of a run's last lease.
    public mutating func observeDeath(of key: String, _ number: Int, at now: Int) {
        guard let index = find(key, .claimed), spans[index].numbers.contains(number) else { return }
        spans[index].error = "?"
        die(index, at: now)
    }

    private mutating func take(_ next: Handed, _ claim: Claim, at now: Int) {
        // A lease that has ended is a failure.
        if let index = find(next.key, .claimed) {
            if dies(spans[index], claim) {
                observeDeath(of: next.key, spans[index].numbers.lowerBound, at: now)
            } else if !putBackIfInterrupted(index, at: now) {
                spans[index].error = "?"
                spans[index].place = .backoff
                giveWay(next.key, at: now)
            }
        }
        if let index = find(next.key, .backoff) {
            if spans[index].run != next.run { findings.append("\(next) was run \(spans[index].run ?? 0)") }
            spans[index].attempt += 1
            give(index, claim, next, at: now)
        } else if let index = find(next.key, .ready) {
            if spans.contains(where: { $0.run == next.run }) { findings.append("\(next) is new, its number is not") }
            divide(index, at: now)
            spans[index].run = next.run
            spans[index].attempt = 1
            give(index, claim, next, at: now)
        }
    }

    /// Leaves a run of `collect` only the first `maxBatch` values; the rest stays where it is, and absorbed submits
    /// stay with the value before them.
    private mutating func divide(_ index: Int, at now: Int) {
        guard setup.combination == .collect, let maxBatch, spans[index].values.count > maxBatch else { return }
        var rest = spans[index]
        rest.values.removeFirst(maxBatch)
        rest.origins.removeFirst(maxBatch)
        rest.count -= maxBatch
        rest.numbers = rest.origins[0]...rest.numbers.upperBound
        rest.since = now
        spans.append(rest)
        spans[index].values = Array(spans[index].values.prefix(maxBatch))
        spans[index].origins = Array(spans[index].origins.prefix(maxBatch))
        spans[index].count = maxBatch
        spans[index].numbers = spans[index].numbers.lowerBound...rest.numbers.lowerBound - 1
    }

    private mutating func give(_ index: Int, _ claim: Claim, _ next: Handed, at now: Int) {
        if next.fence <= highestFence { findings.append("fence \(next.fence) follows \(highestFence)") }
        highestFence = max(highestFence, next.fence)
        spans[index].place = .claimed
        spans[index].fence = next.fence
        spans[index].owner = claim.owner
        spans[index].until = later(now, by: claim.lease)
        spans[index].isSnoozed = false
        let span = spans[index]
        let expected = Handed(
            key: span.key, run: span.run ?? 0, fence: span.fence, numbers: span.numbers, values: span.values,
            count: span.count, cause: span.cause, due: span.due, first: span.first, attempt: span.attempt)
        if next != expected { findings.append("\(next) is handed out instead of \(expected)") }
    }
}
