/// The fate of a submit that no handler got (<doc:Semantics>, section 6). `Outcome.get()` throws it.
@frozen
public enum NotExecutedError: Error, Hashable, Sendable {
    /// A later submit replaced it: of the key, or of any under ``OverflowPolicy/dropOldest``.
    case superseded
    /// Another value stood for it: a leading one, a running one, the first, or the same one that was executed last.
    case absorbed
    /// It was cancelled.
    case cancelled
    /// It was refused, for this reason.
    case rejected(Rejection)
}

/// Why a submit was refused at once, and changed nothing.
@nonexhaustive
public enum Rejection: Hashable, Sendable {
    /// The debouncer has been shut down.
    case shutDown
    /// As many submits as `maxPending` allows were pending.
    case tooManyPending
    /// As many keys as the `capacity` allows are in a burst or wait to start, and the submit would have added one.
    case overCapacity
}
