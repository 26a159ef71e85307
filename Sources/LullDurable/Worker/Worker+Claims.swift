internal import Lull
internal import LullCore

// What a worker claims, and when it waits: for something to do, or for a store that does not answer.

extension Worker {
    /// The longest time that it waits for the store's wake signal at once. Waking too early does no harm.
    static var longestListening: CoreDuration { .seconds(3600) }

    /// How long a store that does not answer is left alone: first, and at most.
    static var firstPause: CoreDuration { .milliseconds(100) }
    static var longestPause: CoreDuration { .seconds(10) }

    var isClaiming: Bool {
        if case .claiming = search { failure == nil } else { false }
    }

    /// Looks for something to do, if there is room for it.
    mutating func seek() {
        guard stop == nil, taken < settings.maxConcurrent else { return }
        switch search {
        case .claiming, .listening:
            return
        case .sated(let mark, let until) where now < until:
            search = .listening
            actions.append(.listen(after: mark, atMost: min(now.duration(to: until), Self.longestListening)))
        case .sated, .hungry:
            guard mayClaim else { return }
            search = .claiming(since: now)
            actions.append(
                .claim(
                    DurableClaim(
                        namespace: settings.namespace,
                        terms: DurableRow.Claim(
                            owner: settings.owner, lease: settings.lease, maxAttempts: settings.backoff.maxAttempts),
                        holding: held.values.filter(\.isLeased).map(\.run.id).sorted(),
                        limit: settings.maxConcurrent - taken)))
        }
    }

    /// Who cannot write claims nothing more; nor does one who may have slept through the end of a lease, since it would take
    /// its own run over.
    private var mayClaim: Bool {
        if let trouble, now < trouble.until || held.values.contains(where: \.hasUnsaid) { return false }
        return !held.values.contains { $0.isRunning && $0.isLeased && $0.leaseEnd <= now }
    }

    /// Takes what was claimed.
    mutating func claimed(_ result: Result<DurableClaim.Answer, DurableError>) {
        guard case .claiming(let since) = search, failure == nil else { return }
        search = .hungry
        switch result {
        case .failure(let error):
            complain(error)
        case .success(let answer):
            // One that was sent before the trouble began says nothing of it.
            if let trouble, since >= trouble.until { self.trouble = nil }
            if answer.next != .zero {
                let until = answer.next.map { now.advanced(by: CoreDuration($0)) } ?? .farFuture
                search = .sated(mark: answer.mark, until: until)
            }
            for run in answer.dead { actions.append(.died(run)) }
            for run in answer.runs { take(run, since) }
        }
    }

    /// There may be something new.
    mutating func heard(_ result: Result<Void, DurableError>) {
        guard case .listening = search else { return }
        search = .hungry
        if case .failure(let error) = result { complain(error) }
    }

    // MARK: - Trouble

    /// The store did not do what it was asked.
    mutating func complain(_ error: DurableError) {
        guard failure == nil else { return }
        switch error {
        case .refused, .unknown:
            if trouble == nil { actions.append(.trouble(error)) }
            // Several calls that fail together count once.
            guard trouble.map({ $0.until <= now }) ?? true else { return }
            let count = (trouble?.count ?? 0) + 1
            trouble = Trouble(count: count, until: now.advanced(by: pause(count)))
            wake(at: trouble?.until ?? .farFuture)
        case .unusable, .otherPolicy, .noPolicy, .tooLarge, .tokenOfOtherKey, .unencodable, .closed:
            giveUp(error)
        }
    }

    /// How long to leave the store alone when it has failed that often.
    mutating func pause(_ count: Int) -> CoreDuration {
        let longest = min(Self.longestPause, .nanoseconds(settings.lease.nanoseconds / 3))
        let first = min(Self.firstPause, longest)
        let backoff = RetryPolicy(initialDelay: Duration(first), maxDelay: Duration(longest))
        return jitter.shorten(backoff.delay(after: count))
    }

    /// When to say again what the store has not taken that often: together with all else, or later if it is this alone that it
    /// does not take.
    mutating func next(after refusals: Int) -> CoreInstant {
        if let trouble, refusals <= trouble.count { return trouble.until }
        return now.advanced(by: pause(refusals))
    }

    // MARK: - Stopping

    /// Claims nothing more, and awaits the handlers.
    mutating func draining() {
        if stop == nil { stop = Stop(cancel: .farFuture, release: .farFuture, end: .farFuture) }
    }

    var isDraining: Bool { stop?.cancel == .farFuture }

    /// Claims nothing more, and gives the handlers time.
    mutating func stopped() {
        guard stop == nil || isDraining else { return }
        let half = (settings.lease.nanoseconds - settings.grace.nanoseconds) / 2
        let cancel = now.advanced(by: settings.grace)
        stop = Stop(
            cancel: cancel, release: cancel.advanced(by: .nanoseconds(half)), end: now.advanced(by: settings.lease))
        wake(at: cancel)
    }

    /// The store cannot be used any more: there is nobody to report to.
    private mutating func giveUp(_ error: DurableError) {
        failure = error
        stop = Stop(cancel: now, release: .farFuture, end: now.advanced(by: settings.grace))
        wake(at: now.advanced(by: settings.grace))
        held = held.filter { $0.value.isRunning }
        for run in held.keys.sorted() { tellToStop(run) }
    }

    mutating func goOnStopping(_ stop: Stop) {
        guard now >= stop.cancel else { return }
        for run in held.keys.sorted() {
            tellToStop(run)
            if now >= stop.release, held[run]?.isRunning == true { say(.released, of: run) }
        }
    }
}
