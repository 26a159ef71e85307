internal import Lull
public import LullCore

/// Debounces and throttles work that must survive the process: what was submitted is kept in a store, and executed, whatever
/// dies, by any one of any number of workers.
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
/// The same words mean the same as in ``/Lull/KeyedDebouncer``: what falls due, and when, is said by <doc:Semantics>, whichever
/// process asks and however late a worker comes. What is different follows from the store: a submit waits for it; a handler
/// belongs to a worker, not to the debouncer; and a handler may run more than once for one value, with the same
/// ``DurableExecution/runID``. <doc:WorkThatSurvives> tells what is promised, and what is not.
///
/// A debouncer is a handle, which costs nothing to copy. All that use one namespace of one store, in whichever process,
/// share its keys; their key and value types have to agree.
public struct DurableDebouncer<Key: DurableKey, Value: Codable & Sendable>: Sendable {
    /// What the keys belong to. The store keeps its rules: another kind of policy, other edges or another way of combining are
    /// refused when it is opened again.
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

    /// Opens a namespace whose keys are debounced.
    ///
    /// The first time, the store takes these settings. Later, durations and counts may differ, and hold from the next submit
    /// of each key on, `maxBatch` from the next claim on. Stops with a message if a setting breaks a rule (<doc:Semantics>,
    /// section 10). What comes from outside is checked by `Policy.debounce`, and given to the initialiser that takes a policy.
    ///
    /// - Parameters:
    ///   - wait: The quiet period after which a burst is at rest. With zero nothing is coalesced.
    ///   - maxWait: No value waits longer than this; at least `wait`. Without it, a stream that never pauses is never
    ///     executed.
    ///   - edges: Where in a burst values are executed.
    ///   - delayRule: What a shorter delay of a single call does to a longer one that is running.
    ///   - maxCount: This many submits are executed at once; only with the trailing edge.
    ///   - combining: Which of the values behind one execution are kept. With `collect` all of them are: give a `maxCount` or
    ///     a `maxWait` where many may come.
    ///   - maxBatch: With `collect`, how many values one execution gets at most (<doc:Semantics>, section 8); at least 1. A
    ///     claim takes the first ones of what is ready as a run of their own. The rest stays ready until that run has ended,
    ///     and later values join it. `maxCount` says when to execute, not how much.
    ///   - namespace: What the keys belong to.
    ///   - store: Where everything is kept.
    ///   - clock: What workers measure their heartbeats and pauses by. When things fall due is measured by the store.
    /// - Throws: ``DurableError/otherPolicy(namespace:stored:given:)`` if the store has the namespace with other settings;
    ///   or what the store says.
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

    /// Opens a namespace whose keys are throttled (<doc:Semantics>, section 4).
    ///
    /// - Parameters:
    ///   - interval: The length of a window. With zero nothing is coalesced.
    ///   - edges: Whether a window executes at its beginning, at its end, or at both.
    ///   - maxCount: This many submits are executed at once; only with the trailing edge.
    ///   - combining: Which of the values behind one execution are kept.
    ///   - maxBatch: With `collect`, how many values one execution gets at most, as in the other form.
    ///   - namespace: What the keys belong to.
    ///   - store: Where everything is kept.
    ///   - clock: What workers measure their heartbeats and pauses by.
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

    /// Opens a namespace with a policy that has been checked: one whose settings come from a file, or from a server.
    ///
    /// - Parameters:
    ///   - policy: When values fall due, as `Policy.debounce` or `Policy.throttle` has checked it.
    ///   - combining: Which of the values behind one execution are kept.
    ///   - maxBatch: With `collect`, how many values one execution gets at most, as in the other forms.
    ///   - namespace: What the keys belong to.
    ///   - store: Where everything is kept.
    ///   - clock: What workers measure their heartbeats and pauses by.
    /// - Throws: As the other forms do.
    public init(
        policy: Policy, combining: Combination = .latest, maxBatch: Int? = nil, namespace: String,
        in store: any DurableStore, clock: any Clock<Duration> = ContinuousClock()
    ) async throws(DurableError) {
        let rules = DurableRules.checked(combining, maxBatch) { policy }
        try await self.init(rules, namespace, store, clock)
    }

    /// Opens a namespace with the settings that the store has: for workers and tools that need not know them.
    ///
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
