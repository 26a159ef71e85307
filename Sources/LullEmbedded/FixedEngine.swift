@_exported public import LullCore

/// Debouncing and throttling over a fixed number of keys, in its own memory: for firmware.
///
/// It decides with the same `Gate` as `Engine` of `LullCore`, and executes at the same instants (<doc:Semantics>,
/// sections 2 to 5). It never allocates: its size is known to the compiler, and a variable of it at the top level lies
/// in static memory. Values are of types without references, keys are the numbers from 0 to `keyCount - 1`, and
/// executions take no time: each is a call of the closure given, before the call that brings it about returns. For
/// values that are collected, handlers that run for a while, or any number of keys, use `Engine` of `LullCore`.
///
/// ```swift
/// var pins = FixedEngine<3, Bool>(try Policy.debounce(wait: .milliseconds(10)))
/// pins.submit(isHigh, for: 2, at: now) { pin in report(pin.key, pin.value) }      // at every change of a pin
/// pins.advance(to: now) { pin in report(pin.key, pin.value) }                     // at every tick, or at `pins.alarm`
/// ```
///
/// Each call first does what was due by then, in the order of due instants. An instant earlier than the last one counts
/// as that one. It has no lock: call it from one place, such as the main loop, and not from the closures that it calls.
/// Until the next gate changes, ``advance(to:run:)`` compares two numbers, and a submit, or a flush or cancel of one
/// key, looks at that key alone. ``alarm`` and everything else look at every key.
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
public struct FixedEngine<let keyCount: Int, Value: BitwiseCopyable>: ~Copyable {
    /// The state of one key.
    private struct Slot {
        var gate = Gate()
        /// When the gate changes by itself, unless it is idle: computed once, and compared at every look at the keys.
        var change = CoreInstant.farFuture
        /// The number of the burst, in the order in which bursts began.
        var burst: UInt32 = 0
        /// What is pending: present exactly if the gate's count is not zero.
        var value: Value?
    }

    /// When values fall due.
    public let policy: Policy
    /// Whether the first of the values behind an execution is kept, instead of the latest.
    public let keepsFirst: Bool
    /// What has become of the submits.
    public private(set) var counts = FixedCounts()

    private var slots: [keyCount of Slot]
    /// The number of bursts so far, which wraps around. Tests set it.
    var burstCount: UInt32 = 0
    /// The last instant handled.
    private var now = CoreInstant.farPast
    /// No gate changes by itself before this instant.
    private var nextChange = CoreInstant.farFuture

    /// Creates an engine with nothing pending.
    ///
    /// - Parameters:
    ///   - policy: When values fall due.
    ///   - keepsFirst: Keep the first of the values behind an execution instead of the latest (<doc:Semantics>, section
    ///     8).
    public init(_ policy: Policy, keepsFirst: Bool = false) {
        self.policy = policy
        self.keepsFirst = keepsFirst
        slots = .init(repeating: Slot())
    }

    /// The instant at which something falls due next; the far future if nothing is pending. A program that sleeps calls
    /// ``advance(to:run:)`` then, or later.
    public var alarm: CoreInstant {
        // It changes nothing. A getter that does not say `mutating` gets a copy of the engine, with all keys, on the
        // stack.
        mutating get {
            var least = CoreInstant.farFuture
            for key in slots.indices where slots[key].value != nil { least = min(least, slots[key].change) }
            return least
        }
    }

    // MARK: - Calls

    /// Submits a value under a key (<doc:Semantics>, sections 3 and 4).
    ///
    /// `delay` is that of this call alone; a negative one counts as zero. A throttle ignores it. A key that does
    /// not exist traps.
    public mutating func submit(
        _ value: Value, for key: Int = 0, at instant: CoreInstant, after delay: CoreDuration? = nil,
        run: (FixedExecution<Value>) -> Void
    ) {
        advance(to: instant, run: run)
        counts.submitted &+= 1
        if !slots[key].gate.isOpen {
            burstCount &+= 1
            slots[key].burst = burstCount
        }
        switch slots[key].gate.submit(at: now, wait: delay, by: policy) {
        case .join, .fill: combine(value, key)
        case .absorb: counts.absorbed &+= 1
        case .lead:
            counts.executed &+= 1
            noteChange(of: key)
            return run(FixedExecution(key, value, Gate.Due(at: now, cause: .leading, count: 1, first: now)))
        case .complete(let due):
            combine(value, key)
            noteChange(of: key)
            return execute(key, due, run)
        }
        noteChange(of: key)
    }

    /// Does everything that was due at `instant` or before, in the order of due instants, and of equal ones in the
    /// order in which their bursts began.
    public mutating func advance(to instant: CoreInstant, run: (FixedExecution<Value>) -> Void) {
        if instant > now { now = instant }
        while nextChange <= now {
            guard let key = Self.firstToChange(slots.span) else {
                nextChange = .farFuture
                return
            }
            nextChange = slots[key].change
            guard nextChange <= now else { return }
            let due = slots[key].gate.settle(at: now, by: policy)
            noteChange(of: key)
            if let due { execute(key, due, run) }
        }
    }

