/// The treatment of a submit that would leave more pending than `maxPending` allows (<doc:Semantics>, section 7).
@frozen
public enum OverflowPolicy: Hashable, Sendable {
    /// It is refused, and ends as rejected, for ``Rejection/tooManyPending``.
    case reject
    /// It is dropped, and ends as absorbed.
    case dropNewest
    /// It takes the place of the oldest submit that is pending, of whichever key, which ends as superseded. A submit
    /// costs an allocation then.
    case dropOldest
}
