public import LullCore

/// The result of one submit. Every submit has exactly one outcome (<doc:Outcomes>; <doc:Semantics>, section 6).
///
/// A later version may add a case: give a `switch` an `@unknown default`.
@nonexhaustive
public enum Outcome<Output: Sendable>: Sendable {
    /// The handler got the value, or a combination that contains it, and returned this output; or the submit joined
    /// that execution (``LullCore/OverlapPolicy/share``).
    case executed(Output)
    /// The handler got the value, or a combination that contains it, and threw this error.
    case failed(any Error)
    /// A later submit of the key replaced it before it was executed or, with ``LullCore/OverlapPolicy/cancelRunning``
    /// and ``LullCore/OverlapPolicy/replace``, while it was; or one of any key did, with
    /// ``LullCore/OverflowPolicy/dropOldest``.
    case superseded
    /// It was dropped in favour of an earlier value: the one that had opened a leading-only window, one that was still
    /// running with ``LullCore/OverlapPolicy/skip``, the first one with ``Combination/first``, or the same one that was
    /// executed last, with `removingDuplicates`. Or it was beyond `maxPending`, with
    /// ``LullCore/OverflowPolicy/dropNewest``.
    case absorbed
    /// A cancel or a shut-down dropped it, or its debouncer was released with ``EndPolicy/drop``.
    case cancelled
    /// It was rejected at once, for this reason.
    case rejected(Rejection)

    /// The output, if the value was executed: for a completion that shows an answer, and nothing where there is none.
    ///
    /// ```swift
    /// search.submit(query) { outcome in
    ///     if let hits = outcome.value { await screen.show(hits, for: query) }
    /// }
    /// ```
    public var value: Output? {
        if case .executed(let output) = self { output } else { nil }
    }

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

extension Outcome: Equatable where Output: Equatable {
    /// Whether both say the same. Errors are equal if they are of one type that is `Equatable`, and equal in that.
    public static func == (left: Outcome, right: Outcome) -> Bool {
        switch (left, right) {
        case (.executed(let left), .executed(let right)): left == right
        case (.failed(let left), .failed(let right)): (left as? any Equatable)?.isEqual(to: right) == true
        case (.superseded, .superseded), (.absorbed, .absorbed), (.cancelled, .cancelled): true
        case (.rejected(let left), .rejected(let right)): left == right
        default: false
        }
    }
}

extension Equatable {
    fileprivate func isEqual(to other: any Error) -> Bool { self == other as? Self }
}
