/// A store of the pending work of durable debouncers and throttlers: `SQLiteStore`, `PostgresStore`, `RedisStore` or
/// ``MemoryStore``.
///
/// Create one, pass it to a ``DurableDebouncer`` or ``DurableThrottler``, and ``close()`` it at the end. They make all
/// other calls, which throw ``DurableError``. Each is one atomic step at one instant of the store's own time, and is
/// committed before it returns.
///
/// All stores are in this package: a type of your own that conforms is refused by the debouncer that gets it.
public protocol DurableStore: Sendable {
    /// Ends this process's use of the store. It answers earlier calls first; later calls, and workers, throw
    /// ``DurableError/closed``.
    func close() async
}

extension DurableStore {
    /// Returns all namespaces of the store, by name, with their counts.
    public func status() async throws(DurableError) -> [DurableStatus] { try await calls.status() }

    /// Deletes a namespace that has no work and no dead runs: its rules, its counters, how its submits have ended, and
    /// the answers to its tokens. It can be opened again, with any rules. Numbers of submits and runs do not begin
    /// again.
    ///
    /// Stop what uses the namespace first: its later calls throw ``DurableError/noPolicy(namespace:)``, unless the
    /// store opens namespaces again that a server has lost.
    ///
    /// - Throws: ``DurableError/hasWork(_:)`` if it has work or dead runs; ``DurableError/noPolicy(namespace:)`` if
    ///   there is no such namespace.
    public func forget(_ namespace: String) async throws(DurableError) { try await calls.forget(namespace) }

    /// The calls of the store.
    package var calls: any StoreCalls {
        guard let calls = self as? any StoreCalls else {
            preconditionFailure("\(type(of: self)) is no store of Lull's: its calls are not public")
        }
        return calls
    }
}