    /// Executes what is pending under a key now, or under all keys in the order in which their bursts began, and makes
    /// their gates idle (<doc:Semantics>, section 5).
    public mutating func flush(_ key: Int? = nil, at instant: CoreInstant, run: (FixedExecution<Value>) -> Void) {
        advance(to: instant, run: run)
        while let next = key ?? Self.firstPending(slots.span) {
            let due = slots[next].gate.flush(at: now, by: policy)
            noteChange(of: next)
            if let due { execute(next, due, run) }
            if key != nil { return }
        }
        for key in slots.indices where slots[key].gate.phase != .idle {
            _ = slots[key].gate.flush(at: now, by: policy)
            noteChange(of: key)
        }
    }

    /// Drops what is pending under a key, or under all keys, and makes their gates idle (<doc:Semantics>, section 5).
    /// What was due by then is executed. A key that does not exist traps.
    public mutating func cancel(_ key: Int? = nil, at instant: CoreInstant, run: (FixedExecution<Value>) -> Void) {
        advance(to: instant, run: run)
        guard let key else {
            for key in slots.indices { drop(key) }
            return
        }
        drop(key)
    }

    // MARK: - Parts

    private mutating func drop(_ key: Int) {
        if slots[key].value != nil {
            slots[key].value = nil
            counts.pending &-= 1
            counts.cancelled &+= 1
        }
        slots[key].gate.close(at: now, by: policy)
        noteChange(of: key)
    }

    /// Combines a value with the pending one, if there is one.
    private mutating func combine(_ value: Value, _ key: Int) {
        if slots[key].value == nil {
            counts.pending &+= 1
        } else if keepsFirst {
            counts.absorbed &+= 1
            return
        } else {
            counts.superseded &+= 1
        }
        slots[key].value = value
    }

    private mutating func execute(_ key: Int, _ due: Gate.Due, _ run: (FixedExecution<Value>) -> Void) {
        guard let value = slots[key].value else {
            preconditionFailure("a gate with submits pending has no value: this is a bug in LullCore")
        }
        slots[key].value = nil
        counts.pending &-= 1
        counts.executed &+= 1
        run(FixedExecution(key, value, due))
    }

    private mutating func noteChange(of key: Int) {
        guard slots[key].gate.phase != .idle else { return }
        let change = slots[key].gate.nextChange(by: policy)
        slots[key].change = change
        nextChange = min(nextChange, change)
    }

    // These take a span: methods that do not say `mutating` get a copy of the engine, too.

    /// The key whose gate changes first; nil if all are idle.
    private static func firstToChange(_ slots: Span<Slot>) -> Int? {
        var first: Int?
        for key in slots.indices where slots[key].gate.phase != .idle {
            if let first, slots[first].change < slots[key].change { continue }
            if let first, slots[first].change == slots[key].change, isEarlier(slots, first, key) { continue }
            first = key
        }
        return first
    }

    /// The key with something pending whose burst began first.
    private static func firstPending(_ slots: Span<Slot>) -> Int? {
        var first: Int?
        for key in slots.indices where slots[key].value != nil {
            if let first, isEarlier(slots, first, key) { continue }
            first = key
        }
        return first
    }

    /// Whether the burst of one key began before that of another. The numbers wrap around: what counts is their
    /// distance.
    private static func isEarlier(_ slots: Span<Slot>, _ one: Int, _ other: Int) -> Bool {
        Int32(bitPattern: slots[one].burst &- slots[other].burst) < 0
    }
}

/// What a ``FixedEngine`` executes: a value that has fallen due.
public struct FixedExecution<Value: BitwiseCopyable> {
    /// The key of the value.
    public let key: Int
    /// The value.
    public let value: Value
    /// The number of submits behind it.
    public let count: Int
    /// Why it fell due.
    public let cause: Cause
    /// When it was due.
    public let at: CoreInstant
    /// The instant of the oldest submit behind it.
    public let first: CoreInstant

    init(_ key: Int, _ value: Value, _ due: Gate.Due) {
        self.key = key
        self.value = value
        count = due.count
        cause = due.cause
        at = due.at
        first = due.first
    }
}

extension FixedExecution: Sendable where Value: Sendable {}

/// How many submits of a ``FixedEngine`` there were, and what has become of each (<doc:Semantics>, section 6).
///
/// The counts wrap around after 2³², so that they take 24 bytes and no device stops at them: differences stay right.
public struct FixedCounts: BitwiseCopyable, Hashable, Sendable {
    /// All submits so far.
    public internal(set) var submitted: UInt32 = 0
    /// Submits whose value was executed.
    public internal(set) var executed: UInt32 = 0
    /// Submits whose value a later one of the key replaced.
    public internal(set) var superseded: UInt32 = 0
    /// Submits that another value stood for.
    public internal(set) var absorbed: UInt32 = 0
    /// Submits that a cancel dropped.
    public internal(set) var cancelled: UInt32 = 0
    /// Submits whose value is not due yet.
    public internal(set) var pending: UInt32 = 0

    /// Whether ``submitted`` is the sum of the others: true at every instant.
    public var addUp: Bool { submitted == executed &+ superseded &+ absorbed &+ cancelled &+ pending }
}
