internal import LullCore

/// A debouncer or throttler in which all submits are coalesced with each other.
public class UnkeyedCoalescer<Value: Sendable, Output: Sendable>:
    Coalescer<NoKey, Value, Output>, @unchecked Sendable  // See the superclass.
{
    /// Offers a value, at this instant. Never blocks, and never runs the handler on the caller's stack.
    @inlinable
    public func submit(_ value: Value) {
        runtime.submit(value, for: NoKey())
    }

    /// Offers a value, as ``submit(_:)`` does.
    @inlinable
    public func callAsFunction(_ value: Value) {
        runtime.submit(value, for: NoKey())
    }

    /// Offers a value and calls back with what became of it. For callers that cannot await; costs a few allocations.
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

    /// Offers a value and returns what became of it.
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
    /// Asks for an execution, at this instant.
    @inlinable
    public func submit() {
        runtime.submit((), for: NoKey())
    }

    /// Asks for an execution, as ``submit()`` does.
    @inlinable
    public func callAsFunction() {
        runtime.submit((), for: NoKey())
    }

    /// Asks for an execution and calls back with what became of the request.
    ///
    /// - Parameter completion: Called once, in a task of its own on the actor where it was written.
    public func submit(
        @_inheritActorContext completion: @escaping @Sendable @isolated(any) (Outcome<Output>) async -> Void
    ) {
        submit((), completion: completion)
    }

    /// Asks for an execution and returns what became of the request.
    ///
    /// - Throws: `CancellationError` at once when the awaiting task is cancelled. The submit keeps its course.
    @inlinable
    public nonisolated(nonsending) func outcome() async throws(CancellationError) -> Outcome<Output> {
        try await runtime.outcome(of: (), for: NoKey())
    }
}
