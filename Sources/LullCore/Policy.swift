/// When the values of one key fall due: a debounce or a throttle, with its options (<doc:Semantics>, sections 3 and 4).
///
/// A policy is always valid: the functions that create one throw a ``PolicyError`` for settings that break a rule.
/// Create one from settings that come from a file or a server, and pass it to `Debouncer(policy:)`,
/// `Throttler(policy:)` or one of their keyed and durable forms.
@frozen
public struct Policy: Hashable, Sendable {
    /// Whether a policy waits for a pause, or limits how often it executes.
    ///
    /// A later version may have more cases: give a `switch` an `@unknown default`.
    @nonexhaustive
    public enum Kind: Hashable, Sendable {
        /// Execute when no submit has come for the length of the wait.
        case debounce
        /// Execute at most once an interval.
        case throttle
    }

    /// Whether this is a debounce or a throttle; debouncers and throttlers check it.
    public let kind: Kind
    /// The quiet period of a debounce, the interval of a throttle.
    public let wait: CoreDuration
    /// The ends of a burst or window at which values are executed; never empty.
    public let edges: Edges
    /// The effect of the delay of a later submit on one that is running. A throttle ignores it.
    public let delayRule: DelayRule

    /// The least time between two due instants of a key; zero if there is no limit. A throttle has none.
    public let spacing: CoreDuration

    // Stored so that the absence of a limit needs no branch in a submit.
    @usableFromInline package let longestWait: CoreDuration
    @usableFromInline let largestCount: Int

    /// The longest time that a value of a debounce waits; nil if there is no limit.
    public var maxWait: CoreDuration? { longestWait == .infinite ? nil : longestWait }

    /// The number of pending submits that executes them without further waiting; nil if there is no limit.
    public var maxCount: Int? { largestCount == .max ? nil : largestCount }

    private init(
        kind: Kind, wait: CoreDuration, maxWait: CoreDuration?, edges: Edges, delayRule: DelayRule, maxCount: Int?,
        spacing: CoreDuration?
    ) throws(PolicyError) {
        guard wait >= .zero else { throw kind == .debounce ? .negativeWait(wait) : .negativeInterval(wait) }
        if let maxWait, maxWait < wait { throw .maxWaitBelowWait(maxWait: maxWait, wait: wait) }
        guard !edges.isDisjoint(with: [.leading, .trailing]) else { throw .noEdges }
        if let maxCount {
            guard maxCount >= 1 else { throw .maxCountBelowOne(maxCount) }
            guard edges.contains(.trailing) else { throw .maxCountWithoutTrailing(maxCount) }
        }
        if let spacing {
            guard spacing >= .zero else { throw .negativeSpacing(spacing) }
            guard edges.contains(.trailing) else { throw .spacingWithoutTrailing(spacing) }
        }
        self.kind = kind
        self.wait = wait
        self.edges = edges.intersection([.leading, .trailing])
        self.delayRule = delayRule
        longestWait = maxWait ?? .infinite
        largestCount = maxCount ?? .max
        self.spacing = spacing ?? .zero
    }

    /// Returns the same policy with another wait or interval.
    func changed(wait: CoreDuration) throws(PolicyError) -> Policy {
        try Policy(
            kind: kind, wait: wait, maxWait: maxWait, edges: edges, delayRule: delayRule, maxCount: maxCount,
            spacing: spacing > .zero ? spacing : nil)
    }

    /// Returns the same policy with other durations.
    ///
    /// - Parameters:
    ///   - span: The interval of a throttle, or the longest wait of a debounce.
    ///   - spacing: The spacing of a debounce.
    package func changed(span: CoreDuration, spacing: CoreDuration) -> Policy {
        Policy(self, span: span, spacing: spacing)
    }

    private init(_ other: Policy, span: CoreDuration, spacing: CoreDuration) {
        let isThrottle = other.kind == .throttle
        kind = other.kind
        wait = isThrottle ? span : other.wait
        edges = other.edges
        delayRule = other.delayRule
        longestWait = isThrottle ? other.longestWait : span
        largestCount = other.largestCount
        self.spacing = spacing
    }

    /// Returns a policy that executes the values of a key when no submit has come for `wait` (<doc:Semantics>, section
    /// 3).
    ///
    /// - Parameters:
    ///   - wait: The quiet period, zero or more. With zero nothing is coalesced.
    ///   - maxWait: No value waits longer than this; at least `wait`.
    ///   - edges: The ends of a burst at which values are executed.
    ///   - delayRule: Whether a shorter delay of a single call replaces a longer one that is running.
    ///   - maxCount: Executes at once when this many submits are pending; at least 1, and only with the trailing edge.
    ///   - spacing: The least time between two due instants of a key, zero or more, and only with the trailing edge.
    ///     Zero and nil mean that there is no limit.
    /// - Throws: ``PolicyError`` naming the value and the rule that it breaks.
    public static func debounce(
        wait: CoreDuration, maxWait: CoreDuration? = nil, edges: Edges = .trailing, delayRule: DelayRule = .restart,
        maxCount: Int? = nil, spacing: CoreDuration? = nil
    ) throws(PolicyError) -> Policy {
        try Policy(
            kind: .debounce, wait: wait, maxWait: maxWait, edges: edges, delayRule: delayRule, maxCount: maxCount,
            spacing: spacing)
    }

