/// The state of one key: it decides when what was submitted falls due, and knows nothing of the values.
///
/// It is a state machine with three states, by ``isOpen`` and ``count``:
/// - *idle*: a submit opens it.
/// - *open*, with nothing pending: it becomes idle at ``quiet``. A submit keeps it open, and with the trailing edge makes it
///   pending.
/// - *pending*: open, and ``count`` is not zero. When what is pending falls due or completes `maxCount`, the gate becomes
///   open again, or idle if `quiet` has passed and in a debounce with the trailing edge alone. A flush makes it idle.
///
/// ``close()`` makes it idle from any state.
///
/// Each event is a mutating function that takes the instant and returns what is to be done with the value. Before any other
/// event at `now`, ``settle(at:by:)`` does what was due by then: that makes the results a function of the timestamps alone
/// (<doc:Semantics>, sections 2 to 5).
@frozen
public struct Gate: Hashable, Sendable {
    /// The instant until which the gate is open: a debounce's `quiet`, the end of a throttle's window. Meaningless while idle.
    public var quiet: CoreInstant

    /// While something is pending, the instant of the oldest submit behind it. A debounce on the leading edge alone never
    /// has anything pending and keeps its latest execution here.
    public var anchor: CoreInstant

    /// The number of submits behind what is pending; zero when nothing is.
    public var count: Int

    /// Whether the gate is open.
    public var isOpen: Bool

    /// Creates an idle gate.
    @inlinable
    public init() {
        quiet = .origin
        anchor = .origin
        count = 0
        isOpen = false
    }

    /// What is to be done with a submitted value.
    @frozen
    public enum Decision: Hashable, Sendable {
        /// Combine it with what is pending.
        case join
        /// Execute it at once, alone, on the leading edge.
        case lead
        /// Combine it with what is pending, and execute that at once: `maxCount` has been reached.
        case complete(Due)
        /// Drop it: the burst belongs to another value.
        case absorb
    }

    /// A batch of submits that has fallen due: when and why, how many they are, and since when they wait.
    @frozen
    public struct Due: Hashable, Sendable {
        /// When it was due.
        public var at: CoreInstant
        /// Why it was due.
        public var edge: Edge
        /// The number of submits.
        public var count: Int
        /// The instant of the oldest of them.
        public var first: CoreInstant

        /// Creates a batch from its parts; for engines that keep values elsewhere.
        @inlinable
        public init(at: CoreInstant, edge: Edge, count: Int, first: CoreInstant) {
            self.at = at
            self.edge = edge
            self.count = count
            self.first = first
        }
    }

    /// When what is pending falls due, or nil if nothing is.
    @inlinable
    public func due(by policy: Policy) -> CoreInstant? {
        count == 0 ? nil : pendingDue(by: policy)
    }

    /// When what is pending falls due. Something must be pending.
    @inlinable
    func pendingDue(by policy: Policy) -> CoreInstant {
        policy.kind == .throttle ? quiet : min(quiet, anchor.advanced(by: policy.longestWait))
    }

    /// When the gate changes by itself: it executes what is pending, or becomes idle. It must be open.
    @inlinable
    package func nextChange(by policy: Policy) -> CoreInstant {
        count == 0 ? quiet : pendingDue(by: policy)
    }

    /// When the gate changes by itself; the far past for a gate that is idle.
    @inlinable
    func nextChangeOrIdle(by policy: Policy) -> CoreInstant {
        isOpen ? nextChange(by: policy) : .farPast
    }

    /// Does what was due at `now` or before: at most one execution, recorded at its due instant.
    @inlinable
    public mutating func settle(at now: CoreInstant, by policy: Policy) -> Due? {
        guard isOpen, nextChange(by: policy) <= now else { return nil }
        guard count > 0 else {
            isOpen = false
            return nil
        }
        let instant = pendingDue(by: policy)
        let due = Due(at: instant, edge: instant == quiet ? .trailing : .maxWait, count: count, first: anchor)
        count = 0
        if policy.kind == .throttle {
            quiet = instant.advanced(by: policy.wait)
        } else if !policy.edges.contains(.leading) {
            isOpen = false
        }
        if quiet <= now { isOpen = false }
        return due
    }

    // The path of a submit is always inlined: calls, with a copy of the policy for each, took as long as the work (row `hot`).

    /// Takes a submit at `now`, after ``settle(at:by:)`` at the same instant.
    ///
    /// `wait` is the delay of this call alone; a negative one counts as zero. A throttle ignores it.
    @inlinable
    @inline(__always)
    public mutating func submit(at now: CoreInstant, wait: CoreDuration?, by policy: Policy) -> Decision {
        switch policy.kind {
        case .debounce: debounce(at: now, wait: wait, by: policy)
        case .throttle: throttle(at: now, by: policy)
        }
    }

    @inlinable
    @inline(__always)
    mutating func debounce(at now: CoreInstant, wait: CoreDuration?, by policy: Policy) -> Decision {
        let wasOpen = isOpen
        let next = now.advanced(by: wait.map { max($0, .zero) } ?? policy.wait)
        quiet = wasOpen && policy.delayRule == .extend ? max(quiet, next) : next
        isOpen = true
        if !wasOpen, policy.edges.contains(.leading) {
            anchor = now
            return .lead
        }
        if policy.edges.contains(.trailing) { return join(at: now, by: policy) }
        if policy.longestWait != .infinite, now >= anchor.advanced(by: policy.longestWait) {
            anchor = now
            return .lead
        }
        return .absorb
    }

    @inlinable
    @inline(__always)
    mutating func throttle(at now: CoreInstant, by policy: Policy) -> Decision {
        if !isOpen {
            quiet = now.advanced(by: policy.wait)
            isOpen = true
            if policy.edges.contains(.leading) { return .lead }
        }
        return policy.edges.contains(.trailing) ? join(at: now, by: policy) : .absorb
    }

    @inlinable
    @inline(__always)
    mutating func join(at now: CoreInstant, by policy: Policy) -> Decision {
        if count == 0 { anchor = now }
        count += 1
        guard count >= policy.largestCount else { return .join }
        let due = Due(at: now, edge: .maxCount, count: count, first: anchor)
        count = 0
        if policy.kind == .debounce, !policy.edges.contains(.leading) { isOpen = false }
        return .complete(due)
    }

    /// Makes the gate idle, after ``settle(at:by:)``; what was pending is to be executed on the edge `flush`.
    @inlinable
    public mutating func flush(at now: CoreInstant) -> Due? {
        let due = count == 0 ? nil : Due(at: now, edge: .flush, count: count, first: anchor)
        close()
        return due
    }

    /// Makes the gate idle and drops what was pending.
    @inlinable
    public mutating func close() {
        isOpen = false
        count = 0
    }
}
