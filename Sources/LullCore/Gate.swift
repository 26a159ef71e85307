/// The state of one key: it decides when what was submitted falls due, and knows nothing of the values.
///
/// It is a state machine. Its states are those of ``phase``, and *open* has two of them: nothing is pending while
/// ``count`` is zero.
///
/// - *idle*: nothing is left of the key. A submit opens the gate.
/// - *resting*: idle, but ``latest`` plus the spacing has not passed. Until then a submit opens the gate without a
///   leading edge; then the gate becomes idle.
/// - *open*, with nothing pending: a submit keeps it open, and with the trailing edge makes it pending. At ``quiet`` it
///   becomes resting or idle.
/// - *open*, pending: a submit joins what is pending. When that falls due or completes `maxCount`, the gate becomes
///   open with nothing pending, or resting or idle if `quiet` has passed and in a debounce with the trailing edge
///   alone.
/// - *full*: what is pending has completed `maxCount` and falls due when the spacing has passed. A submit joins it.
///
/// ``drop(_:)`` of all that is pending makes the gate open with nothing pending. ``flush(at:by:)`` and
/// ``close(at:by:)`` make it resting or idle from any state.
///
/// Each event is a mutating function that takes the instant and returns what is to be done with the value. Before any
/// other event at `now`, ``settle(at:by:)`` does what was due by then: that makes the results a function of the
/// timestamps alone (<doc:Semantics>, sections 2 to 5).
@frozen
@usableFromInline
package struct Gate: Hashable, Sendable {
    /// The instant until which the gate is open: a debounce's `quiet`, the end of a throttle's window. Meaningless
    /// unless it is open.
    @usableFromInline
    package var quiet: CoreInstant

    /// The instant of the oldest submit behind what is pending. Meaningless while nothing is.
    @usableFromInline
    package var first: CoreInstant

    /// The latest due instant of the key, from which its spacing counts, and the `maxWait` of a debounce on the leading
    /// edge alone; the far past while the gate is idle.
    @usableFromInline
    package var latest: CoreInstant

    /// The number of submits behind what is pending; zero when nothing is.
    @usableFromInline
    package var count: Int

    /// The state; whether a value is pending is the business of ``count``.
    @usableFromInline
    package var phase: Phase

    /// The states of a gate.
    @frozen
    @usableFromInline
    package enum Phase: UInt8, Hashable, Sendable {
        /// Nothing is kept.
        case idle
        /// Only the latest due instant is kept.
        case resting
        /// A burst or a window goes on.
        case open
        /// As many submits are pending as `maxCount` allows, and the spacing has not passed.
        case full
    }

    /// Creates an idle gate.
    package init() {
        quiet = .origin
        first = .origin
        latest = .farPast
        count = 0
        phase = .idle
    }

    /// Whether a burst or a window goes on.
    @inlinable
    package var isOpen: Bool { phase.rawValue >= Phase.open.rawValue }

    /// The gate's decision on a submitted value.
    @frozen
    @usableFromInline
    package enum Decision: Hashable, Sendable {
        /// Combine it with what is pending.
        case join
        /// Execute it at once, alone, on the leading edge.
        case lead
        /// Combine it with what is pending, and execute that at once: `maxCount` has been reached.
        case complete(Due)
        /// Combine it with what is pending, which falls due when the spacing has passed: `maxCount` has been reached.
        case fill
        /// Drop it: the burst belongs to another value.
        case absorb
    }

    /// A batch of submits that has fallen due: when and why, how many they are, and since when they wait.
    @frozen
    @usableFromInline
    package struct Due: Hashable, Sendable {
        /// When it was due.
        package internal(set) var at: CoreInstant
        /// Why it was due.
        package internal(set) var cause: Cause
        /// The number of submits.
        package var count: Int
        /// The instant of the oldest of them.
        package var first: CoreInstant

        /// Creates a batch from its parts; for engines that keep values elsewhere.
        @usableFromInline
        package init(at: CoreInstant, cause: Cause, count: Int, first: CoreInstant) {
            self.at = at
            self.cause = cause
            self.count = count
            self.first = first
        }
    }

    /// When what is pending falls due, or nil if nothing is.
    package func due(by policy: Policy) -> CoreInstant? {
        count == 0 ? nil : pendingDue(by: policy)
    }

    // In firmware always inlined, since a call would copy the gate and the policy (docs/firmware.md). Elsewhere that
    // makes a submit slower, by a sixth (row `hot`).

    /// When what is pending falls due. Something must be pending.
    #if hasFeature(Embedded)
        @inline(__always)
    #endif
    func pendingDue(by policy: Policy) -> CoreInstant {
        if policy.kind == .throttle { return quiet }
        let spaced = next(by: policy)
        return phase == .full ? spaced : max(spaced, min(quiet, first.advanced(by: policy.longestWait)))
    }

    /// The instant before which nothing but a flush is executed: the semantics' `next`.
    @inlinable
    #if hasFeature(Embedded)
        @inline(__always)
    #endif
    func next(by policy: Policy) -> CoreInstant {
        latest == .farPast ? .farPast : latest.advanced(by: policy.spacing)
    }

    /// When the gate changes by itself: it executes what is pending, stops being open, or stops resting. It must not be
    /// idle.
    #if hasFeature(Embedded)
        @inline(__always)
    #endif
    package func nextChange(by policy: Policy) -> CoreInstant {
        if phase == .resting { return next(by: policy) }
        return count == 0 ? quiet : pendingDue(by: policy)
    }

    /// Whether the gate is open, and does not change by itself at `now` or before.
    func isOpen(beyond now: CoreInstant, by policy: Policy) -> Bool { isOpen && nextChange(by: policy) > now }

    /// Does what was due at `now` or before: at most one execution, recorded at its due instant.
    package mutating func settle(at now: CoreInstant, by policy: Policy) -> Due? {
        guard phase != .idle, nextChange(by: policy) <= now else { return nil }
        guard count > 0 else {
            rest(at: now, by: policy)
            return nil
        }
        let instant = pendingDue(by: policy)
        let cause: Cause = phase == .full ? .maxCount : instant >= quiet ? .trailing : .maxWait
        let due = Due(at: instant, cause: cause, count: count, first: first)
        fallDue(at: instant)
        if policy.kind == .throttle { quiet = instant.advanced(by: policy.wait) }
        if quiet <= now || policy.endsWithExecution { rest(at: now, by: policy) }
        return due
    }

    /// Begins what follows an execution: nothing is pending any more.
    @usableFromInline
    mutating func fallDue(at instant: CoreInstant) {
        count = 0
        latest = instant
        phase = .open
    }

    /// Ends being open: the gate becomes idle, or resting until the spacing has passed. Nothing must be pending.
    @usableFromInline
    mutating func rest(at now: CoreInstant, by policy: Policy) {
        if next(by: policy) > now {
            phase = .resting
        } else {
            phase = .idle
            latest = .farPast
        }
    }

    // The path of a submit is always inlined: calls, with a copy of the policy for each, took as long as the work (row
    // `hot`).

    /// Takes a submit at `now`, after ``settle(at:by:)`` at the same instant.
    ///
    /// `wait` is the delay of this call alone; a negative one counts as zero. A throttle ignores it.
    @inlinable
    @inline(__always)
    package mutating func submit(at now: CoreInstant, wait: CoreDuration?, by policy: Policy) -> Decision {
        switch policy.kind {
        case .debounce: debounce(at: now, wait: wait, by: policy)
        case .throttle: throttle(at: now, by: policy)
        }
    }

    @inlinable
    @inline(__always)
    mutating func debounce(at now: CoreInstant, wait: CoreDuration?, by policy: Policy) -> Decision {
        let wasOpen = isOpen
        postpone(at: now, wait: wait, by: policy)
        if !wasOpen {
            phase = .open
            if policy.edges.contains(.leading), now >= next(by: policy) {
                latest = now
                return .lead
            }
        }
        if policy.edges.contains(.trailing) { return join(at: now, by: policy) }
        if policy.longestWait != .infinite, now >= latest.advanced(by: policy.longestWait) {
            latest = now
            return .lead
        }
        return .absorb
    }

    @inlinable
    @inline(__always)
    mutating func postpone(at now: CoreInstant, wait: CoreDuration?, by policy: Policy) {
        let end = now.advanced(by: wait.map { max($0, .zero) } ?? policy.wait)
        quiet = isOpen && policy.delayRule == .extend ? max(quiet, end) : end
    }

    @inlinable
    @inline(__always)
    mutating func throttle(at now: CoreInstant, by policy: Policy) -> Decision {
        if !isOpen {
            quiet = now.advanced(by: policy.wait)
            phase = .open
            if policy.edges.contains(.leading) {
                latest = now
                return .lead
            }
        }
        return policy.edges.contains(.trailing) ? join(at: now, by: policy) : .absorb
    }

    @inlinable
    @inline(__always)
    mutating func join(at now: CoreInstant, by policy: Policy) -> Decision {
        if count == 0 { first = now }
        count += 1
        guard count >= policy.largestCount || phase == .full else { return .join }
        guard now >= next(by: policy) else {
            if phase == .full { return .join }
            phase = .full
            return .fill
        }
        let due = Due(at: now, cause: .maxCount, count: count, first: first)
        fallDue(at: now)
        if policy.endsWithExecution { rest(at: now, by: policy) }
        return .complete(due)
    }

    /// Executes what is pending with the cause `flush`, after ``settle(at:by:)``; the gate stops being open.
    package mutating func flush(at now: CoreInstant, by policy: Policy) -> Due? {
        guard phase != .idle else { return nil }
        let due = count == 0 ? nil : Due(at: now, cause: .flush, count: count, first: first)
        if due != nil { fallDue(at: now) }
        rest(at: now, by: policy)
        return due
    }

    /// Notes a due instant of values that are kept elsewhere; the gate, where nothing is pending, stops being open.
    mutating func noteDue(at now: CoreInstant, by policy: Policy) {
        fallDue(at: now)
        rest(at: now, by: policy)
    }

    /// Postpones what is pending, or the end of the burst, as a submit would, after ``settle(at:by:)``: "still busy"
    /// (<doc:Semantics>, section 5). An idle gate and a throttle ignore it.
    package mutating func touch(at now: CoreInstant, wait: CoreDuration?, by policy: Policy) {
        guard policy.kind == .debounce, isOpen else { return }
        postpone(at: now, wait: wait, by: policy)
    }

    /// Drops this many of the submits that are pending, the oldest; the gate stays open.
    mutating func drop(_ dropped: Int) {
        count -= dropped
        if count == 0 { phase = .open }
    }

    /// Drops what is pending; the gate stops being open.
    package mutating func close(at now: CoreInstant, by policy: Policy) {
        count = 0
        rest(at: now, by: policy)
    }
}

extension Policy {
    /// Whether a gate stops being open with an execution: there is no leading edge for which it would have to stay so.
    @usableFromInline
    var endsWithExecution: Bool { kind == .debounce && !edges.contains(.leading) }
}