    /// Returns a policy that executes the values of a key at most once an interval (<doc:Semantics>, section 4).
    ///
    /// - Parameters:
    ///   - interval: The length of a window, zero or more.
    ///   - edges: Whether values are executed at the beginning of a window, at its end, or at both.
    ///   - maxCount: Executes at once when this many submits are pending; at least 1, and only with the trailing edge.
    /// - Throws: ``PolicyError`` naming the value and the rule that it breaks.
    public static func throttle(
        interval: CoreDuration, edges: Edges = [.leading, .trailing], maxCount: Int? = nil
    ) throws(PolicyError) -> Policy {
        try Policy(
            kind: .throttle, wait: interval, maxWait: nil, edges: edges, delayRule: .restart, maxCount: maxCount,
            spacing: nil)
    }
}

/// The ends of a burst, or of a throttle's window, at which values are executed.
@frozen
public struct Edges: OptionSet, Hashable, Sendable {
    /// The bits of the ends: 1 for ``leading``, 2 for ``trailing``.
    public let rawValue: UInt8

    /// Creates the set of the ends whose bits are set; usually written `[.leading, .trailing]`.
    @inlinable
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The first submit of a burst is executed at once.
    @inlinable
    public static var leading: Edges { Edges(rawValue: 1) }

    /// What is pending is executed when the burst pauses.
    @inlinable
    public static var trailing: Edges { Edges(rawValue: 2) }
}

/// The effect of the delay of a single submit on a delay that is already running (<doc:Semantics>, section 3).
@frozen
public enum DelayRule: Hashable, Sendable {
    /// The delay of the latest submit counts, whether that makes the value due earlier or later.
    case restart
    /// The longer of the two counts: a shorter delay never makes the value due earlier.
    case extend
}

/// Why a value fell due, as reported in events, traces and durable executions.
///
/// A later version may have more cases: give a `switch` an `@unknown default`.
@nonexhaustive
public enum Cause: Hashable, Sendable {
    /// It was the first of its burst or window.
    case leading
    /// The burst paused, or the window ended.
    case trailing
    /// It had waited for `maxWait`.
    case maxWait
    /// As many submits were pending as `maxCount` allows.
    case maxCount
    /// A flush, a shut-down or the end of the debouncer executed it early.
    case flush

    /// The name of the edge as traces, the command and stores write it, such as `maxWait`.
    public var name: StaticString {
        switch self {
        case .leading: "leading"
        case .trailing: "trailing"
        case .maxWait: "maxWait"
        case .maxCount: "maxCount"
        case .flush: "flush"
        }
    }
}

// Policies in the durations of the standard library.

extension CoreDuration {
    /// Creates a duration from a standard one, in whole nanoseconds, rounded down, so that a negative one stays
    /// negative; what is too long to count becomes ``infinite``.
    public init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let (nanoseconds, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carry) = whole.addingReportingOverflow(rest < 0 ? nanoseconds - 1 : nanoseconds)
        self.init(nanoseconds: overflow || carry ? (duration < .zero ? .min : .max) : sum)
    }
}

extension Policy {
    /// Returns a debounce with these settings (<doc:Semantics>, section 3), or throws: checks settings that come from a
    /// file or a server before a debouncer gets them.
    ///
    /// ```swift
    /// do {
    ///     _ = try Policy.debounce(for: settings.wait, maxWait: settings.maxWait)
    ///     save = Debouncer(for: settings.wait, maxWait: settings.maxWait) { (draft: Draft) in
    ///         try await api.save(draft)
    ///     }
    /// } catch {
    ///     log.error("in the settings: \(error)")
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - wait: The quiet period, zero or more.
    ///   - maxWait: No value waits longer than this; at least `wait`.
    ///   - edges: The ends of a burst at which values are executed.
    ///   - delayRule: Whether a shorter delay of a single call replaces a longer one that is running.
    ///   - maxCount: Executes at once when this many submits are pending; at least 1, and only with the trailing edge.
    ///   - spacing: The least time between two due instants of a key, zero or more, and only with the trailing edge.
    ///     Zero and nil mean that there is no limit.
    /// - Throws: ``PolicyError`` naming the value and the rule that it breaks.
    public static func debounce(
        for wait: Duration, maxWait: Duration? = nil, edges: Edges = .trailing, delayRule: DelayRule = .restart,
        maxCount: Int? = nil, spacing: Duration? = nil
    ) throws(PolicyError) -> Policy {
        let policy = try debounce(
            wait: CoreDuration(wait), maxWait: maxWait.map { CoreDuration($0) }, edges: edges, delayRule: delayRule,
            maxCount: maxCount, spacing: spacing.map { CoreDuration($0) })
        if let maxWait, maxWait < wait {
            // They differ by less than a nanosecond. With the wait rounded up, the error names two that differ.
            throw .maxWaitBelowWait(maxWait: CoreDuration(maxWait), wait: CoreDuration(wait + .nanoseconds(1)))
        }
        return policy
    }

