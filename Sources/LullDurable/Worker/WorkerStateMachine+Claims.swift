internal import Lull
internal import LullCore

// When a worker claims, and when it waits: for something to claim, or for a store that has failed.

extension WorkerStateMachine {
    /// The search for runs.
    ///
    /// | state | next state |
    /// |---|---|
    /// | needed | claiming, when a slot is free and the store works |
    /// | claiming | needed, if the limit was reached or the store failed; else exhausted |
    /// | exhausted | waiting, when a slot is free; claiming, if its instant has passed by then |
    /// | waiting | needed, when the store's `wait` has returned |
    enum ClaimState: Hashable, Sendable {
        /// There may be something to claim.
        case needed
        /// A claim that was sent at an instant is under way.
        case claiming(since: CoreInstant)
        /// There was nothing more at that mark, and without a submit there will not be before that instant.
        case exhausted(mark: Int64, until: CoreInstant)
        /// The store's `wait` is under way.
        case waiting
    }

    /// A series of failed calls of the store, or of handlers that could not be run.
    struct Outage: Hashable, Sendable {
        /// The number of failures in a row.
        var count: Int
        /// When the next one is tried.
        var retryAt: CoreInstant
    }

    /// The longest single wait for the store's wake-up signal. Waking too early does no harm.
    static var longestWait: CoreDuration { .seconds(3600) }

    /// The shortest and the longest pause after a failure.
    static var shortestPause: CoreDuration { .milliseconds(100) }
    static var longestPause: CoreDuration { .seconds(10) }

    var isClaiming: Bool {
        if case .claiming = claimState { failure == nil } else { false }
    }

    /// Claims, or waits for something to claim, if a slot is free.
    mutating func claimIfPossible() {
        guard phase == .working, usedSlots < configuration.maxConcurrent else { return }
        switch claimState {
        case .claiming, .waiting:
            return
        case .exhausted(let mark, let until) where now < until:
            claimState = .waiting
            actions.append(.wait(after: mark, atMost: min(now.duration(to: until), Self.longestWait)))
        case .exhausted, .needed:
            guard mayClaim else { return }
            claimState = .claiming(since: now)
            actions.append(
                .claim(
                    DurableClaim(
                        namespace: configuration.namespace,
                        terms: DurableClaim.Terms(
                            owner: configuration.owner, lease: configuration.lease,
                            maxAttempts: configuration.backoff.maxAttempts),
                        holding: runs.values.filter { $0.isLeased }.map { $0.run.number }.sorted(),
                        hanging: runs.values.filter { $0.isLeased && $0.isGivenUp }.map { $0.run.number }.sorted(),
                        limit: configuration.maxConcurrent - usedSlots)))
        }
    }

    /// Whether the worker can write to the store and run handlers, and has no run whose lease may have ended (during
    /// sleep, for example): a claim would take that run over from the worker itself.
    private var mayClaim: Bool {
        if let obstacle, now < obstacle.retryAt { return false }
        if let outage, now < outage.retryAt || runs.values.contains(where: { $0.hasFailedReport }) { return false }
        return !runs.values.contains { $0.isRunning && $0.isLeased && !$0.isGivenUp && $0.leaseEnd <= now }
    }

    /// Handles the answer to a claim.
    mutating func claimed(_ result: Result<DurableClaim.Answer, DurableError>) {
        guard case .claiming(let since) = claimState else { preconditionFailure("an answer without a claim") }
        guard failure == nil else { return }
        claimState = .needed
        switch result {
        case .failure(let error):
            storeFailed(error)
        case .success(let answer):
            // A claim that was sent before the outage does not show that it is over.
            if let outage, since >= outage.retryAt { self.outage = nil }
            // After a stop of the process an old answer says nothing of the present.
            if answer.next != .zero, now < since.advanced(by: configuration.lease) {
                let until = answer.next.map { now.advanced(by: CoreDuration($0)) } ?? .farFuture
                claimState = .exhausted(mark: answer.mark, until: until)
            }
            note(answer.pause)
            for run in answer.dead { actions.append(.died(run)) }
            for run in answer.runs { take(run, since) }
        }
    }

    private mutating func note(_ pause: DurablePause?) {
        defer { self.pause = pause }
        if let pause {
            if pause != self.pause { actions.append(.paused(pause)) }
        } else if self.pause != nil {
            actions.append(.resumed)
        }
    }

    /// Handles the end of the store's `wait`.
    mutating func waitEnded(_ result: Result<Void, DurableError>) {
        guard claimState == .waiting else { preconditionFailure("the end of a wait that was not asked for") }
        claimState = .needed
        if case .failure(let error) = result { storeFailed(error) }
    }

    // MARK: - Interruptions

    /// Watches for interruptions while a handler runs that could be interrupted.
    mutating func watchIfNeeded() {
        guard configuration.watches, !isWatching, failure == nil else { return }
        if let outage, now < outage.retryAt { return }
        guard runs.values.contains(where: { $0.isRunning && $0.isLeased && !$0.isInterrupted }) else { return }
        isWatching = true
        let known = runs.values.filter { $0.isInterrupted }.map { $0.run.number }.sorted()
        actions.append(.watch(besides: known, atMost: configuration.lease))
    }

    /// Handles the end of a watch.
    mutating func watchEnded(_ result: Result<[Int64], DurableError>) {
        guard isWatching else { preconditionFailure("the end of a watch that was not asked for") }
        isWatching = false
        switch result {
        case .success(let runs): for run in runs { interrupt(run) }
        case .failure(let error): storeFailed(error)
        }
    }

    // MARK: - Outages

    /// Handles a failed call of the store.
    mutating func storeFailed(_ error: DurableError) {
        guard failure == nil else { return }
        switch error {
        case .refused, .full, .unknown:
            if outage == nil { actions.append(.storeFailed(error)) }
            outage = lengthened(outage)
        case .unusable, .otherPolicy, .noPolicy, .hasWork, .tooLarge, .keyTooLong, .contextTooLong, .tokenOfOtherKey,
            .unencodable, .undecodable, .closed:
            stop(because: error)
        }
    }

    /// Returns the series with one more failure, which begins a longer pause. Failures that come together count once.
    mutating func lengthened(_ outage: Outage?) -> Outage {
        if let outage, now < outage.retryAt { return outage }
        let count = (outage?.count ?? 0) + 1
        let retryAt = now.advanced(by: pause(after: count))
        wake(at: retryAt)
        return Outage(count: count, retryAt: retryAt)
    }

    /// Returns how long to pause after that many failures.
    private mutating func pause(after failures: Int) -> CoreDuration {
        let longest = min(Self.longestPause, .nanoseconds(configuration.lease.nanoseconds / 3))
        let shortest = min(Self.shortestPause, longest)
        let backoff = RetryPolicy(initialDelay: Duration(shortest), maxDelay: Duration(longest))
        return backoff.delay(after: failures, &jitter)
    }

    /// Returns when to repeat a report that has failed that often: together with all other calls, or later if only this
    /// report keeps failing.
    mutating func nextReport(after failures: Int) -> CoreInstant {
        if let outage, failures <= outage.count { return outage.retryAt }
        return now.advanced(by: pause(after: failures))
    }
}
