internal import LullCore

/// Limits and less common settings of a throttler; all have defaults (<doc:ChoosingAPolicy>).
///
/// ```swift
/// let report = Throttler(every: .seconds(10), options: .init(tolerance: .seconds(1))) { (position: Position) in
///     try await server.report(position)
/// }
/// ```
public struct ThrottleOptions: Sendable {
    /// The largest number of values that one execution gets, if values are merged or collected; at least 1. The rest
    /// follows in further executions (<doc:Semantics>, section 8). Nil for no limit.
    public var maxBatch: Int?
    /// The largest number of executions that run at once, of all keys; at least 1. What falls due meanwhile waits. Nil
    /// for no limit.
    public var maxConcurrent: Int?
    /// The largest number of keys that are in a burst, or have a value that waits to start, at once; at least 1. A
    /// submit that would add one ends as ``Outcome/rejected(_:)``. Nil for no limit.
    public var capacity: Int?
    /// The rule for pending values when the throttler is released.
    public var atEnd: AtEnd
    /// How much later than due an execution may begin, so that one wake-up of the processor serves several; never
    /// earlier. Zero or more.
    public var tolerance: Duration

    /// Creates options with default values.
    public init(
        maxBatch: Int? = nil, maxConcurrent: Int? = nil, capacity: Int? = nil,
        atEnd: AtEnd = .executeWhenDue, tolerance: Duration = .zero
    ) {
        self.maxBatch = maxBatch
        self.maxConcurrent = maxConcurrent
        self.capacity = capacity
        self.atEnd = atEnd
        self.tolerance = tolerance
    }
}

extension ThrottleOptions: ExecutionOptions {
    func checked(
        every interval: Duration, edges: Edges, maxCount: Int?, _ combination: Combination,
        _ whileRunning: WhileRunning, at site: SourceSite
    ) -> CheckedOptions {
        checked(combination, whileRunning, at: site) { () throws(PolicyError) in
            try .throttle(every: interval, edges: edges, maxCount: maxCount)
        }
    }

    func checked(
        _ policy: Policy, _ combination: Combination, _ whileRunning: WhileRunning, at site: SourceSite
    ) -> CheckedOptions {
        require(policy.kind == .throttle, "the policy is a debounce, which is what a debouncer takes", at: site)
        return checked(combination, whileRunning, at: site) { policy }
    }
}
