package import LullCore

/// The calls of a store, each of which is one atomic step, or says that it is several.
///
/// Every call is harmless to repeat. Callers give durations, never instants. Calls throw ``DurableError``. Cancelling
/// the task that awaits a call does not undo the call. A store of rows has all of them from ``RowStore``. The
/// conformance suite in the repository (`Tests/DurableConformance`) decides whether a store is correct.
package protocol StoreCalls: DurableStore {
    // MARK: - Namespaces

    /// Opens a namespace, and creates it with the given rules if it is new: see ``PolicyOpening``.
    ///
    /// Of two calls with different rules at once, one is refused, unless it changes the policy.
    ///
    /// - Parameters:
    ///   - namespace: The name of the namespace.
    ///   - rules: The rules; nil to use those that the store has.
    ///   - changingPolicy: Whether other durations and counts replace those of the namespace.
    /// - Throws: ``DurableError/otherPolicy(namespace:stored:given:)`` if it has other rules, which may not or cannot
    ///   change; ``DurableError/noPolicy(namespace:)`` if it is new and no rules are given.
    func open(_ namespace: String, _ rules: DurableRules?, changingPolicy: Bool) async throws(DurableError)
        -> PolicyOpening

    /// Deletes a namespace: see ``DurableStore/forget(_:)``.
    func forget(_ namespace: String) async throws(DurableError)

    /// Pauses a namespace: from then on a claim hands out nothing and takes nothing over, until the time is over or
    /// ``resume(_:)`` is called. Nothing else changes: runs that workers have go on and are reported; submits, flushes
    /// and cancels are recorded, and values fall due.
    ///
    /// A namespace that is paused already stays so since the first time; of two pauses the longer one counts, and gives
    /// the reason.
    ///
    /// - Parameters:
    ///   - namespace: The name of the namespace.
    ///   - reason: Why, for people; the store keeps 500 characters. Nil for no reason.
    ///   - time: How long the pause lasts; nil for one that only ``resume(_:)`` ends.
    /// - Returns: The pause as the store has it.
    @discardableResult
    func pause(
        _ namespace: String, reason: String?, for time: CoreDuration?
    ) async throws(DurableError) -> DurablePause

    /// Ends the pause of a namespace, and wakes its workers.
    ///
    /// - Returns: Whether it was paused.
    @discardableResult
    func resume(_ namespace: String) async throws(DurableError) -> Bool

    // MARK: - Producers

    /// Records submits in their order, each with an answer of its own: gives it the key's next generation, and combines
    /// it with what is pending. For a token that was used before, the answer is the first receipt again.
    ///
    /// - Throws: An error if none of them was recorded.
    func submit(_ batch: [DurableSubmission]) async throws(DurableError) -> [Result<DurableReceipt, DurableError>]

    /// Does to the gate of a key what a submit would, without a value: an open gate of a debounce stays open for
    /// longer. Nothing else changes.
    ///
    /// - Parameters:
    ///   - key: The bytes of the key.
    ///   - namespace: The name of the namespace.
    ///   - wait: The quiet period from this call on, in place of the namespace's; nil for that one.
    /// - Returns: Whether the gate was open.
    @discardableResult
    func touch(_ key: [UInt8], in namespace: String, wait: CoreDuration?) async throws(DurableError) -> Bool

    /// Flushes or cancels: see ``DurableChange`` and ``ChangeTarget``.
    @discardableResult
    func change(
        _ change: DurableChange, _ target: ChangeTarget, in namespace: String
    ) async throws(DurableError) -> ChangeSum

    // MARK: - Workers

    /// Records a worker's reports that runs have ended or go on, and then hands out runs that may start, in the order
    /// of the instants from which they may. With a `maxBatch`, a run gets the first values of what is ready, and the
    /// rest may start when that run has ended.
    ///
    /// - Returns: An answer of its own to each. A store whose calls can share a transaction makes all of them in one.
    func exchange(_ reports: [DurableReport], _ claim: DurableClaim?) async -> DurableExchange

    /// Waits until there may be something to claim earlier than the store said at `mark`, at most for a time.
    ///
    /// Returns at once if that has happened since. It may return too early, but must never miss anything, including
    /// what other processes submit.
    func wait(in namespace: String, after mark: Int64, atMost time: Duration) async throws(DurableError)

    /// Returns those runs of a worker that newer values have interrupted, in a namespace that restarts runs.
    ///
    /// Waits until there is one, at most for a time. It may return none sooner, and it may miss one: the answer to a
    /// heartbeat is the guarantee.
    ///
    /// - Parameters:
    ///   - worker: The worker's number.
    ///   - known: Runs that the worker knows of.
    ///   - namespace: The name of the namespace.
    ///   - time: How long to wait; zero to look only.
    func interruptions(
        of worker: Int64, besides known: [Int64], in namespace: String, atMost time: Duration
    ) async throws(DurableError) -> [Int64]

    /// Records that a worker is there, and where: it says so when it starts, and then every minute. What workers said
    /// more than a day ago is forgotten.
    func announce(_ worker: DurableWorker.Identity, in namespace: String) async throws(DurableError)

    // MARK: - Dead runs

    /// Gives dead runs another series of attempts, in their order, each before anything newer of its key. Refuses one
    /// if its key has another run now or, with `latest`, a newer generation.
    ///
    /// - Returns: What has become of each.
    func retry(_ runs: [Int64], in namespace: String) async throws(DurableError) -> [DurableRetry]

    /// Deletes dead runs with their values.
    ///
    /// - Returns: How many there were.
    @discardableResult
    func discard(_ runs: [Int64], in namespace: String) async throws(DurableError) -> Int

    // MARK: - Questions

    /// Returns the present state of a submit.
    func state(of receipt: DurableReceipt) async throws(DurableError) -> DurableState

    /// Returns all namespaces, by name, with their counts.
    func status() async throws(DurableError) -> [DurableStatus]

    /// Returns how much a selection has. It may read many rows, and locks none.
    func count(matching selection: DurableSelection, in namespace: String) async throws(DurableError)
        -> DurableSelection.Count

    /// Returns keys that have anything pending, ready or running and begin with a prefix, in the order of their bytes,
    /// from `start` on.
    func list(
        in namespace: String, prefix: [UInt8], from start: [UInt8], limit: Int
    ) async throws(DurableError) -> [DurableListing<[UInt8]>]

    /// Returns keys with work by when they change next: first those with a value that waits for a worker, then by when
    /// what is pending falls due, the next attempt begins, or the lease ends.
    ///
    /// They are the first by the instants at which they wake, which may be too early, since a submit only moves them
    /// earlier. So a key may be missing that changes before one that is there. It reads about as many rows as it
    /// returns, however many there are: at most four times as many as the limit, of which those are left out that have
    /// nothing but an open gate.
    func upcoming(in namespace: String, limit: Int) async throws(DurableError) -> [DurableListing<[UInt8]>]

    /// Returns how submits of a key, or of all keys, have ended, the newest first, as far as the store retains it. Dead
    /// runs are among them.
    func ended(
        of key: [UInt8]?, in namespace: String, limit: Int
    ) async throws(DurableError) -> [DurableEnd<[UInt8]>]

    /// Returns the workers that have announced themselves within the last 150 seconds, or that have runs; by host,
    /// process and number.
    func workers(in namespace: String) async throws(DurableError) -> [DurableWorker]

    /// Returns runs of a selection that have used up their attempts, those that died first, or last, first; with their
    /// values and contexts, or without.
    func deadRuns(
        matching selection: DurableSelection, in namespace: String, newestFirst: Bool, limit: Int, withValues: Bool
    ) async throws(DurableError) -> [DurableDeadRun<[UInt8]>]

    /// Returns a dead run with its values; nil if there is none with that number.
    func deadRun(_ run: Int64, in namespace: String) async throws(DurableError) -> DurableDeadRun<[UInt8]>?

    /// Returns the store's time.
    func presentInstant(in namespace: String) async throws(DurableError) -> CoreInstant

    /// Throws if nothing that is recorded now would last. Only a file can be deleted under its users.
    func check() async throws(DurableError)
}

