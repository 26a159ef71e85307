// The calls for monitoring a namespace and handling its dead runs.

extension DurableCoalescer {
    /// Returns how much is pending, ready, running and dead in the namespace, and how late the oldest work is: for a
    /// dashboard or a health check. The cost grows with the number of keys that are not idle.
    public func status() async throws(DurableError) -> DurableStatus {
        guard let status = try await store.status().first(where: { $0.namespace == namespace }) else {
            throw .noPolicy(namespace: namespace)
        }
        return status
    }

    /// Returns keys that have anything pending, ready or running, in the order of their bytes.
    ///
    /// - Parameters:
    ///   - prefix: The beginning of the keys' bytes: strings are UTF-8, numbers decimal digits.
    ///   - limit: The largest number of keys to return.
    /// - Returns: The keys with their state; a key is nil if no key of this type has its bytes.
    public func list(prefix: String = "", limit: Int = 100) async throws(DurableError) -> [DurableListing<Key?>] {
        try await store.list(in: namespace, prefix: Array(prefix.utf8), limit: limit).map {
            $0.mapKey(Key.init(durableBytes:))
        }
    }

    /// Returns how submits have ended, the newest first: those that a newer value has replaced after a failure are nowhere else.
    ///
    /// The store retains ends for ``DurableLimits/retention``, and dead runs until they are retried or discarded. To learn the end
    /// of one submit, use ``state(of:)``. The cost grows with the limit, but for all keys of a Redis server with the number of
    /// retained ends.
    ///
    /// - Parameters:
    ///   - key: The key; nil for all keys.
    ///   - limit: The largest number of ends to return.
    /// - Returns: The ends; a key is nil if no key of this type has its bytes.
    public func ended(of key: Key? = nil, limit: Int = 100) async throws(DurableError) -> [DurableEnd<Key?>] {
        try await store.ended(of: key?.durableBytes, in: namespace, limit: limit).map {
            $0.mapKey(Key.init(durableBytes:))
        }
    }

    /// Returns the workers of the namespace, in all processes: where each runs, how many runs it holds, and when it said last that
    /// it is there. The cost grows with the number of workers and, on a Redis server, of the runs that they hold.
    public func workers() async throws(DurableError) -> [DurableWorker] {
        try await store.workers(in: namespace)
    }

    /// Returns runs that have used up their attempts, the oldest first. They stay until ``retry(_:)`` or ``discard(_:)``.
    ///
    /// For ways to handle them, see <doc:WorkThatSurvives>.
    ///
    /// - Parameter limit: The largest number of runs to return.
    /// - Returns: The runs; a key is nil if no key of this type has its bytes.
    public func dead(limit: Int = 100) async throws(DurableError) -> [DurableDeadRun<Key?>] {
        try await store.dead(in: namespace, limit: limit).map { $0.mapKey(Key.init(durableBytes:)) }
    }

    /// Gives a dead run another series of attempts, before anything newer of its key.
    ///
    /// With `latest`, the retry is refused if the key has been submitted again since: an old value must not overwrite a
    /// newer one. It is also refused while the key has another run, because a key never has two at once.
    ///
    /// - Parameter run: The ``DurableDeadRun/id`` of the run.
    /// - Returns: ``DurableRetry/accepted``, or why it was refused.
    @discardableResult
    public func retry(_ run: Int64) async throws(DurableError) -> DurableRetry {
        try await store.retry(run, in: namespace)
    }

    /// Deletes a dead run with its values.
    ///
    /// - Parameter run: The ``DurableDeadRun/id`` of the run.
    /// - Returns: Whether there was such a run.
    @discardableResult
    public func discard(_ run: Int64) async throws(DurableError) -> Bool {
        try await store.discard(run, in: namespace)
    }
}
