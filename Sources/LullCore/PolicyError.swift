/// A setting that breaks a rule (<doc:Semantics>, section 10). Its ``description`` says what was given and what is
/// allowed, for the author of the setting.
@nonexhaustive
public enum PolicyError: Error, Hashable, Sendable {
    /// The wait of a debounce is negative.
    case negativeWait(CoreDuration)
    /// The interval of a throttle is negative.
    case negativeInterval(CoreDuration)
    /// The `maxWait` is shorter than the wait.
    case maxWaitBelowWait(maxWait: CoreDuration, wait: CoreDuration)
    /// The edges contain neither leading nor trailing.
    case noEdges
    /// The `maxCount` is less than 1.
    case maxCountBelowOne(Int)
    /// A `maxCount` is given, but not the trailing edge: nothing is ever pending.
    case maxCountWithoutTrailing(Int)
    /// The spacing is negative.
    case negativeSpacing(CoreDuration)
    /// A spacing is given, but not the trailing edge: nothing could wait for it.
    case spacingWithoutTrailing(CoreDuration)
    /// The `maxConcurrent` is less than 1.
    case maxConcurrentBelowOne(Int)
    /// The `capacity` is less than 1.
    case capacityBelowOne(Int)
    /// The `maxBatch` is less than 1.
    case maxBatchBelowOne(Int)
    /// A `maxBatch` is given, but an execution gets a single value anyway: only collecting and merging give it more.
    case maxBatchOfOneValue(Int)
    /// `.cancelRunning` together with collecting or merging: the values of the cancelled execution would be lost.
    case cancelRunningLosesValues
}

extension PolicyError: CustomStringConvertible {
    /// The value given and the rule, in one line: `the maxWait is 1s, but must be at least the wait of 2s`.
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
        case .negativeSpacing(let spacing):
            "the spacing is \(spacing), but must be zero or more"
        case .spacingWithoutTrailing(let spacing):
            "the spacing is \(spacing), but needs the trailing edge: without it nothing can wait"
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
            whileRunning is cancelRunning, which would lose the values of the execution that is cancelled: use restart, or \
            keep the latest value
            """
        }
    }
}

extension CoreDuration: CustomStringConvertible {
    /// The duration in the largest unit that needs no fraction: `1500ms`, `2s`, `250us`.
    public var description: String {
        if self == .infinite { return "forever" }
        if nanoseconds % 1_000_000_000 == 0 { return "\(nanoseconds / 1_000_000_000)s" }
        if nanoseconds % 1_000_000 == 0 { return "\(nanoseconds / 1_000_000)ms" }
        if nanoseconds % 1000 == 0 { return "\(nanoseconds / 1000)us" }
        return "\(nanoseconds)ns"
    }
}
