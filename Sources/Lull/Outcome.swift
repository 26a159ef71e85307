public import LullCore

/// What has become of one submit. Every submit ends in exactly one of these (<doc:Outcomes>; <doc:Semantics>, section
/// 6).
///
/// A later version may add a case: give a `switch` an `@unknown default`.
@nonexhaustive
public enum Outcome<Output: Sendable>: Sendable {
    /// The handler was given this value, or a combination that contains it, and returned this.
    case executed(Output)
    /// The handler was given this value, or a combination that contains it, and threw this error.
    case failed(any Error)
    /// A later submit of the key took its place, before it was executed or, under
    /// ``LullCore/WhileRunning/cancelRunning``, while it was.
    case superseded
    /// Another value stood for it: the one that had opened a leading-only window, one that was still running under
    /// ``LullCore/WhileRunning/skip``, or the first one under ``Combining/first``.
    case absorbed
    /// A cancel or a shut-down dropped it, or its debouncer has gone and was set up to drop what was pending.
    case cancelled
    /// It was refused at once, for this reason.
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
