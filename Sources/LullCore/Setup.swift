/// The settings of a ``SlotEngine``: a valid policy, and the other options of debouncers and throttlers.
@frozen
@usableFromInline
package struct Setup: Hashable, Sendable {
    /// When values fall due.
    @usableFromInline
    package let policy: Policy
    /// How the values behind one execution become one.
    @usableFromInline
    package let combination: CombinationRule
    /// The treatment of a value that falls due while an execution of its key is running.
    package let whileRunning: OverlapPolicy
    /// The greatest number of executions that run at once; `Int.max` for no limit.
    package let maxConcurrent: Int
    /// The greatest number of keys that are open or waiting at once; `Int.max` for no limit.
    package let capacity: Int
    /// The greatest number of values that one execution gets; `Int.max` for no limit (<doc:Semantics>, section 8).
    package let maxBatch: Int
    /// How often executions may start, of all keys together; nil for no limit.
    package let limit: RateLimit?
    /// How long an execution may run; infinite for no limit.
    package let timeLimit: CoreDuration
    /// Whether handlers are synchronous: they cannot be told to stop.
    package var isSynchronous = false
    /// Whether an execution may end as ``Ending/unchanged``, which gives its start back to the limit.
    package var removesDuplicates = false
    /// The greatest number of submits that are pending at once; `Int.max` for no limit.
    package let maxPending: Int
    /// What a submit beyond that does.
    package let overflow: OverflowPolicy

    /// Creates a setup from settings that obey the rules (<doc:Semantics>, section 10); nil stands for no limit.
    ///
    /// - Throws: ``PolicyError`` if a number is less than 1, if the `limit` or the `timeLimit` breaks a rule, if
    ///   `maxBatch` is given where an execution gets one value, or if values that are collected would be lost.
    package init(
        _ policy: Policy, combination: CombinationRule = .latest, whileRunning: OverlapPolicy = .queue,
        maxConcurrent: Int? = nil, capacity: Int? = nil, maxBatch: Int? = nil, limit: RateLimit? = nil,
        maxPending: Int? = nil, overflow: OverflowPolicy = .reject, timeLimit: CoreDuration? = nil
    ) throws(PolicyError) {
        if let maxConcurrent, maxConcurrent < 1 { throw .maxConcurrentBelowOne(maxConcurrent) }
        if let capacity, capacity < 1 { throw .capacityBelowOne(capacity) }
        if let maxPending, maxPending < 1 { throw .maxPendingBelowOne(maxPending) }
        if whileRunning.keepsOneValue, combination == .collect { throw .overlapLosesValues(whileRunning) }
        if let maxBatch {
            if maxBatch < 1 { throw .maxBatchBelowOne(maxBatch) }
            if combination != .collect { throw .maxBatchOfOneValue(maxBatch) }
        }
        try limit?.check()
        if let timeLimit, timeLimit <= .zero { throw .timeLimitNotPositive(timeLimit) }
        self.policy = policy
        self.combination = combination
        self.whileRunning = whileRunning
        self.maxConcurrent = maxConcurrent ?? .max
        self.capacity = capacity ?? .max
        self.maxBatch = maxBatch ?? .max
        self.limit = limit
        self.maxPending = maxPending ?? .max
        self.overflow = overflow
        self.timeLimit = timeLimit ?? .infinite
    }

    var hasTimeLimit: Bool { timeLimit < .infinite }

    /// Whether it matters when an execution starts, and not only that it does.
    package var countsStarts: Bool { limit != nil || hasTimeLimit }

    /// Whether the order of the submits that are kept matters.
    package var keepsOrder: Bool { maxPending < .max && overflow == .dropOldest }

    /// Whether a submit does more than to place a value.
    var concernsSubmits: Bool { whileRunning.concernsSubmits || maxPending < .max }
}
