internal import LullCore

/// What ``Debouncer`` and ``Throttler`` share: they take values without a key, and coalesce all of them with each
/// other.
public class UnkeyedCoalescer<Value: Sendable, Output: Sendable>:
    Coalescer<NoKey, Value, Output>, @unchecked Sendable  // See the superclass.
{
    /// Submits a value. When values fall due, the handler gets the newest one, or what ``Combining`` makes of them.
    ///
    /// Returns at once; the handler never runs on the caller's stack.
    @inlinable
    public func submit(_ value: Value) {
        runtime.submit(value, for: NoKey())
    }

    /// Submits a value, as ``submit(_:)`` does: `save(draft)`.
    @inlinable
    public func callAsFunction(_ value: Value) {
        runtime.submit(value, for: NoKey())
    }

    /// Submits a value, and calls back with what has become of it: for callers that cannot await. Costs a few
    /// allocations.
    ///
    /// ```swift
    /// save.submit(draft) { outcome in
    ///     if case .failed(let error) = outcome { await screen.show("not saved: \(error)") }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - completion: Called once, in a task of its own on the actor where it was written. Between callbacks there is
    ///     no order.
    public func submit(
        _ value: Value,
        @_inheritActorContext completion: @escaping @Sendable @isolated(any) (Outcome<Output>) async -> Void
    ) {
        runtime.submit(value, for: NoKey(), promise: runtime.promise(for: NoKey(), completion))
    }

    /// Submits a value, and returns what has become of it when that is known (<doc:Outcomes>).
    ///
    /// ```swift
    /// guard case .executed(let count) = try await save.outcome(of: draft) else { return }
    /// ```
    ///
    /// The value is submitted before the call first suspends, in order with other submits of the same actor, and also
    /// if the task has been cancelled already. A handler that awaits an outcome of its own key waits for itself.
    ///
    /// - Throws: `CancellationError` at once when the awaiting task is cancelled. The submit keeps its course.
    @inlinable
    public nonisolated(nonsending) func outcome(of value: Value) async throws(CancellationError) -> Outcome<Output> {
        try await runtime.outcome(of: value, for: NoKey())
    }
}

extension UnkeyedCoalescer where Value == Void {
    /// Asks for an execution when it is due. Returns at once; the handler never runs on the caller's stack.
    @inlinable
    public func submit() {
        runtime.submit((), for: NoKey())
    }

    /// Asks for an execution, as ``submit()`` does: `reload()`.
    @inlinable
    public func callAsFunction() {
        runtime.submit((), for: NoKey())
    }

    /// Asks for an execution, and calls back with what has become of the request.
    ///
    /// - Parameter completion: Called once, in a task of its own on the actor where it was written.
    public func submit(
        @_inheritActorContext completion: @escaping @Sendable @isolated(any) (Outcome<Output>) async -> Void
    ) {
        submit((), completion: completion)
    }

    /// Asks for an execution, and returns what has become of the request when that is known (<doc:Outcomes>).
    ///
    /// - Throws: `CancellationError` at once when the awaiting task is cancelled. The submit keeps its course.
    @inlinable
    public nonisolated(nonsending) func outcome() async throws(CancellationError) -> Outcome<Output> {
        try await runtime.outcome(of: (), for: NoKey())
    }
}
