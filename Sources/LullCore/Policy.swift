/// When the values of one key fall due: a debounce or a throttle, with its options (<doc:Semantics>, sections 3 and 4).
///
/// A policy that exists is a valid one: the functions that make it throw a ``PolicyError`` for anything else.
@frozen
public struct Policy: Hashable, Sendable {
    /// The two families of policies.
    @frozen
    public enum Kind: Hashable, Sendable {
        /// Execute when no submit has come for the length of the wait.
        case debounce
        /// Execute at most once an interval.
        case throttle
    }

    /// Debounce or throttle.
    public let kind: Kind
    /// The quiet period of a debounce, the interval of a throttle.
    public let wait: CoreDuration
    /// The ends of a burst at which values are executed; never empty.
    public let edges: Edges
    /// What the delay of a later submit does to one that is running. A throttle has no use for it.
    public let delayRule: DelayRule

    // The two limits are stored so that their absence needs no branch when a value is submitted.
    @usableFromInline package let longestWait: CoreDuration
    @usableFromInline let largestCount: Int

    /// The longest time that a value may wait, if there is a limit.
    @inlinable
    public var maxWait: CoreDuration? { longestWait == .infinite ? nil : longestWait }

    /// The number of submits that executes what is pending at once, if there is one.
    @inlinable
    public var maxCount: Int? { largestCount == .max ? nil : largestCount }

    @inlinable
    init(
        kind: Kind, wait: CoreDuration, maxWait: CoreDuration?, edges: Edges, delayRule: DelayRule, maxCount: Int?
    ) throws(PolicyError) {
        guard wait >= .zero else { throw kind == .debounce ? .negativeWait(wait) : .negativeInterval(wait) }
        if let maxWait, maxWait < wait { throw .maxWaitBelowWait(maxWait: maxWait, wait: wait) }
        guard !edges.isDisjoint(with: [.leading, .trailing]) else { throw .noEdges }
        if let maxCount {
            guard maxCount >= 1 else { throw .maxCountBelowOne(maxCount) }
            guard edges.contains(.trailing) else { throw .maxCountWithoutTrailing(maxCount) }
        }
        self.kind = kind
        self.wait = wait
        self.edges = edges.intersection([.leading, .trailing])
        self.delayRule = delayRule
        longestWait = maxWait ?? .infinite
        largestCount = maxCount ?? .max
    }

    private init(_ other: Policy, wait: CoreDuration, longestWait: CoreDuration) {
        kind = other.kind
        self.wait = wait
        edges = other.edges
        delayRule = other.delayRule
        self.longestWait = longestWait
        largestCount = other.largestCount
    }

    /// The same throttle with another interval.
    package func changed(wait: CoreDuration) -> Policy {
        Policy(self, wait: wait, longestWait: longestWait)
    }

    /// The same debounce with another longest wait.
    package func changed(longestWait: CoreDuration) -> Policy {
        Policy(self, wait: wait, longestWait: longestWait)
    }

    /// Executes the values of a key when no submit has come for `wait` (<doc:Semantics>, section 3).
    ///
    /// - Parameters:
    ///   - wait: The quiet period, zero or more. With zero nothing is coalesced.
    ///   - maxWait: No value waits longer than this; at least `wait`.
    ///   - edges: Where in a burst values are executed.
    ///   - delayRule: Whether a shorter delay of a single call replaces a longer one that is running.
    ///   - maxCount: This many submits are executed at once; at least 1, and only with the trailing edge.
    /// - Throws: ``PolicyError`` naming the value and the rule that it breaks.
    @inlinable
    public static func debounce(
        wait: CoreDuration, maxWait: CoreDuration? = nil, edges: Edges = .trailing, delayRule: DelayRule = .restart,
        maxCount: Int? = nil
    ) throws(PolicyError) -> Policy {
        try Policy(
            kind: .debounce, wait: wait, maxWait: maxWait, edges: edges, delayRule: delayRule, maxCount: maxCount)
    }

    /// Executes the values of a key at most once an interval (<doc:Semantics>, section 4).
    ///
    /// - Parameters:
    ///   - interval: The length of a window, zero or more.
    ///   - edges: Whether a window executes at its beginning, at its end, or at both.
    ///   - maxCount: This many submits are executed at once; at least 1, and only with the trailing edge.
    /// - Throws: ``PolicyError`` naming the value and the rule that it breaks.
    @inlinable
    public static func throttle(
        interval: CoreDuration, edges: Edges = [.leading, .trailing], maxCount: Int? = nil
    ) throws(PolicyError) -> Policy {
        try Policy(
            kind: .throttle, wait: interval, maxWait: nil, edges: edges, delayRule: .restart, maxCount: maxCount)
    }
}

/// The ends of a burst, or of a throttle's window, at which values are executed.
@frozen
public struct Edges: OptionSet, Hashable, Sendable {
    /// A bit for each end.
    public let rawValue: UInt8

    /// The ends whose bits are set.
    @inlinable
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The first submit of a burst is executed at once.
    @inlinable
    public static var leading: Edges { Edges(rawValue: 1) }

    /// What is pending is executed when the burst has come to rest.
    @inlinable
    public static var trailing: Edges { Edges(rawValue: 2) }
}

/// What the delay of a submit does to a delay that is already running.
@frozen
public enum DelayRule: Hashable, Sendable {
    /// The latest delay replaces the running one, earlier or later.
    case restart
    /// A shorter delay never shortens a longer one.
    case extend
}

/// Why an execution happened.
@frozen
public enum Edge: Hashable, Sendable {
    /// The first submit of a burst or of a throttle's window.
    case leading
    /// The burst came to rest, or the window ended.
    case trailing
    /// A value had waited for the longest time allowed.
    case maxWait
    /// As many submits were pending as are allowed.
    case maxCount
    /// Somebody asked for it.
    case flush

    /// The name of the edge as records and reports write it.
    @inlinable
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
