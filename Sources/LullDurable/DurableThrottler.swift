internal import Lull
public import LullCore

/// Throttles work that must survive the process: a store holds what was submitted, and any of its workers executes it,
/// at most once per interval for each key, whichever process dies.
///
/// ```swift
/// let sync = try await DurableThrottler<Category, Change>(every: .seconds(120), namespace: "sync", in: store)
/// try await sync.submit(change, for: .steps)                // returns when it has been recorded
///
/// try await sync.run { execution in                         // until the task is cancelled
///     try await server.send(execution.value, named: execution.runID)
/// }
/// ```
///
/// The interval goes on while no process of the app is there: after a restart a key is executed no earlier than it
/// would have been. All terms have the same meaning as in ``/Lull/KeyedThrottler`` (<doc:Semantics>, section 4), and
/// everything else is as with a ``DurableDebouncer``: a submit waits for the store, a handler belongs to a worker, and
/// it may run more than once for one value, with the same ``DurableExecution/runID``. <doc:AtMostOnceInTwoMinutes> is
/// an example from beginning to end.
public final class DurableThrottler<Key: DurableKey, Value: Codable & Sendable>:
    DurableCoalescer<Key, Value>, @unchecked Sendable  // See the superclass.
{
    /// Opens a namespace whose keys are throttled (<doc:Semantics>, section 4), and creates it if it is new.
    ///
    /// The store holds the settings, which are the same for all that use the namespace. Opening it with other ones is
    /// an error, unless `changingPolicy` says that they change for all: durations and counts from the next submit of
    /// each key on, `maxBatch`, `limit` and `maxRunning` from the next claim on. The kind of policy, the edges,
    /// `combining` and `whileRunning` cannot change.
    ///
    /// The program stops with a message if a setting breaks a rule (<doc:Semantics>, section 10). Check settings that
    /// come from outside with `Policy.throttle`, and pass the policy to the initialiser that takes one.
    ///
    /// - Parameters:
    ///   - interval: The length of a window. With zero nothing is coalesced.
    ///   - edges: Whether a window executes at its beginning, at its end, or at both.
    ///   - maxCount: Executes as soon as this many submits are pending; only with the trailing edge.
    ///   - combining: How the values behind one execution become the one that the handler gets: the latest, the first,
    ///     or all of them folded into one, in order. The store keeps what `.merge` folds until then, as it does with
    ///     `collecting`: the worker folds right before the handler. For all values, use the form with `collecting`.
    ///   - maxBatch: With `merge`, the largest number of values in one execution, at least 1. Nil for no limit.
    ///   - limit: How often executions start, of all keys together, each attempt included, and whichever worker has
    ///     them (<doc:Semantics>, section 7). Nil for no limit.
    ///   - maxRunning: The most executions that all workers together have at once; at least 1. Nil for no limit.
    ///   - whileRunning: What a newer value of a key does to its run: it waits, or the run begins again with both.
    ///   - namespace: A name of your choice for these keys in the store.
    ///   - store: The store that holds the values, such as an `SQLiteStore`.
    ///   - changingPolicy: Whether other durations and counts replace those of the namespace, for all that use it. A
    ///     line in the log says what has changed.
    ///   - clock: Measures the pauses of workers and of calls that wait; tests pass the `ManualClock` of `LullTesting`.
    ///     The store measures when values fall due.
    ///   - fileID: The file that a message about a wrong setting names; leave it out.
    ///   - line: The line that this message names; leave it out.
    /// - Throws: ``DurableError/otherPolicy(namespace:stored:given:)`` if the store has the namespace with other
    ///   settings, which the error names; or the error of the store.
    public convenience init(
        every interval: Duration, edges: Edges = [.leading, .trailing], maxCount: Int? = nil,
        combining: Combination<Value> = .latest, maxBatch: Int? = nil, limit: RateLimit? = nil, maxRunning: Int? = nil,
        whileRunning: DurableOverlapPolicy = .queue, namespace: String,
        in store: any DurableStore, changingPolicy: Bool = false,
        clock: any Clock<Duration> = ContinuousClock(), fileID: StaticString = #fileID, line: UInt = #line
    ) async throws(DurableError) {
        let rules = DurableRules.checked(
            combining, maxBatch, limit: limit, maxRunning: maxRunning, whileRunning, at: SourceSite(fileID, line)
        ) {
            () throws(PolicyError) in
            try .throttle(every: interval, edges: edges, maxCount: maxCount)
        }
        try await self.init(
            rules, changingPolicy: changingPolicy, combining.fold, namespace, store, clock)
    }

    /// Opens a namespace whose executions get all values, in order, in ``DurableExecution/values``.
    ///
    /// The store holds them until then: set `maxCount` if there may be many. With `maxBatch`, at least 1, an execution
    /// gets no more than that (<doc:Semantics>, section 8): a claim takes the first values that are ready as a run of
    /// their own. The rest stays ready until that run has ended, and later values join it. `maxCount` determines when
    /// to execute, not how much. Everything else is as in the form without `collecting`.
    public convenience init(
        collectingEvery interval: Duration, edges: Edges = [.leading, .trailing], maxCount: Int? = nil,
        maxBatch: Int? = nil,
        limit: RateLimit? = nil, maxRunning: Int? = nil, whileRunning: DurableOverlapPolicy = .queue,
        namespace: String, in store: any DurableStore, changingPolicy: Bool = false,
        clock: any Clock<Duration> = ContinuousClock(), fileID: StaticString = #fileID, line: UInt = #line
    ) async throws(DurableError) {
        let rules = DurableRules.checked(
            Combination<Value>?.none, maxBatch, limit: limit, maxRunning: maxRunning, whileRunning,
            at: SourceSite(fileID, line)
        ) {
            () throws(PolicyError) in
            try .throttle(every: interval, edges: edges, maxCount: maxCount)
        }
        try await self.init(rules, changingPolicy: changingPolicy, nil, namespace, store, clock)
    }

    /// Opens a namespace with a policy that was created, and so checked, before: for settings from a file or a server.
    ///
    /// ```swift
    /// let policy = try Policy.throttle(every: settings.interval)
    /// let sync = try await DurableThrottler<Category, Change>(policy: policy, namespace: "sync", in: store)
    /// ```
    ///
    /// Everything else is as in the initialiser that takes an interval.
    ///
    /// - Parameters:
    ///   - policy: The rules by which values fall due, from `Policy.throttle`. A debounce stops the program
    ///     with a message.
    ///   - combining: How the values behind one execution become the one that the handler gets. For all of them, use
    ///     the form with `collecting`.
    ///   - maxBatch: With `merge`, the largest number of values in one execution. Nil for no limit.
    ///   - limit: How often executions start, of all keys together, each attempt included, and whichever worker has
    ///     them (<doc:Semantics>, section 7). Nil for no limit.
    ///   - maxRunning: The most executions that all workers together have at once; at least 1. Nil for no limit.
    ///   - whileRunning: What a newer value of a key does to its run: it waits, or the run begins again with both.
    ///   - namespace: A name of your choice for these keys in the store.
    ///   - store: The store that holds the values, such as an `SQLiteStore`.
    ///   - changingPolicy: Whether other durations and counts replace those of the namespace, for all that use it. A
    ///     line in the log says what has changed.
    ///   - clock: Measures the pauses of workers and of calls that wait.
    ///   - fileID: The file that a message about a wrong setting names; leave it out.
    ///   - line: The line that this message names; leave it out.
    /// - Throws: The same errors as the other form.
    public convenience init(
        policy: Policy, combining: Combination<Value> = .latest, maxBatch: Int? = nil,
        limit: RateLimit? = nil, maxRunning: Int? = nil, whileRunning: DurableOverlapPolicy = .queue,
        namespace: String, in store: any DurableStore, changingPolicy: Bool = false,
        clock: any Clock<Duration> = ContinuousClock(), fileID: StaticString = #fileID, line: UInt = #line
    ) async throws(DurableError) {
        let rules = DurableRules.checked(
            combining, maxBatch, limit: limit, maxRunning: maxRunning, whileRunning, policy, is: .throttle,
            at: SourceSite(fileID, line))
        try await self.init(
            rules, changingPolicy: changingPolicy, combining.fold, namespace, store, clock)
    }

    /// Opens a namespace whose executions get all values, in order, with a policy that was created before.
    ///
    /// Everything else is as in the form with `collectingEvery`.
    public convenience init(
        collecting policy: Policy, maxBatch: Int? = nil,
        limit: RateLimit? = nil, maxRunning: Int? = nil, whileRunning: DurableOverlapPolicy = .queue,
        namespace: String, in store: any DurableStore, changingPolicy: Bool = false,
        clock: any Clock<Duration> = ContinuousClock(), fileID: StaticString = #fileID, line: UInt = #line
    ) async throws(DurableError) {
        let rules = DurableRules.checked(
            Combination<Value>?.none, maxBatch, limit: limit, maxRunning: maxRunning, whileRunning, policy,
            is: .throttle, at: SourceSite(fileID, line))
        try await self.init(rules, changingPolicy: changingPolicy, nil, namespace, store, clock)
    }
}
