/// When the values of one key fall due: a debounce or a throttle, with its options (<doc:Semantics>, sections 3 and 4).
///
/// A policy is always valid: the functions that create one throw a ``PolicyError`` for settings that break a rule.
/// Create one to check settings that come from a file or a server; durable debouncers and throttlers also take one.
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
    @usableFromInline package let wait: CoreDuration
    /// The ends of a burst or window at which values are executed; never empty.
    public let edges: Edges
    /// The effect of the delay of a later submit on one that is running. A throttle ignores it.
    public let delayRule: DelayRule

    /// The least time between two due instants of a key; zero if there is no limit. A throttle has none.
    @usableFromInline package let spacing: CoreDuration

    // Stored so that the absence of a limit needs no branch in a submit.
    @usableFromInline package let longestWait: CoreDuration
    @usableFromInline let largestCount: Int

    /// The longest time that a value of a debounce waits; nil if there is no limit.
    package var maxWait: CoreDuration? { longestWait == .infinite ? nil : longestWait }

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
