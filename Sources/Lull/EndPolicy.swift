/// The rule for pending values when their debouncer or throttler is released (<doc:Semantics>, section 5).
public enum EndPolicy: Hashable, Sendable {
    /// They are executed when they are due, as if the debouncer still existed. What is due in the far future ends as
    /// ``Outcome/cancelled``.
    case executeWhenDue
    /// They are executed at once, as by a flush.
    case flush
    /// They are dropped, and end as ``Outcome/cancelled``.
    case drop
}
