// What whoever looks after a namespace asks and does.

extension DurableDebouncer {
    /// Counts what is pending, ready, running and dead in the namespace, and says how late the oldest is: for a
    /// dashboard or a health check. The cost grows with the number of keys that are not at rest.
    public func status() async throws(DurableError) -> DurableStatus {
        guard let status = try await store.status().first(where: { $0.namespace == namespace }) else {
            throw .noPolicy(namespace: namespace)
        }
        return status
    }

    /// Lists keys that have anything pending, ready or running, in the order of their bytes.
    ///
    /// - Parameters:
    ///   - prefix: Only keys whose bytes begin with this: strings are kept as UTF-8, numbers as decimal digits.
    ///   - limit: How many keys at most.
    /// - Returns: The keys with what they have; a key is nil if its bytes stand for none of this type.
    public func list(prefix: String = "", limit: Int = 100) async throws(DurableError) -> [DurableListing<Key?>] {
        try await store.list(in: namespace, prefix: Array(prefix.utf8), limit: limit).map {
            $0.mapKey(Key.init(durableBytes:))
        }
    }

    /// Lists runs that have used up their attempts, the oldest first. They stay until ``retry(_:)`` or ``discard(_:)``.
    ///
    /// What to do with them: <doc:WorkThatSurvives>.
    ///
    /// - Parameter limit: How many at most.
    /// - Returns: The runs; a key is nil if its bytes stand for none of this type.
    public func dead(limit: Int = 100) async throws(DurableError) -> [DurableDeadRun<Key?>] {
        try await store.dead(in: namespace, limit: limit).map { $0.mapKey(Key.init(durableBytes:)) }
    }

    /// Gives a dead run another series of attempts, before anything newer of its key.
    ///
    /// With `latest` it is refused if the key has been submitted again since: an old value must not overwrite a newer
    /// one. It is also refused while the key has another run, since a key never has two at once.
    ///
    /// - Parameter run: Its ``DurableDeadRun/id``.
    /// - Returns: ``DurableRetry/accepted``, or why it was refused.
    @discardableResult
    public func retry(_ run: Int64) async throws(DurableError) -> DurableRetry {
        try await store.retry(run, in: namespace)
    }

    /// Forgets a dead run with its values.
    ///
    /// - Parameter run: Its ``DurableDeadRun/id``.
    /// - Returns: Whether there was such a run.
    @discardableResult
    public func discard(_ run: Int64) async throws(DurableError) -> Bool {
        try await store.discard(run, in: namespace)
    }
}
