public import LullCore

/// What ``KeyedDebouncer`` and ``KeyedThrottler`` share: they take values under keys, and coalesce only those of the
/// same key.
public class KeyedCoalescer<Key: Hashable & Sendable, Value: Sendable, Output: Sendable>:
    Coalescer<Key, Value, Output>, @unchecked Sendable  // See the superclass.
{
    /// Submits a value under a key. When values of the key fall due, the handler gets the newest one, or what
    /// ``Combining`` makes of them.
    ///
    /// Returns at once; the handler never runs on the caller's stack.
    @inlinable
    public func submit(_ value: Value, for key: Key) {
        runtime.submit(value, for: key)
    }

    /// Submits a value under a key, and calls back with what has become of it: for callers that cannot await. Costs a
    /// few allocations.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - key: The key.
    ///   - completion: Called once, in a task of its own on the actor where it was written. Between callbacks there is
    ///     no order.
    public func submit(
        _ value: Value, for key: Key,
        @_inheritActorContext completion: @escaping @Sendable @isolated(any) (Outcome<Output>) async -> Void
    ) {
        runtime.submit(value, for: key, promise: runtime.promise(for: key, completion))
    }

    /// Submits a value under a key, and returns what has become of it when that is known (<doc:Outcomes>).
    ///
    /// The value is submitted before the call first suspends, in order with other submits of the same actor, and also
    /// if the task has been cancelled already. A handler that awaits an outcome of its own key waits for itself.
    ///
    /// - Throws: `CancellationError` at once when the awaiting task is cancelled. The submit keeps its course.
    @inlinable
    public nonisolated(nonsending) func outcome(
        of value: Value, for key: Key
    ) async throws(CancellationError) -> Outcome<Output> {
        try await runtime.outcome(of: value, for: key)
    }

    /// Executes what is pending under a key now instead of when it is due (<doc:Semantics>, section 5).
    ///
    /// Returns at once; a key that has nothing pending costs a look-up.
    @inlinable
    public func flush(_ key: Key) {
        runtime.report { engine, now in engine.flush(key, at: now) }
    }

    /// Executes what is pending under a key now, and returns when it has ended, together with what was running of the
    /// key.
    ///
    /// It waits for handlers, not for the callbacks that are told of outcomes and failures afterwards.
    ///
    /// From inside a handler of the same debouncer it does not wait. When the awaiting task is cancelled it returns at
    /// once, and the work goes on.
    @inlinable
    public nonisolated(nonsending) func flushAndWait(_ key: Key) async {
        await runtime.reportAndWait(for: key) { engine, now in engine.flush(key, at: now) }
    }

    /// Drops what is pending under a key, and what is due and has not started (<doc:Semantics>, section 5).
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - includingRunning: Whether executions of the key that are running are told to stop as well, by cancelling their tasks.
    @inlinable
    public func cancel(_ key: Key, includingRunning: Bool = false) {
        runtime.report { engine, now in engine.cancel(key, running: includingRunning, at: now) }
    }

    /// Whether nothing is pending under a key, waiting to start, or running.
    @inlinable
    public func isIdle(_ key: Key) -> Bool {
        runtime.lock.withLock { runtime.engine.isIdle(key) }
    }

    /// Whether a value is pending under a key: submitted, and not yet due. One that is due and waits to start is not.
    @inlinable
    public func isPending(_ key: Key) -> Bool {
        timeUntilDue(key) != nil
    }

    /// How long it is until what is pending under a key falls due, or nil if nothing is.
    @inlinable
    public func timeUntilDue(_ key: Key) -> Duration? {
        let now = runtime.clock.now()
        return runtime.lock.withLock { runtime.engine.nextDue(key, at: now) }.map { Duration(now.duration(to: $0)) }
    }

    /// The number of keys that have an open gate or a value waiting to start: what a capacity bounds. Costs a lock.
    ///
    /// Like ``Coalescer/counters`` it tells of what has been handled so far.
    @inlinable
    public var openKeyCount: Int {
        runtime.lock.withLock { runtime.engine.openKeyCount }
    }
}

extension KeyedCoalescer where Value == Void {
    /// Asks for an execution under a key when it is due. Returns at once; the handler never runs on the caller's stack.
    @inlinable
    public func submit(for key: Key) {
        runtime.submit((), for: key)
    }

    /// Asks for an execution under a key, and calls back with what has become of the request.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - completion: Called once, in a task of its own on the actor where it was written.
    public func submit(
        for key: Key,
        @_inheritActorContext completion: @escaping @Sendable @isolated(any) (Outcome<Output>) async -> Void
    ) {
        submit((), for: key, completion: completion)
    }

    /// Asks for an execution under a key, and returns what has become of the request when that is known
    /// (<doc:Outcomes>).
    ///
    /// - Throws: `CancellationError` at once when the awaiting task is cancelled. The submit keeps its course.
    @inlinable
    public nonisolated(nonsending) func outcome(for key: Key) async throws(CancellationError) -> Outcome<Output> {
        try await runtime.outcome(of: (), for: key)
    }
}
