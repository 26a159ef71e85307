/// Sections 3, 4 and 5 of the semantics for one key: decides when what was submitted is due. It knows nothing of
/// values.
public struct ReferenceGate: Hashable, Sendable {
    /// A batch of submits that is due: when and why, how many they are, and since when they wait.
    public struct Due: Hashable, Sendable {
        /// When it is due.
        public var at: Int
        /// Why.
        public var cause: ReferenceEdge
        /// The number of submits behind it.
        public var count: Int
        /// The instant of the oldest of them.
        public var first: Int

        /// Creates a batch from its parts.
        public init(at: Int, cause: ReferenceEdge, count: Int, first: Int) {
            self.at = at
            self.cause = cause
            self.count = count
            self.first = first
        }
    }

    /// What becomes of a submit.
    public enum Answer: Hashable, Sendable {
        /// It is combined into what is pending.
        case pending
        /// It is combined into what is pending, and that is due at once.
        case completes(Due)
        /// It is due at once, alone.
        case leads(Due)
        /// It is absorbed.
        case absorbed
    }

    /// When values fall due.
    public internal(set) var policy: ReferencePolicy
    /// The instant until which the gate is open: the `quiet` of a debounce, the `w + interval` of a throttle; nil if it
    /// is idle.
    public private(set) var openUntil: Int?
    /// The instants of the submits that are pending.
    public private(set) var pending: [Int] = []
    /// The instant of the burst's latest execution on the leading edge.
    public private(set) var latest = 0
    /// The latest due instant, never forgotten; nil if there was none.
    public private(set) var latestDue: Int?
    /// Whether what is pending has reached `maxCount` and waits for the spacing.
    public private(set) var isFull = false

    /// Creates an idle gate.
    public init(_ policy: ReferencePolicy) {
        self.policy = policy
    }

    /// The instant before which nothing is due but by a flush: the `next` of the semantics; nil for the far past.
    public var next: Int? {
        guard let spacing = policy.spacing, spacing > 0, let latestDue else { return nil }
        return later(latestDue, by: spacing)
    }

    /// When what is pending is due.
    public var due: Int? {
        guard let openUntil, let first = pending.first else { return nil }
        if policy.kind == .throttle { return openUntil }
        if isFull { return next }
        var due = openUntil
        if let maxWait = policy.maxWait { due = min(due, later(first, by: maxWait)) }
        if let next { due = max(due, next) }
        return due
    }

    /// When the gate changes by itself.
    public var nextChange: Int? { due ?? openUntil }

    /// Does what happens at `nextChange`: an execution, or the gate becomes idle.
    public mutating func change() -> Due? {
        guard let at = due else {
            openUntil = nil
            return nil
        }
        let isQuiet = at >= openUntil ?? .min
        let cause: ReferenceEdge = isFull ? .maxCount : isQuiet ? .trailing : .maxWait
        if policy.kind == .throttle {
            // A new window begins at that instant.
            openUntil = later(at, by: policy.wait)
        } else if !policy.leading || isQuiet {
            // With trailing only, idle at any execution; otherwise at one that comes when it is quiet already.
            openUntil = nil
        }
        return take(at: at, cause)
    }

    /// Forgets the latest due instant of a gate that is idle and whose spacing has passed: a longer spacing does not
    /// count from it.
    mutating func forget(at now: Int) {
        if openUntil == nil, next ?? .min <= now { latestDue = nil }
    }

    /// Takes a submit, after everything due by `now` has been done.
    public mutating func submit(at now: Int, wait: Int?) -> Answer {
        let wasIdle = openUntil == nil
        switch policy.kind {
        case .debounce:
            let quiet = later(now, by: max(0, wait ?? policy.wait))
            openUntil = policy.extends ? max(quiet, openUntil ?? quiet) : quiet
        case .throttle:
            openUntil = openUntil ?? later(now, by: policy.wait)
        }
        if wasIdle, policy.leading, now >= next ?? .min { return lead(at: now) }
        if policy.trailing {
            pending.append(now)
            // After a change of the policy there may be more already.
            guard isFull || pending.count >= policy.maxCount ?? .max else { return .pending }
            if let next, now < next {
                isFull = true
                return .pending
            }
            if policy.kind == .debounce, !policy.leading { openUntil = nil }
            return .completes(take(at: now, .maxCount))
        }
        if policy.kind == .debounce, let maxWait = policy.maxWait, now >= later(latest, by: maxWait) {
            return lead(at: now)
        }
        return .absorbed
    }

    /// Postpones the end of the burst of an open gate of a debounce, after everything due by `now` has been done.
    public mutating func touch(at now: Int, wait: Int?) {
        guard policy.kind == .debounce, let openUntil else { return }
        let quiet = later(now, by: max(0, wait ?? policy.wait))
        self.openUntil = policy.extends ? max(quiet, openUntil) : quiet
    }

    /// Notes a due instant of values that went back.
    mutating func noteDue(at now: Int) {
        latestDue = now
        openUntil = nil
    }

    /// Makes the gate idle and executes what is pending, after everything due by `now` has been done.
    public mutating func flush(at now: Int) -> Due? {
        openUntil = nil
        return pending.isEmpty ? nil : take(at: now, .flush)
    }

    /// Makes the gate idle and drops what is pending.
    public mutating func cancel() {
        openUntil = nil
        pending = []
        isFull = false
    }

    /// The first of the values that are pending is dropped, and the burst goes on, since when it did.
    mutating func dropFirst(leaving count: Int) {
        let first = pending.removeFirst()
        if count > 0 {
            pending[0] = first
        } else {
            pending = []
            isFull = false
        }
    }

    private mutating func lead(at now: Int) -> Answer {
        latest = now
        latestDue = now
        return .leads(Due(at: now, cause: .leading, count: 1, first: now))
    }

    private mutating func take(at: Int, _ cause: ReferenceEdge) -> Due {
        defer {
            pending = []
            isFull = false
            latestDue = at
        }
        return Due(at: at, cause: cause, count: pending.count, first: pending[0])
    }
}
