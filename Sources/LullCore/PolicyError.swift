/// A setting that breaks a rule (<doc:Semantics>, section 10).
///
/// Print it: its ``description`` says what was given and what is allowed, for the author of the setting. Its ``code``
/// is for programs that answer in their own words.
public struct PolicyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The rule that is broken.
    ///
    /// A later version may have more cases: give a `switch` an `@unknown default`.
    @nonexhaustive
    public enum Code: Hashable, Sendable {
        /// The wait of a debounce is negative.
        case negativeWait
        /// The interval of a throttle is negative.
        case negativeInterval
        /// The `maxWait` is shorter than the wait.
        case maxWaitBelowWait
        /// The edges contain neither leading nor trailing.
        case noEdges
        /// The `maxCount` is less than 1.
        case maxCountBelowOne
        /// A `maxCount` is given, but not the trailing edge: nothing is ever pending.
        case maxCountWithoutTrailing
        /// The spacing is negative.
        case negativeSpacing
        /// A spacing is given, but not the trailing edge: nothing could wait for it.
        case spacingWithoutTrailing
        /// The `maxConcurrent` is less than 1.
        case maxConcurrentBelowOne
        /// The `maxPending` is less than 1.
        case maxPendingBelowOne
        /// The `capacity` is less than 1.
        case capacityBelowOne
        /// The `maxBatch` is less than 1.
        case maxBatchBelowOne
        /// A `maxBatch` is given, but an execution gets a single value anyway: only collecting and merging give it
        /// more.
        case maxBatchOfOneValue
        /// The `maxRunning` is less than 1.
        case maxRunningBelowOne
        /// The limit allows less than one start.
        case limitBelowOne
        /// The limit counts starts in no time.
        case limitWithoutPeriod
        /// The burst of a limit is less than 1, or more than all its starts.
        case burstOutOfRange
        /// The rate of a bucket is less than 1.
        case bucketRateBelowOne
        /// The burst of a bucket is less than 1.
        case bucketBurstBelowOne
        /// `cancelRunning`, `replace` or `share` together with collecting or merging: values would be lost.
        case overlapLosesValues
    }

    /// The rule that is broken.
    public let code: Code
    /// The value given and the rule, in one line: `the maxWait is 1s, but must be at least the wait of 2s`.
    public let description: String

    private init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    // Over the bytes: what is equal in Unicode needs tables that a microcontroller does not have.

    /// Whether both are about the same rule and the same values.
    public static func == (left: Self, right: Self) -> Bool {
        left.code == right.code && left.description.utf8.elementsEqual(right.description.utf8)
    }

    /// Hashes the code.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

extension PolicyError {
    package static func negativeWait(_ wait: CoreDuration) -> Self { negative(.negativeWait, "wait", wait) }

    package static func negativeInterval(_ interval: CoreDuration) -> Self {
        negative(.negativeInterval, "interval", interval)
    }

    package static func maxWaitBelowWait(maxWait: CoreDuration, wait: CoreDuration) -> Self {
        Self(.maxWaitBelowWait, "maxWait", maxWait.description, "must be at least the wait of " + wait.description)
    }

    package static var noEdges: Self {
        Self(.noEdges, "the edges are empty, but must contain leading, trailing, or both")
    }

    package static func maxCountBelowOne(_ count: Int) -> Self { belowOne(.maxCountBelowOne, "maxCount", count) }

    package static func maxCountWithoutTrailing(_ count: Int) -> Self {
        let rule = "needs the trailing edge: without it nothing is ever pending"
        return Self(.maxCountWithoutTrailing, "maxCount", count.description, rule)
    }

    package static func negativeSpacing(_ spacing: CoreDuration) -> Self {
        negative(.negativeSpacing, "spacing", spacing)
    }

    package static func spacingWithoutTrailing(_ spacing: CoreDuration) -> Self {
        let rule = "needs the trailing edge: without it nothing can wait"
        return Self(.spacingWithoutTrailing, "spacing", spacing.description, rule)
    }

    package static func maxConcurrentBelowOne(_ count: Int) -> Self {
        belowOne(.maxConcurrentBelowOne, "maxConcurrent", count)
    }

    package static func maxPendingBelowOne(_ count: Int) -> Self { belowOne(.maxPendingBelowOne, "maxPending", count) }

    package static func capacityBelowOne(_ count: Int) -> Self { belowOne(.capacityBelowOne, "capacity", count) }

    package static func maxBatchBelowOne(_ count: Int) -> Self { belowOne(.maxBatchBelowOne, "maxBatch", count) }

    package static func maxBatchOfOneValue(_ count: Int) -> Self {
        let rule = "only collecting and merging give an execution more than one value"
        return Self(.maxBatchOfOneValue, "maxBatch", count.description, rule)
    }

    package static func maxRunningBelowOne(_ count: Int) -> Self { belowOne(.maxRunningBelowOne, "maxRunning", count) }

    package static func limitBelowOne(_ starts: Int) -> Self { belowOne(.limitBelowOne, "limit", starts) }

    package static func limitWithoutPeriod(_ period: CoreDuration) -> Self {
        Self(.limitWithoutPeriod, "limit", "over " + period.description, "must be over more than no time")
    }

    package static func burstOutOfRange(_ burst: Int, starts: Int) -> Self {
        let rule = "must be from 1 to the limit of " + starts.description
        return Self(.burstOutOfRange, "burst", burst.description, rule)
    }

    package static func bucketRateBelowOne(_ rate: Int) -> Self {
        belowOne(.bucketRateBelowOne, "rate of the bucket", rate)
    }

    package static func bucketBurstBelowOne(_ burst: Int) -> Self {
        belowOne(.bucketBurstBelowOne, "burst of the bucket", burst)
    }

    package static func overlapLosesValues(_ rule: OverlapPolicy) -> Self {
        let text =
            switch rule {
            case .replace: "replace, which would lose values that are collected or merged: use restart"
            case .share: "share, which would lose values that are collected or merged: use queue"
            case .cancelRunning, .queue, .restart, .concurrent, .skip:
                """
                cancelRunning, which would lose the values of the execution that is cancelled: use restart, or keep \
                the latest value
                """
            }
        return Self(.overlapLosesValues, "whileRunning is " + text)
    }

    private static func negative(_ code: Code, _ name: String, _ duration: CoreDuration) -> Self {
        Self(code, name, duration.description, "must be zero or more")
    }

    private static func belowOne(_ code: Code, _ name: String, _ count: Int) -> Self {
        Self(code, name, count.description, "must be 1 or more")
    }

    private init(_ code: Code, _ name: String, _ given: String, _ rule: String) {
        self.init(code, "the \(name) is \(given), but \(rule)")
    }
}
