public import LullCore

/// The result of one submit. Every submit has exactly one outcome (<doc:Outcomes>; <doc:Semantics>, section 6).
///
/// A later version may add a case: give a `switch` an `@unknown default`.
@nonexhaustive
public enum Outcome<Output: Sendable>: Sendable {
    /// The handler got the value, or a combination that contains it, and returned this output.
    case executed(Output)
    /// The handler got the value, or a combination that contains it, and threw this error.
    case failed(any Error)
    /// A later submit of the key replaced it before it was executed or, with ``LullCore/OverlapPolicy/cancelRunning``,
    /// while it was.
    case superseded
    /// It was dropped in favour of an earlier value: the one that had opened a leading-only window, one that was still
    /// running with ``LullCore/OverlapPolicy/skip``, or the first one with ``Combination/first``.
    case absorbed
    /// A cancel or a shut-down dropped it, or its debouncer was released with ``EndPolicy/drop``.
    case cancelled
    /// It was rejected at once, for this reason.
    case rejected(Rejection)

    /// Returns the output, or throws: for callers that need the result of exactly this submit.
    ///
    /// ```swift
    /// let user = try await users.outcome(of: id, for: id).get()
    /// ```
    ///
    /// - Throws: The error that the handler threw; a ``LullCore/NotExecutedError`` if no handler got the value.
    public func get() throws -> Output {
        switch self {
        case .executed(let output): return output
        case .failed(let error): throw error
        case .superseded: throw NotExecutedError.superseded
        case .absorbed: throw NotExecutedError.absorbed
        case .cancelled: throw NotExecutedError.cancelled
        case .rejected(let why): throw NotExecutedError.rejected(why)
        }
    }

    init(_ fate: NotExecutedError) {
        switch fate {
        case .superseded: self = .superseded
        case .absorbed: self = .absorbed
        case .cancelled: self = .cancelled
        case .rejected(let why): self = .rejected(why)
        }
    }
}