    /// Returns a throttle with these settings (<doc:Semantics>, section 4), or throws: checks settings that come from a
    /// file or a server before a throttler gets them.
    ///
    /// - Parameters:
    ///   - interval: The length of a window, zero or more.
    ///   - edges: Whether values are executed at the beginning of a window, at its end, or at both.
    ///   - maxCount: Executes at once when this many submits are pending; at least 1, and only with the trailing edge.
    /// - Throws: ``PolicyError`` naming the value and the rule that it breaks.
    public static func throttle(
        every interval: Duration, edges: Edges = [.leading, .trailing], maxCount: Int? = nil
    ) throws(PolicyError) -> Policy {
        try throttle(interval: CoreDuration(interval), edges: edges, maxCount: maxCount)
    }
}

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
    /// The `maxPending` is less than 1.
    case maxPendingBelowOne(Int)
    /// The `capacity` is less than 1.
    case capacityBelowOne(Int)
    /// The `maxBatch` is less than 1.
    case maxBatchBelowOne(Int)
    /// A `maxBatch` is given, but an execution gets a single value anyway: only collecting and merging give it more.
    case maxBatchOfOneValue(Int)
    /// The `maxRunning` is less than 1.
    case maxRunningBelowOne(Int)
    /// The limit allows less than one start.
    case limitBelowOne(Int)
    /// The limit counts starts in no time.
    case limitWithoutPeriod(CoreDuration)
    /// The burst of a limit is less than 1, or more than all its starts.
    case burstOutOfRange(Int, starts: Int)
    /// The rate of a bucket is less than 1.
    case bucketRateBelowOne(Int)
    /// The burst of a bucket is less than 1.
    case bucketBurstBelowOne(Int)
    /// `cancelRunning`, `replace` or `share` together with collecting or merging: values would be lost.
    case overlapLosesValues(OverlapPolicy)
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
        case .maxPendingBelowOne(let count):
            "the maxPending is \(count), but must be 1 or more"
        case .capacityBelowOne(let count):
            "the capacity is \(count), but must be 1 or more"
        case .maxBatchBelowOne(let count):
            "the maxBatch is \(count), but must be 1 or more"
        case .maxBatchOfOneValue(let count):
            "the maxBatch is \(count), but only collecting and merging give an execution more than one value"
        case .maxRunningBelowOne(let count):
            "the maxRunning is \(count), but must be 1 or more"
        case .limitBelowOne(let starts):
            "the limit is \(starts), but must be 1 or more"
        case .limitWithoutPeriod(let period):
            "the limit is over \(period), but must be over more than no time"
        case .burstOutOfRange(let burst, let starts):
            "the burst is \(burst), but must be from 1 to the limit of \(starts)"
        case .bucketRateBelowOne(let rate):
            "the rate of the bucket is \(rate), but must be 1 or more"
        case .bucketBurstBelowOne(let burst):
            "the burst of the bucket is \(burst), but must be 1 or more"
        case .overlapLosesValues(.replace):
            "whileRunning is replace, which would lose values that are collected or merged: use restart"
        case .overlapLosesValues(.share):
            "whileRunning is share, which would lose values that are collected or merged: use queue"
        case .overlapLosesValues:
            """
            whileRunning is cancelRunning, which would lose the values of the execution that is cancelled: use \
            restart, or keep the latest value
            """
        }
    }
}

extension CoreDuration: CustomStringConvertible {
    /// The duration in the largest unit that needs no fraction: `1500ms`, `2s`, `250us`.
    public var description: String {
        if self == .infinite { return "forever" }
        let (count, unit) = inLargestUnit
        return switch unit {
        case .seconds: "\(count)s"
        case .milliseconds: "\(count)ms"
        case .microseconds: "\(count)us"
        case .nanoseconds: "\(count)ns"
        }
    }

    /// A unit of durations.
    package enum Unit { case seconds, milliseconds, microseconds, nanoseconds }

    /// The duration in the largest unit that needs no fraction.
    package var inLargestUnit: (count: Int64, unit: Unit) {
        if nanoseconds % 1_000_000_000 == 0 { return (nanoseconds / 1_000_000_000, .seconds) }
        if nanoseconds % 1_000_000 == 0 { return (nanoseconds / 1_000_000, .milliseconds) }
        if nanoseconds % 1000 == 0 { return (nanoseconds / 1000, .microseconds) }
        return (nanoseconds, .nanoseconds)
    }

    /// The duration for messages: `2 s`, `1500 ms`.
    package var text: String {
        if self == .infinite { return "forever" }
        let (count, unit) = inLargestUnit
        return switch unit {
        case .seconds: "\(count) s"
        case .milliseconds: "\(count) ms"
        case .microseconds: "\(count) µs"
        case .nanoseconds: "\(count) ns"
        }
    }
}
