/// Everything that an engine is set up with.
@frozen
public struct Setup: Hashable, Sendable {
    /// When values fall due.
    public let policy: Policy
    /// How values become one.
    public let combination: Combination
    /// What becomes of a value that falls due while its key is busy.
    public let whileRunning: WhileRunning
    /// How many executions may run at once; `Int.max` for no limit.
    public let maxConcurrent: Int
    /// How many keys may be open or waiting at once; `Int.max` for no limit.
    public let capacity: Int
    /// How many values one execution gets at most; `Int.max` for no limit (<doc:Semantics>, section 8).
    public let maxBatch: Int

    /// Checks and keeps the settings.
    ///
    /// - Throws: ``PolicyError`` if a bound is less than 1, or if what is to be combined would be lost.
    @inlinable
    public init(
        _ policy: Policy, combination: Combination = .latest, whileRunning: WhileRunning = .queue,
        maxConcurrent: Int? = nil, capacity: Int? = nil, maxBatch: Int? = nil
    ) throws(PolicyError) {
        if let maxConcurrent, maxConcurrent < 1 { throw .maxConcurrentBelowOne(maxConcurrent) }
        if let capacity, capacity < 1 { throw .capacityBelowOne(capacity) }
        if whileRunning == .cancelRunning, combination == .collect { throw .cancelRunningLosesValues }
        if let maxBatch {
            if maxBatch < 1 { throw .maxBatchBelowOne(maxBatch) }
            if combination != .collect { throw .maxBatchOfOneValue(maxBatch) }
        }
        self.policy = policy
        self.combination = combination
        self.whileRunning = whileRunning
        self.maxConcurrent = maxConcurrent ?? .max
        self.capacity = capacity ?? .max
        self.maxBatch = maxBatch ?? .max
    }
}

/// What becomes of a value that falls due while an earlier execution of its key is running
/// (<doc:Semantics>, section 7).
@frozen
public enum WhileRunning: Hashable, Sendable {
    /// It waits, at most one a key, and starts when the running one has ended.
    case queue
    /// The running one is cancelled and awaited, then it starts: the latest wins. Not with ``Combination/collect``, since the
    /// values of what is cancelled are lost.
    case cancelRunning
    /// Both run.
    case concurrent
    /// It is dropped, unless a flush asked for it; then it waits.
    case skip
}
