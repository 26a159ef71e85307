public import LullCore

/// Limits and less common settings of a debouncer; all have defaults (<doc:ChoosingAPolicy>).
///
/// ```swift
/// let save = Debouncer(for: .seconds(2), options: .init(maxCount: 100, atEnd: .flush)) { (draft: Draft) in
///     try await api.save(draft)
/// }
/// ```
public struct DebounceOptions: Sendable {
    /// Whether a shorter delay of a single call replaces a longer one that is running (<doc:Semantics>, section 3).
    /// Nil for `restart`, or for the rule of a given policy.
    public var delayRule: DelayRule?
    /// As soon as this many submits are pending, they are executed; at least 1, and only with the trailing edge. It
    /// decides when to execute; ``maxBatch`` decides how much the handler gets. Nil for no limit.
    public var maxCount: Int?
    /// The least time between two due instants of a key, zero or more, and only with the trailing edge: what comes to rest
    /// earlier waits (<doc:WhenItRestsButNotTooOften>). Nil or zero for none.
    public var spacing: Duration?
    /// The largest number of values that one execution gets, if values are merged or collected; at least 1. The rest
    /// follows in further executions (<doc:Semantics>, section 8). Nil for no limit.
    public var maxBatch: Int?
    /// The largest number of executions that run at once, of all keys; at least 1. What falls due meanwhile waits. Nil
    /// for no limit.
    public var maxConcurrent: Int?
    /// The largest number of keys that are in a burst, have a value that waits to start, or are remembered for their
    /// ``spacing``, at once; at least 1. A submit that would add one ends as ``Outcome/rejected(_:)``. Nil for no limit.
    public var capacity: Int?
    /// What happens to pending values when the debouncer is released.
    public var atEnd: AtEnd
    /// How much later than due an execution may begin, so that one wake-up of the processor serves several; never
    /// earlier. Zero or more.
    public var tolerance: Duration

    /// Creates options with default values.
    public init(
        delayRule: DelayRule? = nil, maxCount: Int? = nil, spacing: Duration? = nil, maxBatch: Int? = nil,
        maxConcurrent: Int? = nil, capacity: Int? = nil, atEnd: AtEnd = .executeWhenDue, tolerance: Duration = .zero
    ) {
        self.delayRule = delayRule
        self.maxCount = maxCount
        self.spacing = spacing
        self.maxBatch = maxBatch
        self.maxConcurrent = maxConcurrent
        self.capacity = capacity
        self.atEnd = atEnd
        self.tolerance = tolerance
    }
}

/// Limits and less common settings of a throttler; all have defaults (<doc:ChoosingAPolicy>).
///
/// ```swift
/// let report = Throttler(every: .seconds(10), options: .init(tolerance: .seconds(1))) { (position: Position) in
///     try await server.report(position)
/// }
/// ```
public struct ThrottleOptions: Sendable {
    /// As soon as this many submits are pending, they are executed; at least 1, and only with the trailing edge. It
    /// decides when to execute; ``maxBatch`` decides how much the handler gets. Nil for no limit.
    public var maxCount: Int?
    /// The largest number of values that one execution gets, if values are merged or collected; at least 1. The rest
    /// follows in further executions (<doc:Semantics>, section 8). Nil for no limit.
    public var maxBatch: Int?
    /// The largest number of executions that run at once, of all keys; at least 1. What falls due meanwhile waits. Nil
    /// for no limit.
    public var maxConcurrent: Int?
    /// The largest number of keys that are in a burst, or have a value that waits to start, at once; at least 1. A
    /// submit that would add one ends as ``Outcome/rejected(_:)``. Nil for no limit.
    public var capacity: Int?
    /// What happens to pending values when the throttler is released.
    public var atEnd: AtEnd
    /// How much later than due an execution may begin, so that one wake-up of the processor serves several; never
    /// earlier. Zero or more.
    public var tolerance: Duration

    /// Creates options with default values.
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

/// The checked settings of a debouncer or throttler.
struct Settings {
    let setup: Setup
    let atEnd: AtEnd
    let tolerance: Duration
}

/// The common options of debouncers and throttlers.
private protocol ExecutionOptions {
    var maxBatch: Int? { get }
    var maxConcurrent: Int? { get }
    var capacity: Int? { get }
    var atEnd: AtEnd { get }
    var tolerance: Duration { get }
}

extension ExecutionOptions {
    /// Returns the checked settings, or stops the program with the rule that they break.
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
            try .debounce(
                for: wait, maxWait: maxWait, edges: edges, delayRule: delayRule ?? .restart, maxCount: maxCount,
                spacing: spacing)
        }
    }

    func settings(_ policy: Policy, _ combination: Combination, _ whileRunning: WhileRunning) -> Settings {
        require(policy.kind == .debounce, "the policy is a throttle, which is what a throttler takes")
        require(
            delayRule == nil && maxCount == nil && spacing == nil,
            "the policy has a delayRule, a maxCount and a spacing of its own: leave them out of the options")
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
