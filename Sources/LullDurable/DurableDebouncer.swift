internal import Lull
public import LullCore

/// Debounces or throttles work that must survive the process: what was submitted is kept in a store, and executed by
/// any of the workers that look into it, whichever process dies.
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
/// The same words mean the same as in ``/Lull/KeyedDebouncer``: what falls due, and when, is said by <doc:Semantics>,
/// whichever process asks and however late a worker comes. What is different follows from the store: a submit waits for
/// it; a handler belongs to a worker, not to the debouncer; and a handler may run more than once for one value, with
/// the same ``DurableExecution/runID``. <doc:WorkThatSurvives> tells what is promised, and what is not.
///
/// A debouncer is a handle, which costs nothing to copy. All that use one namespace of one store, in whichever process,
/// share its keys; their key and value types have to agree.
public struct DurableDebouncer<Key: DurableKey, Value: Codable & Sendable>: Sendable {
    /// The name under which the store keeps these keys and their settings.
    public let namespace: String
    let store: any DurableStore
    let clock: WorkerClock
    let tally = Guarded(DurableCounters())

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
    /// The store keeps the settings. When the namespace is opened again, durations and counts may differ; they apply
    /// from the next submit of each key on, `maxBatch` from the next claim on. Another kind of policy, other edges or
    /// another `combining` are refused.
    ///
    /// The program stops with a message if a setting breaks a rule (<doc:Semantics>, section 10). Settings that come
    /// from outside are checked by `Policy.debounce`, and given to
    /// ``init(policy:combining:maxBatch:namespace:in:clock:)``. How to choose them: <doc:WorkThatSurvives>.
    ///
    /// - Parameters:
    ///   - wait: The quiet period after which a burst is at rest. With zero nothing is coalesced.
    ///   - maxWait: No value waits longer than this; at least `wait`. Without it, a stream that never pauses is never
    ///     executed.
    ///   - edges: Where in a burst values are executed.
    ///   - delayRule: What a shorter delay of a single call does to a longer one that is running.
    ///   - maxCount: This many submits are executed at once; only with the trailing edge.
    ///   - combining: Which of the values behind one execution are kept. With `collect` all of them are: give a
    ///     `maxCount` or a `maxWait` where many may come.
    ///   - maxBatch: With `collect`, how many values one execution gets at most (<doc:Semantics>, section 8); at least
    ///     1. A claim takes the first ones of what is ready as a run of their own. The rest stays ready until that run
    ///     has ended, and later values join it. `maxCount` says when to execute, not how much.
    ///   - namespace: A name of your choice for these keys in the store.
    ///   - store: What keeps the values, such as an `SQLiteStore`.
    ///   - clock: Measures the pauses of workers and of calls that wait; a test gives the `ManualClock` of
    ///     `LullTesting`. When values fall due is measured by the store.
    /// - Throws: ``DurableError/otherPolicy(namespace:stored:given:)`` if the store has the namespace with other
    ///   settings; or what the store says.
    public init(
        for wait: Duration, maxWait: Duration? = nil, edges: Edges = .trailing, delayRule: DelayRule = .restart,
        maxCount: Int? = nil, combining: Combination = .latest, maxBatch: Int? = nil, namespace: String,
        in store: any DurableStore, clock: any Clock<Duration> = ContinuousClock()
    ) async throws(DurableError) {
        let rules = DurableRules.checked(combining, maxBatch) { () throws(PolicyError) in
            try .debounce(for: wait, maxWait: maxWait, edges: edges, delayRule: delayRule, maxCount: maxCount)
        }
        try await self.init(rules, namespace, store, clock)
    }

    /// Opens a namespace whose keys are throttled (<doc:Semantics>, section 4), and creates it if it is new.
    ///
    /// All else is as in ``init(for:maxWait:edges:delayRule:maxCount:combining:maxBatch:namespace:in:clock:)``.
    ///
    /// - Parameters:
    ///   - interval: The length of a window. With zero nothing is coalesced.
    ///   - edges: Whether a window executes at its beginning, at its end, or at both.
    ///   - maxCount: This many submits are executed at once; only with the trailing edge.
    ///   - combining: Which of the values behind one execution are kept.
    ///   - maxBatch: With `collect`, how many values one execution gets at most, as in the other form.
    ///   - namespace: A name of your choice for these keys in the store.
    ///   - store: What keeps the values, such as an `SQLiteStore`.
    ///   - clock: Measures the pauses of workers and of calls that wait.
    /// - Throws: As the other form does.
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

    /// Opens a namespace with a policy that was made, and so checked, before: for settings from a file or a server.
    ///
    /// ```swift
    /// let policy = try Policy.debounce(for: settings.wait, maxWait: settings.maxWait)
    /// let sync = try await DurableDebouncer<String, Change>(policy: policy, namespace: "sync", in: store)
    /// ```
    ///
    /// All else is as in ``init(for:maxWait:edges:delayRule:maxCount:combining:maxBatch:namespace:in:clock:)``.
    ///
    /// - Parameters:
    ///   - policy: When values fall due: what `Policy.debounce` or `Policy.throttle` has returned.
    ///   - combining: Which of the values behind one execution are kept.
    ///   - maxBatch: With `collect`, how many values one execution gets at most, as in the other forms.
    ///   - namespace: A name of your choice for these keys in the store.
    ///   - store: What keeps the values, such as an `SQLiteStore`.
    ///   - clock: Measures the pauses of workers and of calls that wait.
    /// - Throws: As the other forms do.
    public init(
        policy: Policy, combining: Combination = .latest, maxBatch: Int? = nil, namespace: String,
        in store: any DurableStore, clock: any Clock<Duration> = ContinuousClock()
    ) async throws(DurableError) {
        let rules = DurableRules.checked(combining, maxBatch) { policy }
        try await self.init(rules, namespace, store, clock)
    }

    /// Opens a namespace that exists, with the settings that the store has: for workers and tools that need not know
    /// them.
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
    /// The rules, or the end of the program with the one that is broken: they stand in its code.
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
