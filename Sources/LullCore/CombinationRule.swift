/// How the values behind one execution become one (<doc:Semantics>, section 8).
///
/// `Lull` has `Combination` for debouncers in memory, which can also merge: that is `collect`, folded when the
/// execution starts. User code never runs inside the engine.
@frozen
public enum CombinationRule: Hashable, Sendable {
    /// The handler gets the last value.
    case latest
    /// The handler gets the first value.
    case first
    /// The handler gets all values, in order.
    case collect
}

extension CombinationRule {
    /// The fate of a value that is displaced.
    package var fateOfDisplaced: NotExecutedError { self == .first ? .absorbed : .superseded }
}
