/// The settings of an ``Engine``: a valid policy, and the other options of debouncers and throttlers.
@frozen
public struct Setup: Hashable, Sendable {
    /// When values fall due.
    public let policy: Policy
    /// How the values behind one execution become one.
    public let combination: Combination
    /// The treatment of a value that falls due while an execution of its key is running.
    public let whileRunning: WhileRunning
    /// The greatest number of executions that run at once; `Int.max` for no limit.
    public let maxConcurrent: Int
    /// The greatest number of keys that are open or waiting at once; `Int.max` for no limit.
    public let capacity: Int
    /// The greatest number of values that one execution gets; `Int.max` for no limit (<doc:Semantics>, section 8).
    public let maxBatch: Int

    /// Creates a setup from settings that obey the rules (<doc:Semantics>, section 10); nil stands for no limit.
    ///
    /// - Throws: ``PolicyError`` if a limit is less than 1, if `maxBatch` is given where an execution gets one value, or if
    ///   cancelling would lose values that are collected.
    public init(
        _ policy: Policy, combination: Combination = .latest, whileRunning: WhileRunning = .queue,
        maxConcurrent: Int? = nil, capacity: Int? = nil, maxBatch: Int? = nil
    ) throws(PolicyError) {
        if let maxConcurrent, maxConcurrent < 1 { throw .maxConcurrentBelowOne(maxConcurrent) }
        if let capacity, capacity < 1 { throw .capacityBelowOne(capacity) }
        if case .cancelRunning = whileRunning, combination == .collect { throw .cancelRunningLosesValues }
        if let maxBatch {
            if maxBatch < 1 { throw .maxBatchBelowOne(maxBatch) }
            if combination != .collect { throw .maxBatchOfOneValue(maxBatch) }
        }
        self.policy = policy
        self.combination = combination
        self.whileRunning = whileRunning
        self.maxConcurrent = maxConcurrent ?? .max
        self.capacity = capacity ?? .max
        self.maxBatch = maxBatch ?? .max
    }
}

/// The treatment of a value that falls due while an earlier execution of its key is running (<doc:Semantics>,
/// section 7).
///
/// How to choose: <doc:WhileAHandlerRuns>.
@frozen
public enum WhileRunning: Hashable, Sendable {
    /// The value waits, at most one for each key, and starts when the running execution has ended.
    case queue
    /// The task of the running execution is cancelled and awaited, then the value starts: no stale answer comes last.
    /// Not allowed where values are collected or merged, since those of the cancelled execution would be lost: use
    /// ``restart``.
    case cancelRunning(interrupting: Interrupting)
    /// The task of the running execution is cancelled and awaited. If it then throws, its values go back in front of the
    /// newer ones and start with them, as one execution: begin again with everything.
    ///
    /// With `maxWait`, an execution whose oldest submit is that old is not interrupted. Without it, a stream that never pauses
    /// for as long as the handler takes is never finished.
    case restart(interrupting: Interrupting)
    /// The value starts beside the running execution.
    case concurrent
    /// The value is dropped, and its submits end as absorbed; after a flush it waits instead.
    case skip

    /// The same, when the newer value falls due.
    public static var cancelRunning: WhileRunning { .cancelRunning(interrupting: .whenDue) }

    /// The same, when the newer value falls due.
    public static var restart: WhileRunning { .restart(interrupting: .whenDue) }

    /// Whether a submit that is accepted interrupts what is running.
    var interruptsWhenSubmitted: Bool {
        switch self {
        case .cancelRunning(let interrupting), .restart(let interrupting): interrupting == .whenSubmitted
        case .queue, .concurrent, .skip: false
        }
    }
}

/// When a running execution is interrupted for a newer value of its key (<doc:Semantics>, section 7).
@frozen
public enum Interrupting: Hashable, Sendable {
    /// When the newer value falls due.
    case whenDue
    /// As soon as the newer value is submitted and accepted: neither absorbed nor rejected.
    case whenSubmitted
}
