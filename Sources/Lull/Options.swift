public import LullCore

/// The limits and rarer settings of a debouncer; all have defaults (<doc:ChoosingAPolicy>).
///
/// ```swift
/// let save = Debouncer(for: .seconds(2), options: .init(maxCount: 100, atEnd: .flush)) { (draft: Draft) in
///     try await api.save(draft)
/// }
/// ```
public struct DebounceOptions: Sendable {
    /// What a shorter delay of a single call does to a longer one that is running (<doc:Semantics>, section 3).
    public var delayRule: DelayRule
    /// When this many submits are pending they are executed at once; at least 1, and only with the trailing edge. It
    /// decides when to execute; how much the handler gets is up to ``maxBatch``. Nil for no limit.
    public var maxCount: Int?
    /// How many values one execution gets at most, where values are merged or collected; at least 1. The rest follows
    /// in further executions (<doc:Semantics>, section 8). Nil for no limit.
    public var maxBatch: Int?
    /// How many executions of all keys may run at once; at least 1. What falls due meanwhile waits. Nil for no limit.
    public var maxConcurrent: Int?
    /// How many keys may be in a burst, or have a value that waits to start, at once; at least 1. A submit that would
    /// add one ends as ``Outcome/rejected(_:)``. Nil for no limit.
    public var capacity: Int?
    /// What becomes of pending values when the last reference to the debouncer goes away.
    public var atEnd: AtEnd
    /// How much later than due an execution may begin, so that several wake-ups of the processor become one; never
    /// earlier. Zero or more.
    public var tolerance: Duration

    /// Makes options with the defaults, except for what is given.
    public init(
        delayRule: DelayRule = .restart, maxCount: Int? = nil, maxBatch: Int? = nil, maxConcurrent: Int? = nil,
        capacity: Int? = nil, atEnd: AtEnd = .executeWhenDue, tolerance: Duration = .zero
    ) {
        self.delayRule = delayRule
        self.maxCount = maxCount
        self.maxBatch = maxBatch
        self.maxConcurrent = maxConcurrent
        self.capacity = capacity
        self.atEnd = atEnd
        self.tolerance = tolerance
    }
}

/// The limits and rarer settings of a throttler; all have defaults (<doc:ChoosingAPolicy>).
///
/// ```swift
/// let report = Throttler(every: .seconds(10), options: .init(tolerance: .seconds(1))) { (position: Position) in
///     try await server.report(position)
/// }
/// ```
public struct ThrottleOptions: Sendable {
    /// When this many submits are pending they are executed at once; at least 1, and only with the trailing edge. It
    /// decides when to execute; how much the handler gets is up to ``maxBatch``. Nil for no limit.
    public var maxCount: Int?
    /// How many values one execution gets at most, where values are merged or collected; at least 1. The rest follows
    /// in further executions (<doc:Semantics>, section 8). Nil for no limit.
    public var maxBatch: Int?
    /// How many executions of all keys may run at once; at least 1. What falls due meanwhile waits. Nil for no limit.
    public var maxConcurrent: Int?
    /// How many keys may be in a burst, or have a value that waits to start, at once; at least 1. A submit that would
    /// add one ends as ``Outcome/rejected(_:)``. Nil for no limit.
    public var capacity: Int?
    /// What becomes of pending values when the last reference to the throttler goes away.
    public var atEnd: AtEnd
    /// How much later than due an execution may begin, so that several wake-ups of the processor become one; never
    /// earlier. Zero or more.
    public var tolerance: Duration

    /// Makes options with the defaults, except for what is given.
    public init(
        maxCount: Int? = nil, maxBatch: Int? = nil, maxConcurrent: Int? = nil, capacity: Int? = nil,
        atEnd: AtEnd = .executeWhenDue, tolerance: Duration = .zero
    ) {
        self.maxCount = maxCount
        self.maxBatch = maxBatch
        self.maxConcurrent = maxConcurrent
        self.capacity = capacity
        self.atEnd = atEnd
        self.tolerance = tolerance
    }
}

// MARK: - What they come to

/// All that a debouncer or throttler is set up with, checked.
struct Settings {
    let setup: Setup
    let atEnd: AtEnd
    let tolerance: Duration
}

/// What the options of debouncers and throttlers have in common.
private protocol ExecutionOptions {
    var maxBatch: Int? { get }
    var maxConcurrent: Int? { get }
    var capacity: Int? { get }
    var atEnd: AtEnd { get }
    var tolerance: Duration { get }
}

extension ExecutionOptions {
    /// Stops the program with the rule that the settings break: they stand in its code.
    fileprivate func settings(
        _ combination: Combination, _ whileRunning: WhileRunning, _ policy: () throws(PolicyError) -> Policy
    ) -> Settings {
        do {
            let setup = try Setup(
                policy(), combination: combination, whileRunning: whileRunning, maxConcurrent: maxConcurrent,
                capacity: capacity, maxBatch: maxBatch)
            return Settings(setup: setup, atEnd: atEnd, tolerance: tolerance)
        } catch {
            refuse("\(error)")
        }
    }
}

extension DebounceOptions: ExecutionOptions {
    func settings(
        for wait: Duration, maxWait: Duration?, edges: Edges, _ combination: Combination, _ whileRunning: WhileRunning
    ) -> Settings {
        settings(combination, whileRunning) { () throws(PolicyError) in
            try .debounce(for: wait, maxWait: maxWait, edges: edges, delayRule: delayRule, maxCount: maxCount)
        }
    }

    func settings(_ policy: Policy, _ combination: Combination, _ whileRunning: WhileRunning) -> Settings {
        require(policy.kind == .debounce, "the policy is a throttle, which is what a throttler takes")
        require(
            delayRule == .restart && maxCount == nil,
            "the policy has a delayRule and a maxCount of its own: leave them out of the options")
        return settings(combination, whileRunning) { policy }
    }
}

extension ThrottleOptions: ExecutionOptions {
    func settings(
        every interval: Duration, edges: Edges, _ combination: Combination, _ whileRunning: WhileRunning
    ) -> Settings {
        settings(combination, whileRunning) { () throws(PolicyError) in
            try .throttle(every: interval, edges: edges, maxCount: maxCount)
        }
    }

    func settings(_ policy: Policy, _ combination: Combination, _ whileRunning: WhileRunning) -> Settings {
        require(policy.kind == .throttle, "the policy is a debounce, which is what a debouncer takes")
        require(maxCount == nil, "the policy has a maxCount of its own: leave it out of the options")
        return settings(combination, whileRunning) { policy }
    }
}
