/// A setting that breaks a rule (<doc:Semantics>, section 10).
///
/// Print it: its ``description`` says what was given and what is allowed, for the author of the setting. Its ``code``
/// is for programs that answer in their own words.
public struct PolicyError: Error, Hashable, Sendable {
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
        /// The time limit of an execution is not more than zero.
        case timeLimitNotPositive
        /// `cancelRunning`, `replace` or `share` together with collecting or merging: values would be lost.
        case overlapLosesValues
    }

    /// The rule that is broken.
    public let code: Code
    // Numbers rather than a text, which would need memory on a microcontroller.
    /// The value given: a count, or nanoseconds; of ``Code/overlapLosesValues`` 1 for `replace`, 2 for `share`.
    private let given: Int64
    /// The value that it is compared with.
    private let bound: Int64

    private init(_ code: Code, _ given: Int64 = 0, _ bound: Int64 = 0) {
        self.code = code
        self.given = given
        self.bound = bound
    }
}

extension PolicyError: CustomStringConvertible {
    /// The value given and the rule, in one line: `the maxWait is 1s, but must be at least the wait of 2s`.
    public var description: String {
        let duration = CoreDuration(nanoseconds: given).description
        return switch code {
        case .negativeWait: text("wait", duration, "must be zero or more")
        case .negativeInterval: text("interval", duration, "must be zero or more")
        case .maxWaitBelowWait:
            text("maxWait", duration, "must be at least the wait of \(CoreDuration(nanoseconds: bound))")
        case .noEdges: "the edges are empty, but must contain leading, trailing, or both"
        case .maxCountBelowOne: belowOne("maxCount")
        case .maxCountWithoutTrailing:
            text("maxCount", "\(given)", "needs the trailing edge: without it nothing is ever pending")
        case .negativeSpacing: text("spacing", duration, "must be zero or more")
        case .spacingWithoutTrailing:
            text("spacing", duration, "needs the trailing edge: without it nothing can wait")
        case .maxConcurrentBelowOne: belowOne("maxConcurrent")
        case .maxPendingBelowOne: belowOne("maxPending")
        case .capacityBelowOne: belowOne("capacity")
        case .maxBatchBelowOne: belowOne("maxBatch")
        case .maxBatchOfOneValue:
            text("maxBatch", "\(given)", "only collecting and merging give an execution more than one value")
        case .maxRunningBelowOne: belowOne("maxRunning")
        case .limitBelowOne: belowOne("limit")
        case .limitWithoutPeriod: text("limit", "over \(duration)", "must be over more than no time")
        case .burstOutOfRange: text("burst", "\(given)", "must be from 1 to the limit of \(bound)")
        case .bucketRateBelowOne: belowOne("rate of the bucket")
        case .bucketBurstBelowOne: belowOne("burst of the bucket")
        case .timeLimitNotPositive: text("timeLimit", duration, "must be more than zero")
        case .overlapLosesValues where given == 1:
            "whileRunning is replace, which would lose values that are collected or merged: use restart"
        case .overlapLosesValues where given == 2:
            "whileRunning is share, which would lose values that are collected or merged: use queue"
        case .overlapLosesValues:
            """
            whileRunning is cancelRunning, which would lose the values of the execution that is cancelled: use \
            restart, or keep the latest value
            """
        }
    }

    private func text(_ name: String, _ given: String, _ rule: String) -> String {
        "the \(name) is \(given), but \(rule)"
    }

    private func belowOne(_ name: String) -> String { text(name, "\(given)", "must be 1 or more") }
}

extension PolicyError {
    package static func negativeWait(_ wait: CoreDuration) -> Self { Self(.negativeWait, wait.nanoseconds) }

    package static func negativeInterval(_ interval: CoreDuration) -> Self {
        Self(.negativeInterval, interval.nanoseconds)
    }

    package static func maxWaitBelowWait(maxWait: CoreDuration, wait: CoreDuration) -> Self {
        Self(.maxWaitBelowWait, maxWait.nanoseconds, wait.nanoseconds)
    }

    package static var noEdges: Self { Self(.noEdges) }

    package static func maxCountBelowOne(_ count: Int) -> Self { Self(.maxCountBelowOne, Int64(count)) }

    package static func maxCountWithoutTrailing(_ count: Int) -> Self { Self(.maxCountWithoutTrailing, Int64(count)) }

    package static func negativeSpacing(_ spacing: CoreDuration) -> Self {
        Self(.negativeSpacing, spacing.nanoseconds)
    }

    package static func spacingWithoutTrailing(_ spacing: CoreDuration) -> Self {
        Self(.spacingWithoutTrailing, spacing.nanoseconds)
    }

    package static func maxConcurrentBelowOne(_ count: Int) -> Self { Self(.maxConcurrentBelowOne, Int64(count)) }

    package static func maxPendingBelowOne(_ count: Int) -> Self { Self(.maxPendingBelowOne, Int64(count)) }

    package static func capacityBelowOne(_ count: Int) -> Self { Self(.capacityBelowOne, Int64(count)) }

    package static func maxBatchBelowOne(_ count: Int) -> Self { Self(.maxBatchBelowOne, Int64(count)) }

    package static func maxBatchOfOneValue(_ count: Int) -> Self { Self(.maxBatchOfOneValue, Int64(count)) }

    package static func maxRunningBelowOne(_ count: Int) -> Self { Self(.maxRunningBelowOne, Int64(count)) }

    package static func limitBelowOne(_ starts: Int) -> Self { Self(.limitBelowOne, Int64(starts)) }

    package static func limitWithoutPeriod(_ period: CoreDuration) -> Self {
        Self(.limitWithoutPeriod, period.nanoseconds)
    }

    package static func burstOutOfRange(_ burst: Int, starts: Int) -> Self {
        Self(.burstOutOfRange, Int64(burst), Int64(starts))
    }

    package static func bucketRateBelowOne(_ rate: Int) -> Self { Self(.bucketRateBelowOne, Int64(rate)) }

    package static func bucketBurstBelowOne(_ burst: Int) -> Self { Self(.bucketBurstBelowOne, Int64(burst)) }

    package static func timeLimitNotPositive(_ limit: CoreDuration) -> Self {
        Self(.timeLimitNotPositive, limit.nanoseconds)
    }

    package static func overlapLosesValues(_ rule: OverlapPolicy) -> Self {
        switch rule {
        case .replace: Self(.overlapLosesValues, 1)
        case .share: Self(.overlapLosesValues, 2)
        case .cancelRunning, .queue, .restart, .concurrent, .skip: Self(.overlapLosesValues)
        }
    }
}
