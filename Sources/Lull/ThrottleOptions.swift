internal import LullCore

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
    /// The rule for pending values when the throttler is released.
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

extension ThrottleOptions: ExecutionOptions {
    func checked(
        every interval: Duration, edges: Edges, _ combination: Combination, _ whileRunning: WhileRunning
    ) -> CheckedOptions {
        checked(combination, whileRunning) { () throws(PolicyError) in
            try .throttle(every: interval, edges: edges, maxCount: maxCount)
        }
    }

    func checked(_ policy: Policy, _ combination: Combination, _ whileRunning: WhileRunning) -> CheckedOptions {
        require(policy.kind == .throttle, "the policy is a debounce, which is what a debouncer takes")
        require(maxCount == nil, "the policy has a maxCount of its own: leave it out of the options")
        return checked(combination, whileRunning) { policy }
    }
}
