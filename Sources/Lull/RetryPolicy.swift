package import LullCore

/// An exponential backoff with jitter: when, and how often, an execution whose handler threw is tried again.
///
/// ```swift
/// let retry = RetryPolicy(initialDelay: .seconds(5), maxDelay: .seconds(3600), maxAttempts: 50)
/// ```
///
/// Each delay is ``factor`` times the one before, up to ``maxDelay``. It is then shortened at random by up to the
/// fraction ``jitter``, so that executions that failed together are not tried again together.
public struct RetryPolicy: Hashable, Sendable {
    /// The delay after the first failed attempt.
    public var initialDelay: Duration
    /// The number by which the delay is multiplied with each attempt; at least 1.
    public var factor: Double
    /// The longest delay.
    public var maxDelay: Duration
    /// The largest fraction by which a delay is shortened at random: from 0, for exact delays, to 1.
    public var jitter: Double
    /// The number of attempts before an execution is given up. In a store, an attempt whose worker died counts.
    public var maxAttempts: Int

    /// Creates a policy. By default an execution that keeps failing is given up after some 80 minutes.
    ///
    /// The program stops with a message if `initialDelay` is negative, `factor` below 1 or not finite, `maxDelay`
    /// shorter than `initialDelay`, `jitter` not from 0 to 1, or `maxAttempts` below 1.
    public init(
        initialDelay: Duration = .seconds(1), factor: Double = 2, maxDelay: Duration = .seconds(600),
        jitter: Double = 0.5, maxAttempts: Int = 20, fileID: StaticString = #fileID, line: UInt = #line
    ) {
        let site = SourceSite(fileID, line)
        require(initialDelay >= .zero, "the initialDelay is \(initialDelay), but must be zero or more", at: site)
        require(factor >= 1 && factor.isFinite, "the factor is \(factor), but must be 1 or more", at: site)
        require(
            maxDelay >= initialDelay, "the maxDelay is \(maxDelay), but the initialDelay is \(initialDelay)", at: site)
        require(jitter >= 0 && jitter <= 1, "the jitter is \(jitter), but must be from 0 to 1", at: site)
        require(maxAttempts >= 1, "the maxAttempts is \(maxAttempts), but must be 1 or more", at: site)
        self.initialDelay = initialDelay
        self.factor = factor
        self.maxDelay = maxDelay
        self.jitter = jitter
        self.maxAttempts = maxAttempts
    }

    /// Returns the delay after that many attempts, without jitter.
    package func delay(after attempts: Int) -> CoreDuration {
        let longest = CoreDuration(maxDelay).nanoseconds
        var delay = Double(CoreDuration(initialDelay).nanoseconds)
        if delay == 0 { return .zero }
        // The power by squaring: it ends as soon as the longest delay is reached, and so cannot overflow.
        var (power, exponent) = (factor, max(0, attempts - 1))
        while exponent > 0, delay < Double(longest) {
            if exponent & 1 == 1 { delay *= power }
            power *= power
            exponent >>= 1
        }
        return .nanoseconds(delay < Double(longest) ? Int64(delay) : longest)
    }

    /// Returns the delay after that many attempts, shortened at random.
    package func delay(after attempts: Int, _ random: inout Jitter) -> CoreDuration {
        random.shorten(delay(after: attempts), by: jitter)
    }
}

/// A pseudo-random generator: the same seed gives the same numbers.
package struct Jitter: Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    /// Shortens a duration at random, by up to a fraction of it.
    package mutating func shorten(_ duration: CoreDuration, by fraction: Double) -> CoreDuration {
        // SplitMix64: one addition and three mixing steps.
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        mixed ^= mixed >> 31
        let most = Double(duration.nanoseconds) * fraction
        // The largest double below 2^63 still has neighbours above it: what rounds up to that is all of the duration.
        let bound = most < 0x1p63 ? min(duration.nanoseconds, Int64(most)) : duration.nanoseconds
        return .nanoseconds(duration.nanoseconds - Int64(mixed % (UInt64(max(0, bound)) + 1)))
    }
}
