package import LullCore

/// How the values of one execution become the one that the handler gets (<doc:Semantics>, section 8).
///
/// ```swift
/// let count = Throttler(every: .seconds(1), combining: .merge { $0 += $1 }) { (clicks: Int) in
///     await counter.add(clicks)
/// }
/// ```
///
/// For a handler that takes all values as an array, use the initialisers with `collecting`.
public enum Combination<Value: Sendable>: Sendable {
    /// The handler gets the last value; those before it end as superseded.
    case latest
    /// The handler gets the first value; later ones end as absorbed.
    case first
    /// The handler gets all values folded into one, in the order in which they were submitted.
    ///
    /// The function runs when the execution starts, before the handler, where a handler without isolation would run;
    /// never inside `submit`. Until then the values are kept: while no execution is running, `maxCount` and `maxWait`
    /// bound how many; `maxBatch` bounds what one execution gets.
    case merge(@Sendable (_ pending: inout Value, _ value: Value) -> Void)

    package var core: CombinationRule {
        switch self {
        case .latest: .latest
        case .first: .first
        case .merge: .collect
        }
    }

    package var fold: (@Sendable (inout Value, Value) -> Void)? {
        if case .merge(let fold) = self { fold } else { nil }
    }

    /// How many values a sequence may hold, if more than one: merging keeps them until the execution starts.
    @usableFromInline
    var limit: Int? {
        if case .merge = self { 1024 } else { nil }
    }
}
