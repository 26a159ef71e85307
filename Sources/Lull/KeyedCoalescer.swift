internal import LullCore

/// The common part of ``KeyedDebouncer`` and ``KeyedThrottler``, which coalesce values of the same key.
public class KeyedCoalescer<Key: Hashable & Sendable, Value: Sendable, Output: Sendable>:
    Coalescer<Key, Value, Output>, @unchecked Sendable  // See the superclass.
{
    /// Submits a value under a key. When the key falls due, the handler gets the newest value, or a combination
    /// (``Combination``).
    ///
    /// Returns at once; the handler never runs on the caller's stack.
    @inlinable
    public func submit(_ value: Value, for key: Key) {
        runtime.submit(value, for: key)
    }

    /// Submits a value under a key, and passes its outcome to a completion: for callers that cannot await. Costs a few
    /// allocations.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - key: The key.
    ///   - completion: Called once, in a task of its own on the actor of the closure. If the handler got the value, the
    ///     next execution of the key starts when this has returned.
    public func submit(
        _ value: Value, for key: Key,
        @_inheritActorContext completion: @escaping @Sendable @isolated(any) (Outcome<Output>) async -> Void
    ) {
        runtime.submit(value, for: key, wait: nil, promise: runtime.promise(for: key, completion))
    }

    /// Submits a value under a key, waits for its outcome, and returns that (<doc:Outcomes>).
    ///
    /// The value is submitted before the call first suspends: in order with other submits of the same actor, and even
    /// if the task has been cancelled already. A handler that awaits an outcome of its own key never returns.
    ///
    /// - Throws: `CancellationError` at once when the awaiting task is cancelled. The submit stays in force.
    public nonisolated(nonsending) func outcome(
        of value: Value, for key: Key
    ) async throws(CancellationError) -> Outcome<Output> {
        try await runtime.outcome(of: value, for: key)
    }

    /// Executes now what is pending under a key (<doc:Semantics>, section 5).
    ///
    /// Returns at once. If nothing is pending under the key, this costs a look-up.
    public func flush(_ key: Key) {
        runtime.call(.flush, key)
    }

    /// Executes now what is pending under a key, and waits until this and any running execution of the key have ended.
    ///
    /// It also waits for the completions and `onFailure` that are told their outcomes (<doc:Semantics>, section 6).
    ///
    /// Inside a handler of the same debouncer, and inside those, it does not wait. If the awaiting task is cancelled,
    /// it returns at once, and the work goes on.
    public nonisolated(nonsending) func flushAndWait(_ key: Key) async {
        await runtime.flushAndWait(key)
    }

    /// Drops what is pending under a key, or is due and has not started (<doc:Semantics>, section 5).
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - includingRunning: Whether a running execution of the key is cancelled as well, by cancelling its task.
    public func cancel(_ key: Key, includingRunning: Bool = false) {
        runtime.call(.cancel(running: includingRunning), key)
    }

    /// How much is pending, waiting and running under a key, now.
    ///
    /// Starts what is due under the key by now, as the timer would. Costs a look-up and a lock.
    public func state(of key: Key) -> WorkState {
        runtime.state(of: key)
    }

    /// The number of keys that `capacity` bounds: those with an open gate or a value that waits or is held, and those
    /// that are remembered for their spacing alone (<doc:Semantics>, section 7). Costs a lock.
    ///
    /// Keys are forgotten with the next wake-up or, a few at a time, by later submits: none is made to forget them.
    public var keyCount: Int {
        runtime.lock.withLock { runtime.engine.openCount + runtime.engine.restingCount }
    }
}

extension KeyedCoalescer where Value == Void {
    /// Requests an execution under a key. Returns at once; the handler never runs on the caller's stack.
    @inlinable
    public func submit(for key: Key) {
        submit((), for: key)
    }

    /// Requests an execution under a key, and passes the outcome of the request to a completion.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - completion: Called once, in a task of its own on the actor of the closure.
    public func submit(
        for key: Key,
        @_inheritActorContext completion: @escaping @Sendable @isolated(any) (Outcome<Output>) async -> Void
    ) {
        submit((), for: key, completion: completion)
    }

    /// Requests an execution under a key, waits for the outcome of the request, and returns that (<doc:Outcomes>).
    ///
    /// - Throws: `CancellationError` at once when the awaiting task is cancelled. The submit stays in force.
    public nonisolated(nonsending) func outcome(for key: Key) async throws(CancellationError) -> Outcome<Output> {
        try await runtime.outcome(of: (), for: key)
    }
}
