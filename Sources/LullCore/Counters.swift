/// How many submits there were, and what became of them (<doc:Semantics>, section 6).
///
/// At every instant `submitted` is the sum of all the other counts.
@frozen
public struct Counters: Hashable, Sendable {
    /// Submits offered.
    public var submitted = 0
    /// Replaced by a later submit of the key.
    public var superseded = 0
    /// Handled successfully.
    public var executed = 0
    /// Another value stood for them.
    public var absorbed = 0
    /// Withdrawn by a cancel or by the end of the owner.
    public var cancelled = 0
    /// Not taken: shut down, or over capacity.
    public var rejected = 0
    /// Handled by a handler that threw.
    public var failed = 0
    /// Waiting to fall due, or due and waiting to start.
    public var pending = 0
    /// Being handled.
    public var running = 0

    /// All counts at zero.
    @inlinable
    public init() {}

    /// Whether the counts add up, as they do at every instant.
    @inlinable
    public var addUp: Bool {
        submitted == executed + superseded + absorbed + cancelled + rejected + failed + pending + running
    }

    @inlinable
    mutating func add(_ count: Int, _ fate: Fate) {
        switch fate {
        case .superseded: superseded += count
        case .absorbed: absorbed += count
        case .cancelled: cancelled += count
        case .rejected: rejected += count
        }
    }
}
