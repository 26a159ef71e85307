public import LullCore

/// The settings that all keys of a namespace share: when values fall due, and how they are combined.
public struct DurableRules: Hashable, Sendable {
    /// When values fall due.
    public var policy: Policy
    /// How the values behind one run become one.
    public var combination: Combination
    /// The largest number of values in one run; nil for no limit (<doc:Semantics>, section 8). Applies from the next claim on.
    public let maxBatch: Int?
    /// What a newer value of a key does to its run.
    public var whileRunning: DurableWhileRunning

    /// Creates the rules of a namespace without a limit on the values in one run.
    public init(
        _ policy: Policy, combination: Combination = .latest, whileRunning: DurableWhileRunning = .queue
    ) {
        self.policy = policy
        self.combination = combination
        self.whileRunning = whileRunning
        maxBatch = nil
    }

    /// Creates the rules of a namespace with a limit on the values in one run; nil for no limit.
    ///
    /// - Throws: ``/LullCore/PolicyError`` if the limit is less than 1, or if `combination` keeps a single value anyway.
    public init(
        _ policy: Policy, combination: Combination, maxBatch: Int?, whileRunning: DurableWhileRunning = .queue
    ) throws(PolicyError) {
        if let maxBatch {
            if maxBatch < 1 { throw .maxBatchBelowOne(maxBatch) }
            if combination != .collect { throw .maxBatchOfOneValue(maxBatch) }
        }
        self.policy = policy
        self.combination = combination
        self.maxBatch = maxBatch
        self.whileRunning = whileRunning
    }

    /// Returns whether a claim takes only the first values of what is ready.
    package func splits(_ ready: DurableRow.Ready) -> Bool {
        combination == .collect && ready.count > maxBatch ?? .max
    }
}
