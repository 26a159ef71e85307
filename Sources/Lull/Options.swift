public import LullCore

/// What can be said of a debouncer beyond its wait, its edges and how values are combined. Everything has a default.
///
/// ```swift
/// let save = Debouncer(for: .seconds(2), options: .init(maxCount: 100, atEnd: .flush)) { (draft: Draft) in … }
/// ```
public struct DebounceOptions: Sendable {
    /// What a shorter delay of a single call does to a longer one that is running.
    public var delayRule: DelayRule
    /// This many submits are executed at once; at least one, and only with the trailing edge. It says when to execute, not how
    /// much the handler gets. Nil for no limit.
    public var maxCount: Int?
    /// One execution gets this many values at most, and the rest follows in further ones (<doc:Semantics>, section 8);
    /// only where values are merged or collected. Nil for no limit.
    public var maxBatch: Int?
    /// How many executions may run at once, of all keys; nil for no limit.
    public var maxConcurrent: Int?
    /// How many keys may be open or waiting at once; a submit that would add one is rejected. Nil for no limit.
    public var capacity: Int?
    /// What becomes of pending values when the last reference to the debouncer goes away.
    public var atEnd: AtEnd
    /// How much later than due a wake-up may be, so that wake-ups of several debouncers can be one; never early. Zero or more.
    public var tolerance: Duration

    /// Options with the defaults, but for what is given.
    public init(
        delayRule: DelayRule = .restart, maxCount: Int? = nil, maxBatch: Int? = nil, maxConcurrent: Int? = nil,
        capacity: Int? = nil, atEnd: AtEnd = .executeWhenDue, tolerance: Duration = .zero
    ) {
        self.delayRule = delayRule
        self.maxCount = maxCount
        self.maxBatch = maxBatch
        self.maxConcurrent = maxConcurrent
        self.capacity = capacity
        self.atEnd = atEnd
        self.tolerance = tolerance
    }
}

/// What can be said of a throttler beyond its interval, its edges and how values are combined. Everything has a default.
public struct ThrottleOptions: Sendable {
    /// This many submits are executed at once; at least one, and only with the trailing edge. It says when to execute, not how
    /// much the handler gets. Nil for no limit.
    public var maxCount: Int?
    /// One execution gets this many values at most, and the rest follows in further ones (<doc:Semantics>, section 8);
    /// only where values are merged or collected. Nil for no limit.
    public var maxBatch: Int?
    /// How many executions may run at once, of all keys; nil for no limit.
    public var maxConcurrent: Int?
    /// How many keys may be open or waiting at once; a submit that would add one is rejected. Nil for no limit.
    public var capacity: Int?
    /// What becomes of pending values when the last reference to the throttler goes away.
    public var atEnd: AtEnd
    /// How much later than due a wake-up may be, so that wake-ups of several throttlers can be one; never early. Zero or more.
    public var tolerance: Duration

    /// Options with the defaults, but for what is given.
    public init(
        maxCount: Int? = nil, maxBatch: Int? = nil, maxConcurrent: Int? = nil, capacity: Int? = nil,
        atEnd: AtEnd = .executeWhenDue, tolerance: Duration = .zero
    ) {
        self.maxCount = maxCount
        self.maxBatch = maxBatch
        self.maxConcurrent = maxConcurrent
        self.capacity = capacity
        self.atEnd = atEnd
        self.tolerance = tolerance
    }
}

// MARK: - What they come to

/// All that a debouncer or throttler is set up with, checked.
struct Settings {
    let setup: Setup
    let atEnd: AtEnd
    let tolerance: Duration
}

/// What the options of debouncers and throttlers have in common.
private protocol ExecutionOptions {
    var maxBatch: Int? { get }
    var maxConcurrent: Int? { get }
    var capacity: Int? { get }
    var atEnd: AtEnd { get }
    var tolerance: Duration { get }
}

extension ExecutionOptions {
    /// Stops the program with the rule that the settings break: they stand in its code.
    fileprivate func settings(
        _ combination: Combination, _ whileRunning: WhileRunning, _ policy: () throws(PolicyError) -> Policy
    ) -> Settings {
        do {
            let setup = try Setup(
                policy(), combination: combination, whileRunning: whileRunning, maxConcurrent: maxConcurrent,
                capacity: capacity, maxBatch: maxBatch)
            return Settings(setup: setup, atEnd: atEnd, tolerance: tolerance)
        } catch {
            refuse("\(error)")
        }
    }
}

extension DebounceOptions: ExecutionOptions {
    func settings(
        for wait: Duration, maxWait: Duration?, edges: Edges, _ combination: Combination, _ whileRunning: WhileRunning
    ) -> Settings {
        settings(combination, whileRunning) { () throws(PolicyError) in
            try .debounce(for: wait, maxWait: maxWait, edges: edges, delayRule: delayRule, maxCount: maxCount)
        }
    }

    func settings(_ policy: Policy, _ combination: Combination, _ whileRunning: WhileRunning) -> Settings {
        require(policy.kind == .debounce, "the policy is a throttle, which is what a throttler takes")
        require(
            delayRule == .restart && maxCount == nil,
            "the policy has a delayRule and a maxCount of its own: leave them out of the options")
        return settings(combination, whileRunning) { policy }
    }
}

extension ThrottleOptions: ExecutionOptions {
    func settings(
        every interval: Duration, edges: Edges, _ combination: Combination, _ whileRunning: WhileRunning
    ) -> Settings {
        settings(combination, whileRunning) { () throws(PolicyError) in
            try .throttle(every: interval, edges: edges, maxCount: maxCount)
        }
    }

    func settings(_ policy: Policy, _ combination: Combination, _ whileRunning: WhileRunning) -> Settings {
        require(policy.kind == .throttle, "the policy is a debounce, which is what a debouncer takes")
        require(maxCount == nil, "the policy has a maxCount of its own: leave it out of the options")
        return settings(combination, whileRunning) { policy }
    }
}
