public import LullCore

/// What became of one submit (<doc:Semantics>, section 6). Every submit ends in exactly one of these.
@nonexhaustive
public enum Outcome<Output: Sendable>: Sendable {
    /// This value, or a combination that contains it, was handled, with this result.
    case executed(Output)
    /// The same, and the handler threw this error.
    case failed(any Error)
    /// A later submit of the key took its place, before it was executed or, under
    /// ``LullCore/WhileRunning/cancelRunning``, while it was.
    case superseded
    /// Another value stood for it: the one that had opened a leading-only window, one that was still running under
    /// ``LullCore/WhileRunning/skip``, or the first one under ``Combining/first``.
    case absorbed
    /// It was cancelled, or its owner has gone and was set up to drop what was pending.
    case cancelled
    /// It was not taken, for this reason.
    case rejected(Rejection)

    @usableFromInline
    init(_ fate: Fate) {
        switch fate {
        case .superseded: self = .superseded
        case .absorbed: self = .absorbed
        case .cancelled: self = .cancelled
        case .rejected(let why): self = .rejected(why)
        }
    }
}
