internal import Lull
internal import LullCore

/// The common part of ``DurableDebouncer`` and ``DurableThrottler``: submit, flush, cancel, work, and look.
///
/// An object is a handle on a namespace of a store, and costs nothing to make again. All handles on one namespace of one store, in
/// any process, share its keys; their key and value types have to agree. Every call may be made from any task, thread or actor, and
/// from inside a handler.
///
/// A worker or a tool that need not know when values fall due opens the namespace by its name alone:
///
/// ```swift
/// let sync = try await DurableCoalescer<String, Change>(namespace: "sync", in: store)
/// try await sync.run { execution in try await server.send(execution.value, named: execution.runID) }
/// ```
public class DurableCoalescer<Key: DurableKey, Value: Codable & Sendable>: @unchecked Sendable {
    // Proof of @unchecked Sendable: all properties are constants that are Sendable, and only this module makes subclasses, which
    // have none.

    /// The name under which the store holds these keys and their settings.
    public final let namespace: String
    final let store: any DurableStore
    final let clock: WorkerClock
    /// What a newer value of a key does to its run: a rule of the namespace.
    public final let whileRunning: DurableWhileRunning
    final let counts = Guarded(DurableCounters())

    init(
        _ rules: DurableRules?, _ namespace: String, _ store: any DurableStore, _ clock: any Clock<Duration>
    ) async throws(DurableError) {
        whileRunning = try await store.open(namespace, rules).whileRunning
        self.namespace = namespace
        self.store = store
        self.clock = WorkerClock(clock)
    }

    /// Opens an existing namespace with the settings that the store has: for workers and tools that need not know them.
    ///
    /// - Parameters:
    ///   - namespace: The name under which it was created.
    ///   - store: The store that has it.
    ///   - clock: Measures the pauses of workers and of calls that wait.
    /// - Throws: ``DurableError/noPolicy(namespace:)`` if the namespace has never been opened with settings.
    public convenience init(
        namespace: String, in store: any DurableStore, clock: any Clock<Duration> = ContinuousClock()
    ) async throws(DurableError) {
        try await self.init(nil, namespace, store, clock)
    }
}

extension DurableRules {
    /// Returns the rules, or stops the program with the rule that is broken: the settings are part of its code.
    static func checked(
        _ combining: Combination, _ maxBatch: Int?, _ whileRunning: DurableWhileRunning,
        at site: SourceSite, _ make: () throws(PolicyError) -> Policy
    ) -> DurableRules {
        do {
            return try DurableRules(
                try make(), combination: combining, maxBatch: maxBatch, whileRunning: whileRunning)
        } catch {
            refuse("\(error)", at: site)
        }
    }

    /// Returns the rules with a policy of the right kind, or stops the program with the rule that is broken.
    static func checked(
        _ combining: Combination, _ maxBatch: Int?, _ whileRunning: DurableWhileRunning, _ policy: Policy,
        is kind: Policy.Kind, at site: SourceSite
    ) -> DurableRules {
        switch (policy.kind, kind) {
        case (.throttle, .debounce):
            refuse("the policy is a throttle, which is what a DurableThrottler takes", at: site)
        case (.debounce, .throttle):
            refuse("the policy is a debounce, which is what a DurableDebouncer takes", at: site)
        default: checked(combining, maxBatch, whileRunning, at: site) { policy }
        }
    }
}
