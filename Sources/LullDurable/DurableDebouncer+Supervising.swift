// What whoever looks after a namespace asks and does.

extension DurableDebouncer {
    /// How much there is to do in the namespace: pending, ready, running, dead, and how late the oldest is.
    public func status() async throws(DurableError) -> DurableStatus {
        guard let status = try await store.status().first(where: { $0.namespace == namespace }) else {
            throw .noPolicy(namespace: namespace)
        }
        return status
    }

    /// Keys that are not at rest, in the order of their bytes; nil for a key whose bytes this type does not know.
    ///
    /// - Parameters:
    ///   - prefix: What the keys begin with, as they are kept: strings in UTF-8, numbers in decimal digits.
    ///   - limit: How many at most.
    public func list(prefix: String = "", limit: Int = 100) async throws(DurableError) -> [DurableListing<Key?>] {
        try await store.list(in: namespace, prefix: Array(prefix.utf8), limit: limit).map {
            $0.mapKey(Key.init(durableBytes:))
        }
    }

    /// Runs that have failed for good, the oldest first; their key is nil if this type does not know its bytes.
    ///
    /// - Parameter limit: How many at most.
    public func dead(limit: Int = 100) async throws(DurableError) -> [DurableDeadRun<Key?>] {
        try await store.dead(in: namespace, limit: limit).map { $0.mapKey(Key.init(durableBytes:)) }
    }

    /// Gives a dead run another series of attempts, before anything newer of its key.
    ///
    /// With `latest` it is refused if the key has been submitted again since: an old value must not overwrite a newer one. It is
    /// also refused while the key has another run, since a key never has two at once.
    ///
    /// - Parameter run: ``DurableDeadRun/id``.
    /// - Returns: Whether it may be claimed now, or why not.
    @discardableResult
    public func retry(_ run: Int64) async throws(DurableError) -> DurableRetry {
        try await store.retry(run, in: namespace)
    }

    /// Forgets a dead run.
    ///
    /// - Parameter run: ``DurableDeadRun/id``.
    /// - Returns: Whether it was there.
    @discardableResult
    public func discard(_ run: Int64) async throws(DurableError) -> Bool {
        try await store.discard(run, in: namespace)
    }
}