/// What a flush or a cancel changes.
package enum ChangeTarget: Sendable {
    /// These keys, in their order.
    case keys([[UInt8]])
    /// All keys of a selection that are there when the call begins, in the order of their first submits: in steps, so
    /// that others can write in between. Whether a key meets the conditions is decided in the step that changes it.
    case selection(DurableSelection)
    /// What is pending and comes from one submitter alone (``DurableSubmission/submitter``), in the order of the first
    /// submits. What is ready, claimed or between two attempts does not change.
    case submitter(Int64)
}

/// What a flush or a cancel has changed.
package struct ChangeSum: Sendable {
    /// The number of keys that had anything to flush, or of submits behind what was dropped.
    package var count = 0
    /// The same for each of the keys that were named.
    package var counts: [Int] = []
    /// With a submitter, the number of keys whose pending value comes from several, perhaps including this one: those
    /// values stay pending.
    package var mixed = 0
    /// With a submitter, the keys that were flushed, each with its newest generation.
    package var flushed: [(key: [UInt8], generation: Int64)] = []

    package init() {}

    package init(of counts: [Int]) {
        self.counts = counts
        count = counts.reduce(0, +)
    }

    /// Adds what was done to other keys.
    package static func += (sum: inout ChangeSum, other: ChangeSum) {
        sum.count += other.count
        sum.counts += other.counts
        sum.mixed += other.mixed
        sum.flushed += other.flushed
    }
}

