public import LullCore

/// Limits and less common settings of a debouncer; all have defaults (<doc:ChoosingAPolicy>).
///
/// ```swift
/// let save = Debouncer(for: .seconds(2), options: .init(atEnd: .flush)) { (draft: Draft) in
///     try await api.save(draft)
/// }
/// ```
public struct DebounceOptions: Sendable {
    /// Whether a shorter delay of a single call replaces a longer one that is running (<doc:Semantics>, section 3).
    /// Nil for `restart`, or for the rule of a given policy.
    public var delayRule: DelayRule?
    /// The least time between two due instants of a key, zero or more, and only with the trailing edge: what would be due
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
    /// The rule for pending values when the debouncer is released.
    public var atEnd: AtEnd
    /// How much later than due an execution may begin, so that one wake-up of the processor serves several; never
    /// earlier. Zero or more.
    public var tolerance: Duration

    /// Creates options with default values.
    public init(
        delayRule: DelayRule? = nil, spacing: Duration? = nil, maxBatch: Int? = nil,
        maxConcurrent: Int? = nil, capacity: Int? = nil, atEnd: AtEnd = .executeWhenDue, tolerance: Duration = .zero
    ) {
        self.delayRule = delayRule
        self.spacing = spacing
        self.maxBatch = maxBatch
        self.maxConcurrent = maxConcurrent
        self.capacity = capacity
        self.atEnd = atEnd
        self.tolerance = tolerance
    }
}

extension DebounceOptions: ExecutionOptions {
    func checked(
        for wait: Duration, maxWait: Duration?, edges: Edges, maxCount: Int?, _ combination: Combination,
        _ whileRunning: WhileRunning, at site: SourceSite
    ) -> CheckedOptions {
        checked(combination, whileRunning, at: site) { () throws(PolicyError) in
            try .debounce(
                for: wait, maxWait: maxWait, edges: edges, delayRule: delayRule ?? .restart, maxCount: maxCount,
                spacing: spacing)
        }
    }

    func checked(
        _ policy: Policy, _ combination: Combination, _ whileRunning: WhileRunning, at site: SourceSite
    ) -> CheckedOptions {
        require(policy.kind == .debounce, "the policy is a throttle, which is what a throttler takes", at: site)
        require(
            delayRule == nil && spacing == nil,
            "the policy has a delayRule and a spacing of its own: leave them out of the options", at: site)
        return checked(combination, whileRunning, at: site) { policy }
    }
}
