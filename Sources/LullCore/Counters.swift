/// How many submits there were, and what has become of each (<doc:Semantics>, section 6): the result of
/// `debouncer.counters`.
///
/// All counts but ``restarted`` and ``overdue`` are of submits, not of executions. None is ever lost: at every instant
/// ``submitted`` is the sum of the others.
@frozen
public struct Counters: Hashable, Sendable {
    /// All submits so far.
    public var submitted = 0
    /// Submits whose value was replaced by a later one of the key: while it waited, or under `.cancelRunning` and
    /// `.replace` while it ran; or by one of any key, under `.dropOldest`.
    public var superseded = 0
    /// Submits whose handler returned, alone or combined with others.
    public var executed = 0
    /// Submits that another value stood for: they came in a leading-only window, fell due under `.skip` while a handler
    /// was running, came later under `.first`, had an unchanged value, or were dropped under `.dropNewest`.
    public var absorbed = 0
    /// Submits dropped by a cancel, a shut-down or the end of the debouncer, or whose execution was stopped by a
    /// cancel.
    public var cancelled = 0
    /// Submits refused after a shut-down, over capacity or beyond `maxPending`.
    public var rejected = 0
    /// Submits whose handler threw.
    public var failed = 0
    /// Submits behind values that are not due yet, or are due and wait to start.
    public var pending = 0
    /// Submits whose handler is running.
    public var running = 0
    /// How often the values of an interrupted execution went back, under `.restart`: a number of executions, beside the
    /// sum.
    public var restarted = 0
    /// How many executions went on after their time limit: a number of executions, beside the sum.
    public var overdue = 0

    /// Creates counters that are all zero.
    public init() {}

    /// Whether ``submitted`` is the sum of the others: true at every instant, for tests to assert.
    public var addUp: Bool {
        submitted == executed + superseded + absorbed + cancelled + rejected + failed + pending + running
    }

    mutating func add(_ count: Int, _ fate: NotExecutedError) {
        switch fate {
        case .superseded: superseded += count
        case .absorbed: absorbed += count
        case .cancelled: cancelled += count
        case .rejected: rejected += count
        }
    }
}
