internal import Lull
public import LullCore

/// Debounces work that must survive the process: a store holds what was submitted, and any of its workers executes it
/// when a burst has ended, whichever process dies.
///
/// ```swift
/// let sync = try await DurableDebouncer<String, Change>(
///     for: .seconds(2), maxWait: .seconds(10), namespace: "sync", in: store)
/// try await sync.submit(change, for: document)              // returns when it has been recorded
///
/// try await sync.run { execution in                         // until the task is cancelled
///     try await server.send(execution.value, named: execution.runID)
/// }
/// ```
///
/// All terms have the same meaning as in ``/Lull/KeyedDebouncer``: <doc:Semantics> defines what falls due and when,
/// whichever process asks and however late a worker is. The differences follow from the store: a submit waits for the
/// store; a handler belongs to a worker, not to the debouncer; and a handler may run more than once for one value, with
/// the same ``DurableExecution/runID``. <doc:WorkThatSurvives> says what is guaranteed, and what is not.
///
/// A debouncer is a handle on a namespace of the store. All debouncers on one namespace of one store, in any process,
/// share its keys; their key and value types have to agree.
public final class DurableDebouncer<Key: DurableKey, Value: Codable & Sendable>:
    DurableCoalescer<Key, Value>, @unchecked Sendable  // See the superclass.
{
    /// Opens a namespace whose keys are debounced (<doc:Semantics>, section 3), and creates it if it is new.
    ///
    /// The store holds the settings, which are the same for all that use the namespace. Opening it with other ones is
    /// an error, unless `changingPolicy` says that they change for all: durations and counts from the next submit of
    /// each key on, `maxBatch`, `limit` and `maxRunning` from the next claim on. The kind of policy, the edges,
    /// `combining` and `whileRunning` cannot change.
    ///
    /// The program stops with a message if a setting breaks a rule (<doc:Semantics>, section 10). Check settings that
    /// come from outside with `Policy.debounce`, and pass the policy to the initialiser that takes one.
    /// How to choose settings: <doc:WorkThatSurvives>.
    ///
    /// - Parameters:
    ///   - wait: The quiet period that ends a burst. With zero nothing is coalesced.
    ///   - maxWait: The longest wait of a value; at least `wait`. Without it, values of a stream that never pauses are
    ///     never executed.
    ///   - edges: The edges of a burst at which values are executed.
    ///   - delayRule: The effect of a single call's shorter delay on a longer one that is running.
    ///   - maxCount: Executes as soon as this many submits are pending; only with the trailing edge.
    ///   - spacing: The least time between two due instants of a key; only with the trailing edge. Nil for none.
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
        for wait: Duration, maxWait: Duration? = nil, edges: Edges = .trailing, delayRule: DelayRule = .restart,
        maxCount: Int? = nil, spacing: Duration? = nil, combining: Combination<Value> = .latest, maxBatch: Int? = nil,
        limit: RateLimit? = nil, maxRunning: Int? = nil, whileRunning: DurableOverlapPolicy = .queue,
        namespace: String, in store: any DurableStore, changingPolicy: Bool = false,
        clock: any Clock<Duration> = ContinuousClock(), fileID: StaticString = #fileID, line: UInt = #line
    ) async throws(DurableError) {
        let rules = DurableRules.checked(
            combining, maxBatch, limit: limit, maxRunning: maxRunning, whileRunning, at: SourceSite(fileID, line)
        ) {
            () throws(PolicyError) in
            try .debounce(
                for: wait, maxWait: maxWait, edges: edges, delayRule: delayRule, maxCount: maxCount, spacing: spacing)
        }
        try await self.init(
            rules, changingPolicy: changingPolicy, combining.fold, namespace, store, clock)
    }

    /// Opens a namespace whose executions get all values, in order, in ``DurableExecution/values``.
    ///
    /// The store holds them until then: set `maxCount` or `maxWait` if there may be many. With `maxBatch`, at least 1,
    /// an execution gets no more than that (<doc:Semantics>, section 8): a claim takes the first values that are ready
    /// as a run of their own. The rest stays ready until that run has ended, and later values join it. `maxCount`
    /// determines when to execute, not how much. Everything else is as in the form without `collecting`.
    public convenience init(
        collectingFor wait: Duration, maxWait: Duration? = nil, edges: Edges = .trailing,
        delayRule: DelayRule = .restart,
        maxCount: Int? = nil, spacing: Duration? = nil, maxBatch: Int? = nil,
        limit: RateLimit? = nil, maxRunning: Int? = nil, whileRunning: DurableOverlapPolicy = .queue,
        namespace: String, in store: any DurableStore, changingPolicy: Bool = false,
        clock: any Clock<Duration> = ContinuousClock(), fileID: StaticString = #fileID, line: UInt = #line
    ) async throws(DurableError) {
        let rules = DurableRules.checked(
            Combination<Value>?.none, maxBatch, limit: limit, maxRunning: maxRunning, whileRunning,
            at: SourceSite(fileID, line)
        ) {
            () throws(PolicyError) in
            try .debounce(
                for: wait, maxWait: maxWait, edges: edges, delayRule: delayRule, maxCount: maxCount, spacing: spacing)
        }
        try await self.init(rules, changingPolicy: changingPolicy, nil, namespace, store, clock)
    }

    /// Opens a namespace with a policy that was created, and so checked, before: for settings from a file or a server.
    ///
    /// ```swift
    /// let policy = try Policy.debounce(for: settings.wait, maxWait: settings.maxWait)
    /// let sync = try await DurableDebouncer<String, Change>(policy: policy, namespace: "sync", in: store)
    /// ```
    ///
    /// Everything else is as in the initialiser that takes a wait.
    ///
    /// - Parameters:
    ///   - policy: The rules by which values fall due, from `Policy.debounce`. A throttle stops the program
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
            combining, maxBatch, limit: limit, maxRunning: maxRunning, whileRunning, policy, is: .debounce,
            at: SourceSite(fileID, line))
        try await self.init(
            rules, changingPolicy: changingPolicy, combining.fold, namespace, store, clock)
    }

    /// Opens a namespace whose executions get all values, in order, with a policy that was created before.
    ///
    /// Everything else is as in the form with `collectingFor`.
    public convenience init(
        collecting policy: Policy, maxBatch: Int? = nil,
        limit: RateLimit? = nil, maxRunning: Int? = nil, whileRunning: DurableOverlapPolicy = .queue,
        namespace: String, in store: any DurableStore, changingPolicy: Bool = false,
        clock: any Clock<Duration> = ContinuousClock(), fileID: StaticString = #fileID, line: UInt = #line
    ) async throws(DurableError) {
        let rules = DurableRules.checked(
            Combination<Value>?.none, maxBatch, limit: limit, maxRunning: maxRunning, whileRunning, policy,
            is: .debounce, at: SourceSite(fileID, line))
        try await self.init(rules, changingPolicy: changingPolicy, nil, namespace, store, clock)
    }

    /// Submits a value under a key with a delay of its own, and returns when the store has recorded it.
    ///
    /// Everything else is as in ``DurableCoalescer/submit(_:for:token:context:)``.
    ///
    /// - Parameters:
    ///   - value: The value. The store holds it as JSON.
    ///   - key: The key, of at most ``DurableLimits/longestKey`` bytes.
    ///   - delay: The quiet period from this submit on, in place of the debouncer's; a negative one counts as zero. If
    ///     it exceeds `maxWait`, that limit applies.
    ///   - token: A name for the submit that makes it repeatable.
    ///   - context: Text that travels with the value.
    /// - Returns: A receipt for ``DurableCoalescer/state(of:)`` and ``DurableCoalescer/wait(for:atMost:)``.
    /// - Throws: The same errors as the form without `after`.
    @discardableResult
    public func submit(
        _ value: Value, for key: Key, after delay: Duration, token: String? = nil, context: String? = nil
    ) async throws(DurableError) -> DurableReceipt {
        try await submit(value, for: key, wait: CoreDuration(delay), token: token, context: context)
    }

    /// Says that a key is still busy, without a value: what is pending under it falls due later, as after a submit.
    ///
    /// For somebody who is still typing. A `maxWait` holds all the same. It changes nothing if nothing is going on
    /// under the key, and interrupts no run.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - delay: The quiet period from this call on, in place of the debouncer's; a negative one counts as zero.
    /// - Returns: Whether a burst was going on.
    @discardableResult
    public func touch(_ key: Key, after delay: Duration? = nil) async throws(DurableError) -> Bool {
        try await store.touch(key.durableBytes, in: namespace, wait: delay.map { CoreDuration($0) })
    }
}
