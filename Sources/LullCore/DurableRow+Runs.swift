// The calls of workers. All but a claim are about a run that the worker holds: the store has compared its id, its fence and
// its owner with the row's before.

extension DurableRow {
    /// What a worker brings when it asks for a run.
    public struct Claim: Hashable, Sendable {
        /// Names the worker; random, and new at each of its starts.
        public var owner: Int64
        /// How long a run is the worker's unless it asks for more time.
        public var lease: CoreDuration
        /// How often a run is handed out before it is dead.
        public var maxAttempts: Int

        /// A claim of these parts.
        public init(owner: Int64, lease: CoreDuration, maxAttempts: Int) {
            self.owner = owner
            self.lease = lease
            self.maxAttempts = maxAttempts
        }
    }

    /// Why a run whose lease ended was taken from its worker.
    public static var leaseExpired: [UInt8] { Array("the worker's lease expired".utf8) }

    /// Hands the next run of the key to a worker, if there is one that may start at `now`.
    ///
    /// A new run freezes what is ready. A run that is taken over keeps its id, its range and its values; one that has had all
    /// its attempts is dead.
    ///
    /// Fences and run ids come from `sequence`: one number for the whole store.
    ///
    /// - Returns: Whether ``run`` is now the worker's.
    public mutating func claim(
        _ claim: Claim, at now: CoreInstant, by rules: DurableRules, sequence: inout Int64,
        _ endings: inout [DurableEnding]
    ) -> Bool {
        settle(at: now, by: rules, &endings)
        guard let startable, startable <= now else { return false }
        if let run, !run.isInBackoff {
            fail(Self.leaseExpired, retry: run.attempt < claim.maxAttempts ? .zero : nil, at: now, by: rules, &endings)
        }
        sequence += 1
        let held = Run.State.claimed(until: now.advanced(by: claim.lease))
        if var run {
            run.fence = sequence
            run.owner = claim.owner
            run.attempt += 1
            run.state = held
            self.run = run
            return true
        }
        guard let ready else { return false }
        run = Run(value: ready, id: sequence, fence: sequence, owner: claim.owner, attempt: 1, state: held)
        taken = ready.submits.upperBound
        self.ready = nil
        return true
    }

    /// Hands a run out once more to the worker that has it and does not know: the answer to its claim was lost.
    public mutating func handOutAgain(_ claim: Claim, at now: CoreInstant, sequence: inout Int64) {
        sequence += 1
        run?.fence = sequence
        run?.state = .claimed(until: now.advanced(by: claim.lease))
    }

    /// The worker is still at it.
    public mutating func heartbeat(lease: CoreDuration, at now: CoreInstant) {
        run?.state = .claimed(until: now.advanced(by: lease))
    }

    /// The handler returned.
    public mutating func complete(at now: CoreInstant, by rules: DurableRules, _ endings: inout [DurableEnding]) {
        settle(at: now, by: rules, &endings)
        guard let run else { return }
        endings.append(DurableEnding(run, .completed))
        self.run = nil
    }

    /// The handler threw.
    ///
    /// After `retry` the run may be tried again; without it, it has had all its attempts, and is dead.
    public mutating func fail(
        _ error: [UInt8], retry: CoreDuration?, at now: CoreInstant, by rules: DurableRules,
        _ endings: inout [DurableEnding]
    ) {
        settle(at: now, by: rules, &endings)
        guard var run else { return }
        run.error = error
        guard let retry else {
            endings.append(DurableEnding(run, .dead))
            self.run = nil
            return
        }
        run.state = .backoff(until: now.advanced(by: retry))
        self.run = run
        giveWay(by: rules, &endings)
    }

    /// The worker gives the run back without having tried it: no attempt is spent.
    public mutating func release(at now: CoreInstant, by rules: DurableRules, _ endings: inout [DurableEnding]) {
        settle(at: now, by: rules, &endings)
        guard let run else { return }
        self.run?.attempt = run.attempt - 1
        self.run?.state = .backoff(until: now)
        giveWay(by: rules, &endings)
    }

    /// Brings a dead run back for another series of attempts, or says that it must not: the key has a newer generation, and
    /// an old value must not overwrite a newer one.
    public mutating func retry(_ dead: Run, at now: CoreInstant) -> Bool {
        guard run == nil, generation == dead.value.submits.upperBound else { return false }
        run = dead
        run?.attempt = 0
        run?.error = nil
        run?.state = .backoff(until: now)
        return true
    }
}
