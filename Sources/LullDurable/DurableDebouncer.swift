internal import Lull
public import LullCore

/// Debounces or throttles work that must survive the process: a store holds what was submitted, and any of its workers
/// executes it, whichever process dies.
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
/// A debouncer is a handle, which costs nothing to copy. All debouncers on one namespace of one store, in any process,
/// share its keys; their key and value types have to agree.
public struct DurableDebouncer<Key: DurableKey, Value: Codable & Sendable>: Sendable {
    /// The name under which the store holds these keys and their settings.
    public let namespace: String
    let store: any DurableStore
    let clock: WorkerClock
    let counts = Guarded(DurableCounters())

    private init(
        _ rules: DurableRules?, _ namespace: String, _ store: any DurableStore, _ clock: any Clock<Duration>
    ) async throws(DurableError) {
        try await store.open(namespace, rules)
        self.namespace = namespace
        self.store = store
        self.clock = WorkerClock(clock)
    }

    /// Opens a namespace whose keys are debounced (<doc:Semantics>, section 3), and creates it if it is new.
    ///
    /// The store holds the settings. When the namespace is opened again, durations and counts may differ; they apply
    /// from the next submit of each key on, `maxBatch` from the next claim on. Another kind of policy, other edges or
    /// another `combining` are refused.
    ///
    /// The program stops with a message if a setting breaks a rule (<doc:Semantics>, section 10). Check settings that
    /// come from outside with `Policy.debounce`, and pass the policy to
    /// ``init(policy:combining:maxBatch:namespace:in:clock:)``. How to choose settings: <doc:WorkThatSurvives>.
    ///
    /// - Parameters:
    ///   - wait: The quiet period that ends a burst. With zero nothing is coalesced.
    ///   - maxWait: The longest wait of a value; at least `wait`. Without it, values of a stream that never pauses are
    ///     never executed.
    ///   - edges: The edges of a burst at which values are executed.
    ///   - delayRule: The effect of a single call's shorter delay on a longer one that is running.
    ///   - maxCount: Executes as soon as this many submits are pending; only with the trailing edge.
    ///   - spacing: The least time between two due instants of a key; only with the trailing edge. Nil for none.
    ///   - combining: Which of the values behind one execution are retained. With `collect` all of them are: set
    ///     `maxCount` or `maxWait` if there may be many.
    ///   - maxBatch: With `collect`, the largest number of values in one execution (<doc:Semantics>, section 8); at
    ///     least 1. A claim takes the first values of what is ready as a run of their own. The rest stays ready until
    ///     that run has ended, and later values join it. `maxCount` determines when to execute, not how much.
    ///   - namespace: A name of your choice for these keys in the store.
    ///   - store: The store that holds the values, such as an `SQLiteStore`.
    ///   - clock: Measures the pauses of workers and of calls that wait; tests pass the `ManualClock` of `LullTesting`.
    ///     The store measures when values fall due.
    /// - Throws: ``DurableError/otherPolicy(namespace:stored:given:)`` if the store has the namespace with other
    ///   settings; or the error of the store.
    public init(
        for wait: Duration, maxWait: Duration? = nil, edges: Edges = .trailing, delayRule: DelayRule = .restart,
        maxCount: Int? = nil, spacing: Duration? = nil, combining: Combination = .latest, maxBatch: Int? = nil,
        namespace: String, in store: any DurableStore, clock: any Clock<Duration> = ContinuousClock()
    ) async throws(DurableError) {
        let rules = DurableRules.checked(combining, maxBatch) { () throws(PolicyError) in
            try .debounce(
                for: wait, maxWait: maxWait, edges: edges, delayRule: delayRule, maxCount: maxCount, spacing: spacing)
        }
        try await self.init(rules, namespace, store, clock)
    }

    /// Opens a namespace whose keys are throttled (<doc:Semantics>, section 4), and creates it if it is new.
    ///
    /// Everything else is as in ``init(for:maxWait:edges:delayRule:maxCount:spacing:combining:maxBatch:namespace:in:clock:)``.
    ///
    /// - Parameters:
    ///   - interval: The length of a window. With zero nothing is coalesced.
    ///   - edges: Whether a window executes at its beginning, at its end, or at both.
    ///   - maxCount: Executes as soon as this many submits are pending; only with the trailing edge.
    ///   - combining: Which of the values behind one execution are retained.
    ///   - maxBatch: With `collect`, the largest number of values in one execution, as in the other form.
    ///   - namespace: A name of your choice for these keys in the store.
    ///   - store: The store that holds the values, such as an `SQLiteStore`.
    ///   - clock: Measures the pauses of workers and of calls that wait.
    /// - Throws: The same errors as the other form.
    public init(
        every interval: Duration, edges: Edges = [.leading, .trailing], maxCount: Int? = nil,
        combining: Combination = .latest, maxBatch: Int? = nil, namespace: String, in store: any DurableStore,
        clock: any Clock<Duration> = ContinuousClock()
    ) async throws(DurableError) {
        let rules = DurableRules.checked(combining, maxBatch) { () throws(PolicyError) in
            try .throttle(every: interval, edges: edges, maxCount: maxCount)
        }
        try await self.init(rules, namespace, store, clock)
    }

    /// Opens a namespace with a policy that was created, and so checked, before: for settings from a file or a server.
    ///
    /// ```swift
    /// let policy = try Policy.debounce(for: settings.wait, maxWait: settings.maxWait)
    /// let sync = try await DurableDebouncer<String, Change>(policy: policy, namespace: "sync", in: store)
    /// ```
    ///
    /// Everything else is as in ``init(for:maxWait:edges:delayRule:maxCount:spacing:combining:maxBatch:namespace:in:clock:)``.
    ///
    /// - Parameters:
    ///   - policy: The rules by which values fall due, from `Policy.debounce` or `Policy.throttle`.
    ///   - combining: Which of the values behind one execution are retained.
    ///   - maxBatch: With `collect`, the largest number of values in one execution, as in the other forms.
    ///   - namespace: A name of your choice for these keys in the store.
    ///   - store: The store that holds the values, such as an `SQLiteStore`.
    ///   - clock: Measures the pauses of workers and of calls that wait.
    /// - Throws: The same errors as the other forms.
    public init(
        policy: Policy, combining: Combination = .latest, maxBatch: Int? = nil, namespace: String,
        in store: any DurableStore, clock: any Clock<Duration> = ContinuousClock()
    ) async throws(DurableError) {
        let rules = DurableRules.checked(combining, maxBatch) { policy }
        try await self.init(rules, namespace, store, clock)
    }

    /// Opens an existing namespace with the settings that the store has: for workers and tools that need not know them.
    ///
    /// - Parameters:
    ///   - namespace: The name under which it was created.
    ///   - store: The store that has it.
    ///   - clock: Measures the pauses of workers and of calls that wait.
    /// - Throws: ``DurableError/noPolicy(namespace:)`` if the namespace has never been opened with settings.
    public init(
        namespace: String, in store: any DurableStore, clock: any Clock<Duration> = ContinuousClock()
    ) async throws(DurableError) {
        try await self.init(nil, namespace, store, clock)
    }
}

extension DurableRules {
    /// Returns the rules, or stops the program with the rule that is broken: the settings are part of its code.
    fileprivate static func checked(
        _ combining: Combination, _ maxBatch: Int?, _ make: () throws(PolicyError) -> Policy
    ) -> DurableRules {
        do {
            return try DurableRules(try make(), combination: combining, maxBatch: maxBatch)
        } catch {
            refuse("\(error)")
        }
    }
}
