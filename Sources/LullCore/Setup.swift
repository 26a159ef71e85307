/// The settings of an ``Engine``: a valid policy, and the other options of debouncers and throttlers.
@frozen
public struct Setup: Hashable, Sendable {
    /// When values fall due.
    public let policy: Policy
    /// How the values behind one execution become one.
    public let combination: Combination
    /// The treatment of a value that falls due while an execution of its key is running.
    public let whileRunning: WhileRunning
    /// The greatest number of executions that run at once; `Int.max` for no limit.
    public let maxConcurrent: Int
    /// The greatest number of keys that are open or waiting at once; `Int.max` for no limit.
    public let capacity: Int
    /// The greatest number of values that one execution gets; `Int.max` for no limit (<doc:Semantics>, section 8).
    public let maxBatch: Int
    /// How often executions may start, of all keys together; nil for no limit.
    public let limit: RateLimit?

    /// Creates a setup from settings that obey the rules (<doc:Semantics>, section 10); nil stands for no limit.
    ///
    /// - Throws: ``PolicyError`` if a number is less than 1, if the `limit` breaks a rule, if `maxBatch` is given where
    ///   an execution gets one value, or if cancelling would lose values that are collected.
    public init(
        _ policy: Policy, combination: Combination = .latest, whileRunning: WhileRunning = .queue,
        maxConcurrent: Int? = nil, capacity: Int? = nil, maxBatch: Int? = nil, limit: RateLimit? = nil
    ) throws(PolicyError) {
        if let maxConcurrent, maxConcurrent < 1 { throw .maxConcurrentBelowOne(maxConcurrent) }
        if let capacity, capacity < 1 { throw .capacityBelowOne(capacity) }
        if case .cancelRunning = whileRunning, combination == .collect { throw .cancelRunningLosesValues }
        if let maxBatch {
            if maxBatch < 1 { throw .maxBatchBelowOne(maxBatch) }
            if combination != .collect { throw .maxBatchOfOneValue(maxBatch) }
        }
        try limit?.check()
        self.policy = policy
        self.combination = combination
        self.whileRunning = whileRunning
        self.maxConcurrent = maxConcurrent ?? .max
        self.capacity = capacity ?? .max
        self.maxBatch = maxBatch ?? .max
        self.limit = limit
    }
}
