public import LullCore

/// A place where pending work survives: what every store can do, and all that a ``DurableDebouncer`` asks of it.
///
/// Each call is one atomic step at one instant of the store's own time, and has been committed when it returns. Each may be
/// repeated without harm. Callers give durations, never instants. A store conforms if the conformance suite says so.
///
/// Calls throw ``DurableError``. Cancelling the task that waits for one does not take it back.
public protocol DurableStore: Sendable {
    /// Opens a namespace: keeps its rules when it is new, changes durations and counts where they differ.
    ///
    /// Without `rules` it takes what is there.
    ///
    /// - Returns: The rules that hold.
    @discardableResult
    func open(_ namespace: String, _ rules: DurableRules?) async throws(DurableError) -> DurableRules

    /// Takes a submit.
    func submit(_ submission: DurableSubmission) async throws(DurableError) -> DurableReceipt

    /// Makes what is pending or between two attempts ready now, and the gate idle; of one key, or of all, in the order of their
    /// first submits.
    ///
    /// - Returns: The number of keys that had something.
    @discardableResult
    func flush(_ key: [UInt8]?, in namespace: String) async throws(DurableError) -> Int

    /// Drops what no worker has; of one key, or of all.
    ///
    /// - Returns: The number of submits behind what was dropped.
    @discardableResult
    func cancel(_ key: [UInt8]?, in namespace: String) async throws(DurableError) -> Int

    /// Makes ready now what is pending and was submitted by one submitter alone (``DurableSubmission/submitter``), and its gate
    /// idle; in the order of the first submits. What is ready, claimed or between two attempts is not touched.
    ///
    /// - Returns: The keys, each with its newest generation; and how many keys have something pending that several have
    ///   submitted, this one perhaps among them: that stays.
    func flush(
        submittedBy submitter: Int64, in namespace: String
    ) async throws(DurableError) -> (flushed: [(key: [UInt8], generation: Int64)], mixed: Int)

    /// Drops what is pending and was submitted by one submitter alone, and makes its gate idle. What is ready, claimed or between
    /// two attempts is not touched.
    ///
    /// - Returns: The number of submits behind what was dropped; and how many keys have something pending that several have
    ///   submitted, this one perhaps among them: that stays.
    func cancel(
        submittedBy submitter: Int64, in namespace: String
    ) async throws(DurableError) -> (cancelled: Int, mixed: Int)

    /// Hands out runs that may start, in the order of the instants since which they may. With a `maxBatch` a run gets the first
    /// values of what is ready, and the rest may start when that run has ended.
    func claim(_ claim: DurableClaim) async throws(DurableError) -> DurableClaim.Answer

    /// Tells what became of a run, or that it goes on.
    func report(_ report: DurableReport) async throws(DurableError) -> DurableReport.Answer

    /// Does what a worker has to say and to ask at one time, as ``report(_:)`` and then ``claim(_:)`` do, each with an answer of
    /// its own. A store in which calls share transactions does all of it in one.
    func exchange(_ reports: [DurableReport], _ claim: DurableClaim?) async -> DurableExchange

    /// Waits until there may be something to claim earlier than the store said at `mark`, at most for a time.
    ///
    /// Returns at once if there has been since. Waking too often does no harm; waking never does not happen: what another
    /// process submits is noticed, too.
    func wait(in namespace: String, after mark: Int64, atMost time: Duration) async throws(DurableError)

    /// What became of a submit.
    func state(of receipt: DurableReceipt) async throws(DurableError) -> DurableState

    /// All namespaces, by name, with their counts.
    func status() async throws(DurableError) -> [DurableStatus]

    /// Keys that are not at rest, in the order of their bytes.
    func list(
        in namespace: String, prefix: [UInt8], limit: Int
    ) async throws(DurableError) -> [DurableListing<[UInt8]>]

    /// Dead runs, the oldest first.
    func dead(in namespace: String, limit: Int) async throws(DurableError) -> [DurableDeadRun<[UInt8]>]

    /// Gives a dead run another series of attempts, before anything newer of its key; unless the key has another run now, or,
    /// with `latest`, a newer generation.
    func retry(_ run: Int64, in namespace: String) async throws(DurableError) -> DurableRetry

    /// Forgets a dead run.
    ///
    /// - Returns: Whether it was there.
    @discardableResult
    func discard(_ run: Int64, in namespace: String) async throws(DurableError) -> Bool

    /// Ends the use of the store. Calls that wait are answered first; later ones throw ``DurableError/closed``.
    func close() async
}

extension DurableStore {
    /// Makes the calls one by one, all at the same time.
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

/// How much a store keeps, and how long.
public struct DurableLimits: Hashable, Sendable {
    /// How long the ends of submits are kept. Dead runs stay until they are retried or discarded.
    public var retention: Duration
    /// How long the tokens of submits are kept.
    public var tokenLifetime: Duration
    /// The largest value that is taken, in bytes; at most 16 MiB.
    public var largestValue: Int

    /// Limits; those that are usual where nothing is said.
    public init(
        retention: Duration = .seconds(24 * 3600), tokenLifetime: Duration = .seconds(24 * 3600),
        largestValue: Int = 1 << 20
    ) {
        self.retention = max(.zero, retention)
        self.tokenLifetime = max(.zero, tokenLifetime)
        self.largestValue = min(max(0, largestValue), 16 << 20)
    }
}
