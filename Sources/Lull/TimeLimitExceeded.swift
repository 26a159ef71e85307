/// The error of an execution that has run for longer than its time limit, was told to stop, and threw.
///
/// See <doc:Semantics>, section 7.
public struct TimeLimitExceeded: Error, Hashable {
    /// The time limit.
    public let limit: Duration

    /// Creates the error.
    public init(_ limit: Duration) {
        self.limit = limit
    }
}

extension TimeLimitExceeded: CustomStringConvertible {
    /// `the time limit of 30 s was exceeded`.
    public var description: String { "the time limit of \(limit.text) was exceeded" }
}
