public import LullCore

/// The settings that all keys of a namespace share: when values fall due, and how they are combined.
public struct DurableRules: Hashable, Sendable {
    /// When values fall due.
    public package(set) var policy: Policy
    /// How the values behind one run become one.
    public package(set) var combination: CombinationRule
    /// Whether the worker folds the values of a run into one before it handles them; only with `collect`. The store
    /// keeps them as they were submitted. Cannot change in a namespace.
    public private(set) var isMerging: Bool
    /// The largest number of values in one run; nil for no limit (<doc:Semantics>, section 8). Applies from the next
    /// claim on.
    public let maxBatch: Int?
    /// How often runs start, of all keys together; nil for no limit (<doc:Semantics>, section 7). Each attempt is a
    /// start.
    public private(set) var limit: RateLimit?
    /// The most runs that workers have at once, all workers together; nil for no limit. A lease that has ended counts
    /// until another worker takes the run over.
    public let maxRunning: Int?
    /// What a newer value of a key does to its run.
    public package(set) var whileRunning: DurableOverlapPolicy

    /// Creates the rules of a namespace without a limit on the values in one run.
    package init(
        _ policy: Policy, combination: CombinationRule = .latest, whileRunning: DurableOverlapPolicy = .queue
    ) {
        self.policy = policy
        self.combination = combination
        self.whileRunning = whileRunning
        isMerging = false
        maxBatch = nil
        limit = nil
        maxRunning = nil
    }

    /// Creates the rules of a namespace with limits; nil for no limit. `isMerging` counts only with `collect`.
    ///
    /// - Throws: ``/LullCore/PolicyError`` if a number is less than 1, if the `limit` breaks a rule, or if there is a
    ///   `maxBatch` and `combination` keeps a single value anyway.
    package init(
        _ policy: Policy, combination: CombinationRule, isMerging: Bool = false, maxBatch: Int?,
        limit: RateLimit? = nil,
        maxRunning: Int? = nil, whileRunning: DurableOverlapPolicy = .queue
    ) throws(PolicyError) {
        try limit?.check()
        if let maxRunning, maxRunning < 1 { throw .maxRunningBelowOne(maxRunning) }
        if let maxBatch {
            if maxBatch < 1 { throw .maxBatchBelowOne(maxBatch) }
            if combination != .collect { throw .maxBatchOfOneValue(maxBatch) }
        }
        self.policy = policy
        self.combination = combination
        self.isMerging = isMerging && combination == .collect
        self.maxBatch = maxBatch
        self.limit = limit
        self.maxRunning = maxRunning
        self.whileRunning = whileRunning
    }

    /// Returns these rules, with or without merging.
    package func merging(_ isMerging: Bool) -> DurableRules {
        var rules = self
        rules.isMerging = isMerging && combination == .collect
        return rules
    }

    /// The same rules without the limit on starts, which a store with shards counts over all of them.
    var withoutLimit: DurableRules {
        var rules = self
        rules.limit = nil
        return rules
    }

    /// Returns whether a claim takes only the first values of what is ready.
    package func splits(_ ready: DurableRow.Ready) -> Bool {
        combination == .collect && ready.count > maxBatch ?? .max
    }
}

/// What a newer value of a key does to a run that a worker has: a rule of a namespace, which cannot change.
///
/// ```swift
/// let replies = try await DurableDebouncer<String, Message>(
///     collectingFor: .seconds(3), maxWait: .seconds(60), whileRunning: .restart,
///     namespace: "replies", in: store)
/// ```
///
/// See <doc:Semantics>, section 7.
public enum DurableOverlapPolicy: Hashable, Sendable {
    /// The newer value waits until the run has ended, and is then a run of its own.
    case queue
    /// The run is interrupted: its handler is cancelled, and if it then throws, its values go back in front of the
    /// newer ones and start with them, as one run. If it returns, it is executed, and the newer value is a run of its
    /// own.
    ///
    /// With a `maxWait`, a run whose oldest submit is that old by then is not interrupted. Neither is a dead run that
    /// was retried, nor one behind which other submits of the key have ended already, cancelled or absorbed: the newer
    /// value waits.
    ///
    /// With `whenSubmitted`, a value that was submitted before the run began interrupts it when it falls due.
    case restart(interrupting: Interruption)

    /// The same, when the newer value falls due.
    public static var restart: DurableOverlapPolicy { .restart(interrupting: .whenDue) }

    /// When a run is interrupted; nil for never.
    package var interrupting: Interruption? {
        if case .restart(let interrupting) = self { interrupting } else { nil }
    }

    /// The name of the rule, as stores write it; nil for ``queue``.
    package var name: String? {
        switch self {
        case .queue: nil
        case .restart(interrupting: .whenDue): "due"
        case .restart(interrupting: .whenSubmitted): "submitted"
        }
    }

    /// Creates the rule with a name, nil for ``queue``; nil if there is no such rule.
    package init?(name: String?) {
        switch name {
        case nil: self = .queue
        case "due": self = .restart(interrupting: .whenDue)
        case "submitted": self = .restart(interrupting: .whenSubmitted)
        default: return nil
        }
    }
}
