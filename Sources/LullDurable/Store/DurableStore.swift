internal import LullCore

/// What keeps the pending work of durable debouncers: a protocol for implementers of a store.
///
/// To use a store, make an `SQLiteStore` or a ``MemoryStore``, give it to a ``DurableDebouncer``, and ``close()`` it at
/// the end; the debouncer makes all other calls.
///
/// To write one, make each call one atomic step at one instant of the store's own time, which has been committed when
/// the call returns. Each call may be repeated without harm. Callers give durations, never instants. A store that can
/// hold its rows still for a step implements ``DurableTable`` and gets its steps from there. The conformance suite in
/// the repository (`Tests/DurableConformance`) decides whether a store is right.
///
/// Calls throw ``DurableError``. Cancelling the task that waits for a call does not take the call back.
public protocol DurableStore: Sendable {
    /// Opens a namespace: creates it with the given rules if it is new, and otherwise adopts their durations and
    /// counts.
    ///
    /// - Parameters:
    ///   - namespace: Its name.
    ///   - rules: The rules; nil to leave those that the store has.
    /// - Returns: The rules that apply from now on.
    /// - Throws: ``DurableError/otherPolicy(namespace:stored:given:)`` if the kind of policy, the edges or the
    ///   combination differ; ``DurableError/noPolicy(namespace:)`` if it is new and no rules are given.
    @discardableResult
    func open(_ namespace: String, _ rules: DurableRules?) async throws(DurableError) -> DurableRules

    /// Records a submit: gives it the key's next generation, and combines it with what is pending.
    ///
    /// - Returns: The receipt; for a token that was used before, the first receipt again.
    func submit(_ submission: DurableSubmission) async throws(DurableError) -> DurableReceipt

    /// Makes what is pending or between two attempts ready now, and the gate idle; of one key, or of all, in the order
    /// of their first submits.
    ///
    /// - Returns: The number of keys that had something.
    @discardableResult
    func flush(_ key: [UInt8]?, in namespace: String) async throws(DurableError) -> Int

    /// Drops what no worker has; of one key, or of all.
    ///
    /// - Returns: The number of submits behind what was dropped.
    @discardableResult
    func cancel(_ key: [UInt8]?, in namespace: String) async throws(DurableError) -> Int

    /// Makes ready now what is pending and was submitted by one submitter alone (``DurableSubmission/submitter``), and
    /// its gate idle; in the order of the first submits. What is ready, claimed or between two attempts is not touched.
    ///
    /// - Returns: The keys, each with its newest generation; and how many keys have something pending that several have
    ///   submitted, this one perhaps among them: that stays.
    func flush(
        submittedBy submitter: Int64, in namespace: String
    ) async throws(DurableError) -> (flushed: [(key: [UInt8], generation: Int64)], mixed: Int)

    /// Drops what is pending and was submitted by one submitter alone, and makes its gate idle. What is ready, claimed
    /// or between two attempts is not touched.
    ///
    /// - Returns: The number of submits behind what was dropped; and how many keys have something pending that several
    ///   have submitted, this one perhaps among them: that stays.
    func cancel(
        submittedBy submitter: Int64, in namespace: String
    ) async throws(DurableError) -> (cancelled: Int, mixed: Int)

    /// Hands out runs that may start, in the order of the instants since which they may. With a `maxBatch` a run gets
    /// the first values of what is ready, and the rest may start when that run has ended.
    func claim(_ claim: DurableClaim) async throws(DurableError) -> DurableClaim.Answer

    /// Records what a worker says of a run: that it has ended, or that it goes on.
    func report(_ report: DurableReport) async throws(DurableError) -> DurableReport.Answer

    /// Makes several calls of a worker together, as ``report(_:)`` and then ``claim(_:)`` do, each with an answer of
    /// its own.
    ///
    /// A store need not implement it; one in which calls share transactions does all of it in one.
    func exchange(_ reports: [DurableReport], _ claim: DurableClaim?) async -> DurableExchange

    /// Waits until there may be something to claim earlier than the store said at `mark`, at most for a time.
    ///
    /// Returns at once if there has been since. Waking too often does no harm; waking never does not happen: what
    /// another process submits is noticed, too.
    func wait(in namespace: String, after mark: Int64, atMost time: Duration) async throws(DurableError)

    /// What has become of a submit so far.
    func state(of receipt: DurableReceipt) async throws(DurableError) -> DurableState

    /// All namespaces, by name, with their counts.
    func status() async throws(DurableError) -> [DurableStatus]

    /// Keys that have anything pending, ready or running and begin with a prefix, in the order of their bytes.
    func list(
        in namespace: String, prefix: [UInt8], limit: Int
    ) async throws(DurableError) -> [DurableListing<[UInt8]>]

    /// Runs that have used up their attempts, the oldest first.
    func dead(in namespace: String, limit: Int) async throws(DurableError) -> [DurableDeadRun<[UInt8]>]

    /// Gives a dead run another series of attempts, before anything newer of its key; unless the key has another run
    /// now, or, with `latest`, a newer generation.
    func retry(_ run: Int64, in namespace: String) async throws(DurableError) -> DurableRetry

    /// Forgets a dead run with its values.
    ///
    /// - Returns: Whether there was such a run.
    @discardableResult
    func discard(_ run: Int64, in namespace: String) async throws(DurableError) -> Bool

    /// Ends the use of the store by this process. Calls made before are answered first; later ones throw
    /// ``DurableError/closed``, and so do workers.
    func close() async
}

extension DurableStore {
    /// Makes the calls one by one, concurrently.
    public func exchange(_ reports: [DurableReport], _ claim: DurableClaim?) async -> DurableExchange {
        async let claimed = answer(to: claim)
        let reported = await withTaskGroup { group in
            for (index, report) in reports.enumerated() {
                group.addTask { (index, await answer(to: report)) }
            }
            return await group.reduce(into: [:]) { answers, answer in answers[answer.0] = answer.1 }
        }
        return await DurableExchange(reports: reports.indices.compactMap { reported[$0] }, claim: claimed)
    }

    func answer(to report: DurableReport) async -> Result<DurableReport.Answer, DurableError> {
        do { return .success(try await self.report(report)) } catch { return .failure(error) }
    }

    func answer(to claim: DurableClaim?) async -> Result<DurableClaim.Answer, DurableError>? {
        guard let claim else { return nil }
        do { return .success(try await self.claim(claim)) } catch { return .failure(error) }
    }
}

/// How large the values of a store may be, and how long it remembers what has ended.
///
/// How to choose: <doc:WorkThatSurvives>.
public struct DurableLimits: Hashable, Sendable {
    /// For how long the store can say how a submit ended, by default a day. Dead runs stay until they are retried or
    /// discarded.
    public var retention: Duration
    /// For how long the store recognises the token of a submit that is repeated, by default a day.
    public var tokenLifetime: Duration
    /// The largest value that is taken, in bytes as JSON: by default 1 MiB, at most 16 MiB.
    public var largestValue: Int

    /// Makes limits. A negative duration counts as zero, and `largestValue` is brought into its range.
    public init(
        retention: Duration = .seconds(24 * 3600), tokenLifetime: Duration = .seconds(24 * 3600),
        largestValue: Int = 1 << 20
    ) {
        self.retention = max(.zero, retention)
        self.tokenLifetime = max(.zero, tokenLifetime)
        self.largestValue = min(max(0, largestValue), 16 << 20)
    }
}
