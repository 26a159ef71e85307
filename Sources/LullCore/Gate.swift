/// The state kept for one key: it decides when what was submitted falls due, and knows nothing of the values
/// themselves.
///
/// A gate is idle, or *open* until an instant; an open gate may have submits *pending*. Each event is a mutating
/// function that takes the instant and says what is to be done with the value. Before any other event at `now`,
/// ``settle(at:by:)`` does what was due by then: that is what makes the answers a function of the timestamps alone
/// (<doc:Semantics>, sections 2 to 5).
@frozen
public struct Gate: Hashable, Sendable {
    /// Until when the gate is open: a debounce's `quiet`, the end of a throttle's window. Meaningless while idle.
    public var quiet: CoreInstant

    /// While something is pending, the instant of the oldest submit behind it. A debounce on the leading edge alone
    /// never has anything pending and keeps its latest execution here.
    public var anchor: CoreInstant

    /// The number of submits behind what is pending; zero when nothing is.
    public var count: Int

    /// Whether the gate is open.
    public var isOpen: Bool

    /// Makes an idle gate.
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
        /// Drop it: the burst is another value's.
        case absorb
    }

    /// What an execution is told of the submits behind it.
    @frozen
    public struct Due: Hashable, Sendable {
        /// When it was due.
        public var at: CoreInstant
        /// Why it was due.
        public var edge: Edge
        /// How many submits are behind it.
        public var count: Int
        /// The instant of the oldest of them.
        public var first: CoreInstant

        /// Makes what an execution is told; for engines that keep values elsewhere.
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

    /// The same where it is known that something is pending.
    @inlinable
    func pendingDue(by policy: Policy) -> CoreInstant {
        policy.kind == .throttle ? quiet : min(quiet, anchor.advanced(by: policy.longestWait))
    }

    /// When the gate changes by itself: it executes what is pending, or becomes idle.
    @inlinable
    package func nextChange(by policy: Policy) -> CoreInstant {
        count == 0 ? quiet : pendingDue(by: policy)
    }

    /// The same, and the far past for a gate that is idle.
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
        let due = pendingDue(by: policy)
        let ripe = Due(at: due, edge: due == quiet ? .trailing : .maxWait, count: count, first: anchor)
        count = 0
        if policy.kind == .throttle {
            quiet = due.advanced(by: policy.wait)
        } else if !policy.edges.contains(.leading) {
            isOpen = false
        }
        if quiet <= now { isOpen = false }
        return ripe
    }

    // All that a submit comes through is always inlined: calls, with a copy of the policy for each, took as long as the
    // work.

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
        let ripe = Due(at: now, edge: .maxCount, count: count, first: anchor)
        count = 0
        if policy.kind == .debounce, !policy.edges.contains(.leading) { isOpen = false }
        return .complete(ripe)
    }

    /// Makes the gate idle, after ``settle(at:by:)``; what was pending is to be executed on the edge `flush`.
    @inlinable
    public mutating func flush(at now: CoreInstant) -> Due? {
        let ripe = count == 0 ? nil : Due(at: now, edge: .flush, count: count, first: anchor)
        close()
        return ripe
    }

    /// Makes the gate idle and forgets what was pending.
    @inlinable
    public mutating func close() {
        isOpen = false
        count = 0
    }
}
