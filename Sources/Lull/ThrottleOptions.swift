public import LullCore

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
    /// How often executions start, of all keys together: for a service that allows so many calls a minute. What may not
    /// start yet waits, and newer values of its key join it (<doc:Semantics>, section 7). Nil for no limit.
    public var limit: RateLimit?
    /// How long a handler may run; more than zero. Then its task is cancelled, and if it throws, the execution has
    /// failed with ``TimeLimitExceeded``. A handler that goes on is *overdue*: an event, a counter and a line in the
    /// log say so (<doc:Semantics>, section 7). Nil for no limit.
    public var timeLimit: Duration?
    /// The largest number of keys that are in a burst, or have a value that waits to start, at once; at least 1. A
    /// submit that would add one ends as ``Outcome/rejected(_:)``. Nil for no limit.
    public var capacity: Int?
    /// The largest number of submits that are pending, of all keys together; at least 1: for what collects while a
    /// server is away. What a submit does that would add one is ``overflow``. Nil for no limit.
    public var maxPending: Int?
    /// The treatment of a submit beyond ``maxPending``.
    public var overflow: OverflowPolicy
    /// The rule for pending values when the throttler is released.
    public var atEnd: EndPolicy
    /// How much later than due an execution may begin, so that one wake-up of the processor serves several; never
    /// earlier. Zero or more.
    public var tolerance: Duration

    /// Creates options with default values.
    public init(
        maxBatch: Int? = nil, maxConcurrent: Int? = nil, limit: RateLimit? = nil, timeLimit: Duration? = nil,
        capacity: Int? = nil, maxPending: Int? = nil,
        overflow: OverflowPolicy = .reject, atEnd: EndPolicy = .executeWhenDue, tolerance: Duration = .zero
    ) {
        self.maxBatch = maxBatch
        self.maxConcurrent = maxConcurrent
        self.limit = limit
        self.timeLimit = timeLimit
        self.capacity = capacity
        self.maxPending = maxPending
        self.overflow = overflow
        self.atEnd = atEnd
        self.tolerance = tolerance
    }
}

extension ThrottleOptions: ExecutionOptions {
    @inline(never)
    package func checked(
        every interval: Duration, edges: Edges, maxCount: Int?, _ combination: CombinationRule,
        _ whileRunning: OverlapPolicy, at site: SourceSite
    ) -> CheckedOptions {
        checked(combination, whileRunning, at: site) { () throws(PolicyError) in
            try .throttle(every: interval, edges: edges, maxCount: maxCount)
        }
    }
}
