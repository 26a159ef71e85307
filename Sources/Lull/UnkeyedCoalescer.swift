internal import LullCore

/// The common part of ``Debouncer`` and ``Throttler``, which have no keys and coalesce all values.
public class UnkeyedCoalescer<Value: Sendable, Output: Sendable>:
    Coalescer<NoKey, Value, Output>, @unchecked Sendable  // See the superclass.
{
    package init(
        _ options: CheckedOptions, _ clock: any Clock<Duration>,
        _ onFailure: (@Sendable @isolated(any) (any Error) async -> Void)?,
        removingDuplicates: (@Sendable (Value, Value) -> Bool)? = nil, _ handler: Runtime<NoKey, Value, Output>.Handler
    ) {
        super.init(options, clock, ignoringKey(onFailure), removingDuplicates: removingDuplicates, handler)
    }

    /// Submits a value. When it falls due, the handler gets the newest value, or a combination (``Combination``).
    ///
    /// Returns at once; the handler never runs on the caller's stack.
    @inlinable
    public func submit(_ value: Value) {
        runtime.submit(value, for: NoKey())
    }

    /// Submits a value, as ``submit(_:)`` does: `save(draft)`.
    @inlinable
    public func callAsFunction(_ value: Value) {
        submit(value)
    }

    /// Submits a value, and passes its outcome to a completion: for callers that cannot await. Costs a few allocations.
    ///
    /// ```swift
    /// save.submit(draft) { outcome in
    ///     if case .failed(let error) = outcome { await screen.show("not saved: \(error)") }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - completion: Called once, in a task of its own on the actor of the closure. If the handler got the value, the
    ///     next execution of the key starts when this has returned.
    public func submit(
        _ value: Value,
        @_inheritActorContext completion: @escaping @Sendable @isolated(any) (Outcome<Output>) async -> Void
    ) {
        runtime.submit(value, for: NoKey(), wait: nil, promise: runtime.promise(for: NoKey(), completion))
    }

    /// Submits a value, waits for its outcome, and returns that (<doc:Outcomes>).
    ///
    /// ```swift
    /// guard case .executed(let count) = try await save.outcome(of: draft) else { return }
    /// ```
    ///
    /// The value is submitted before the call first suspends: in order with other submits of the same actor, and even
    /// if the task has been cancelled already. A handler that awaits an outcome of its own key never returns.
    ///
    /// - Throws: `CancellationError` at once when the awaiting task is cancelled. The submit stays in force.
    public nonisolated(nonsending) func outcome(of value: Value) async throws(CancellationError) -> Outcome<Output> {
        try await runtime.outcome(of: value, for: NoKey())
    }
}

extension UnkeyedCoalescer where Value == Void {
    /// Requests an execution. Returns at once; the handler never runs on the caller's stack.
    @inlinable
    public func submit() {
        submit(())
    }

    /// Requests an execution, as ``submit()`` does: `reload()`.
    @inlinable
    public func callAsFunction() {
        submit(())
    }

    /// Requests an execution, and passes the outcome of the request to a completion.
    ///
    /// - Parameter completion: Called once, in a task of its own on the actor of the closure.
    public func submit(
        @_inheritActorContext completion: @escaping @Sendable @isolated(any) (Outcome<Output>) async -> Void
    ) {
        submit((), completion: completion)
    }

    /// Requests an execution, waits for the outcome of the request, and returns that (<doc:Outcomes>).
    ///
    /// - Throws: `CancellationError` at once when the awaiting task is cancelled. The submit stays in force.
    public nonisolated(nonsending) func outcome() async throws(CancellationError) -> Outcome<Output> {
        try await runtime.outcome(of: (), for: NoKey())
    }
}

/// The key type of a debouncer or throttler without keys, in its events and recordings. No call takes one.
@frozen
public struct NoKey: Hashable, Sendable {
    @inlinable
    init() {}
}

/// Returns what a message calls a key.
func describe(_ key: some Any, of value: Any.Type) -> String {
    key is NoKey ? "the only key, of values of type \(value)" : "key \(key)"
}
