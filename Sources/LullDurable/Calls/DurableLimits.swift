/// How large the values of a store may be, and how long it remembers outcomes and tokens.
///
/// How to choose: <doc:WorkThatSurvives>.
public struct DurableLimits: Hashable, Sendable {
    /// How long the store retains how a submit ended, by default a day. Dead runs stay until they are retried or
    /// discarded.
    public var retention: Duration
    /// How long the store recognises the token of a repeated submit, by default a day.
    public var tokenLifetime: Duration
    /// The number of bytes that a key may have, in every store. An index of PostgreSQL could not hold much longer ones.
    public static let longestKey = 1024
    /// The number of bytes that the context of a submit may have, in every store: see ``DurableExecution/context``.
    public static let longestContext = 1024

    /// The largest value that the store accepts, in bytes of JSON: by default 1 MiB, at most 16 MiB.
    public var largestValue: Int

    /// Creates limits, by default a day, a day and 1 MiB. A negative duration counts as zero, and `largestValue` is
    /// clamped.
    public init(
        retention: Duration = .seconds(24 * 3600), tokenLifetime: Duration = .seconds(24 * 3600),
        largestValue: Int = 1 << 20
    ) {
        self.retention = max(.zero, retention)
        self.tokenLifetime = max(.zero, tokenLifetime)
        self.largestValue = min(max(0, largestValue), 16 << 20)
    }
}