// The calls in shorter forms.

extension StoreCalls {
    /// Opens a namespace without changing its rules, and returns them.
    @discardableResult
    package func open(_ namespace: String, _ rules: DurableRules?) async throws(DurableError) -> DurableRules {
        try await open(namespace, rules, changingPolicy: false).rules
    }

    /// Records one submit: see ``submit(_:)``.
    @discardableResult
    package func submit(_ submission: DurableSubmission) async throws(DurableError) -> DurableReceipt {
        guard let answer = try await submit([submission]).first else {
            preconditionFailure("each submit has an answer")
        }
        return try answer.get()
    }

    /// Flushes one key, or all: what is pending, held or between two attempts becomes ready now, and the gate idle.
    ///
    /// - Returns: The number of keys that had anything to flush.
    @discardableResult
    package func flush(_ key: [UInt8]?, in namespace: String) async throws(DurableError) -> Int {
        try await change(.flush, key.map { .keys([$0]) } ?? .selection(.all), in: namespace).count
    }

    /// Drops what no worker has, for one key or for all.
    ///
    /// - Returns: The number of submits behind what was dropped.
    @discardableResult
    package func cancel(_ key: [UInt8]?, in namespace: String) async throws(DurableError) -> Int {
        try await change(.cancel, key.map { .keys([$0]) } ?? .selection(.all), in: namespace).count
    }

    /// Hands out runs: see ``exchange(_:_:)``.
    package func claim(_ claim: DurableClaim) async throws(DurableError) -> DurableClaim.Answer {
        guard let answer = await exchange([], claim).claim else { preconditionFailure("an exchange answers its claim") }
        return try answer.get()
    }

    /// Records a worker's report: see ``exchange(_:_:)``.
    @discardableResult
    package func report(_ report: DurableReport) async throws(DurableError) -> DurableReport.Answer {
        guard let answer = await exchange([report], nil).reports.first else {
            preconditionFailure("an exchange answers its reports")
        }
        return try answer.get()
    }

    /// Gives one dead run another series of attempts: see ``retry(_:in:)``.
    package func retry(_ run: Int64, in namespace: String) async throws(DurableError) -> DurableRetry {
        guard let answer = try await retry([run], in: namespace).first else {
            preconditionFailure("each run has an answer")
        }
        return answer
    }

    /// Deletes one dead run, and returns whether there was one.
    @discardableResult
    package func discard(_ run: Int64, in namespace: String) async throws(DurableError) -> Bool {
        try await discard([run], in: namespace) == 1
    }

    /// Returns the dead runs that died first, with their values.
    package func dead(in namespace: String, limit: Int) async throws(DurableError) -> [DurableDeadRun<[UInt8]>] {
        try await deadRuns(matching: .all, in: namespace, newestFirst: false, limit: limit, withValues: true)
    }

    /// Returns the numbers of the dead runs of a selection, the oldest first.
    package func deadRuns(
        matching selection: DurableSelection, in namespace: String
    ) async throws(DurableError) -> [Int64] {
        try await deadRuns(matching: selection, in: namespace, newestFirst: false, limit: .max, withValues: false)
            .map(\.number)
    }

    package func check() async throws(DurableError) {}
}
