/// A setting that breaks a rule: what was given, and what is allowed (<doc:Semantics>, section 10).
@nonexhaustive
public enum PolicyError: Error, Hashable, Sendable {
    /// The wait of a debounce is negative.
    case negativeWait(CoreDuration)
    /// The interval of a throttle is negative.
    case negativeInterval(CoreDuration)
    /// The longest wait is shorter than the wait.
    case maxWaitBelowWait(maxWait: CoreDuration, wait: CoreDuration)
    /// Neither the leading nor the trailing edge is set.
    case noEdges
    /// A count of submits that is not positive.
    case maxCountBelowOne(Int)
    /// A count of submits where nothing is ever pending.
    case maxCountWithoutTrailing(Int)
    /// A bound on concurrent executions that would allow none.
    case maxConcurrentBelowOne(Int)
    /// A bound on open keys that would allow none.
    case capacityBelowOne(Int)
    /// A bound on the values of an execution that would allow none.
    case maxBatchBelowOne(Int)
    /// A bound on the values of an execution where an execution gets a single value anyway.
    case maxBatchOfOneValue(Int)
    /// Values that are collected or merged would be lost with the execution that is cancelled.
    case cancelRunningLosesValues
}

extension PolicyError: CustomStringConvertible {
    /// What was given, and what is allowed.
    public var description: String {
        switch self {
        case .negativeWait(let wait):
            "the wait is \(wait), but must be zero or more"
        case .negativeInterval(let interval):
            "the interval is \(interval), but must be zero or more"
        case .maxWaitBelowWait(let maxWait, let wait):
            "the maxWait is \(maxWait), but must be at least the wait of \(wait)"
        case .noEdges:
            "the edges are empty, but must contain leading, trailing, or both"
        case .maxCountBelowOne(let count):
            "the maxCount is \(count), but must be 1 or more"
        case .maxCountWithoutTrailing(let count):
            "the maxCount is \(count), but needs the trailing edge: without it nothing is ever pending"
        case .maxConcurrentBelowOne(let count):
            "the maxConcurrent is \(count), but must be 1 or more"
        case .capacityBelowOne(let count):
            "the capacity is \(count), but must be 1 or more"
        case .maxBatchBelowOne(let count):
            "the maxBatch is \(count), but must be 1 or more"
        case .maxBatchOfOneValue(let count):
            "the maxBatch is \(count), but only collecting and merging give an execution more than one value"
        case .cancelRunningLosesValues:
            """
            whileRunning is cancelRunning, which would lose the values of the execution that is cancelled: collect or merge \
            with queue, or keep the latest value
            """
        }
    }
}

extension CoreDuration: CustomStringConvertible {
    /// The duration in the largest unit that writes it without a fraction: `1500ms`, `2s`, `250us`.
    public var description: String {
        if self == .infinite { return "forever" }
        if nanoseconds % 1_000_000_000 == 0 { return "\(nanoseconds / 1_000_000_000)s" }
        if nanoseconds % 1_000_000 == 0 { return "\(nanoseconds / 1_000_000)ms" }
        if nanoseconds % 1000 == 0 { return "\(nanoseconds / 1000)us" }
        return "\(nanoseconds)ns"
    }
}
