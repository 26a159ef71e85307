package import LullCore

/// A worker's request for runs.
package struct DurableClaim: Hashable, Sendable {
    /// The name of the namespace.
    package var namespace: String
    /// The worker, the lease that it wants, and how many attempts a run may have.
    package var terms: Terms
    /// The ids of the runs that the worker knows it has. The store hands out again every other run that is leased to
    /// it: the answer with that run was lost.
    package var holding: [Int64]
    /// Those of them whose handlers hang, long after their time limit, so that the worker lets their leases end. This
    /// claim does not take them over, whoever has had them since: the worker would execute a key twice at once, or hold
    /// a run for nothing.
    package var hanging: [Int64]
    /// How many more runs the worker can take.
    package var limit: Int

    /// Creates a claim.
    package init(namespace: String, terms: Terms, holding: [Int64] = [], hanging: [Int64] = [], limit: Int) {
        self.namespace = namespace
        self.terms = terms
        self.holding = holding
        self.hanging = hanging
        self.limit = limit
    }

    /// Whether a row's run is one of those that this claim does not take over.
    package func isHanging(_ run: DurableRow.Run?) -> Bool {
        guard !hanging.isEmpty, let run else { return false }
        return hanging.contains(run.id)
    }

    /// The terms of a claim.
    package struct Terms: Hashable, Sendable {
        /// The worker's number: random, and new at each of its starts.
        package var owner: Int64
        /// How long a run is the worker's unless the worker renews the lease.
        package var lease: CoreDuration
        /// How many attempts a run has before it is dead.
        package var maxAttempts: Int

        /// Creates the terms of a claim.
        package init(owner: Int64, lease: CoreDuration, maxAttempts: Int) {
            self.owner = owner
            self.lease = lease
            self.maxAttempts = maxAttempts
        }
    }

    /// The answer to a claim.
    package struct Answer: Hashable, Sendable {
        /// The runs that are now the worker's.
        package var runs: [DurableRun]
        /// Runs that died in this call because the lease of their last attempt had expired; without their values.
        package var dead: [DurableRun]
        /// How long it takes until more can be claimed, if nothing is submitted: zero if the limit was reached, nil if
        /// nothing is left.
        package var next: Duration?
        /// The argument for ``StoreCalls/wait(in:after:atMost:)`` with which no later submit is missed.
        package var mark: Int64
        /// Why and since when the namespace is paused, so that there are no runs; nil if it is not.
        package var pause: DurablePause?
        /// The instant of the claim in the store's time.
        package var now: CoreInstant?

        /// Creates an answer.
        package init(
            runs: [DurableRun], dead: [DurableRun] = [], next: Duration?, mark: Int64, pause: DurablePause? = nil
        ) {
            self.runs = runs
            self.dead = dead
            self.next = next
            self.mark = mark
            self.pause = pause
        }
    }
}
