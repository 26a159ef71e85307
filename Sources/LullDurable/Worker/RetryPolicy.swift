internal import Lull
package import LullCore

/// An exponential backoff with jitter: when, and how often, a run whose handler threw is tried again.
///
/// ```swift
/// let retry = RetryPolicy(initialDelay: .seconds(5), maxDelay: .seconds(3600), maxAttempts: 50)
/// ```
///
/// The delay doubles with every attempt up to ``maxDelay``. Each delay is then shortened at random to between a half
/// and all of that, so that runs that failed together are not retried together. How to choose: <doc:WorkThatSurvives>.
public struct RetryPolicy: Hashable, Sendable {
    /// The delay after the first failed attempt.
    public var initialDelay: Duration
    /// The longest delay.
    public var maxDelay: Duration
    /// The number of attempts before a run is dead. An attempt whose worker died counts.
    public var maxAttempts: Int

    /// Creates a policy. By default a run that keeps failing is dead after some 80 minutes.
    ///
    /// The program stops with a message if `initialDelay` is negative, `maxDelay` shorter than `initialDelay`, or
    /// `maxAttempts` below 1.
    public init(
        initialDelay: Duration = .seconds(1), maxDelay: Duration = .seconds(600), maxAttempts: Int = 20,
        fileID: StaticString = #fileID, line: UInt = #line
    ) {
        let site = SourceSite(fileID, line)
        require(initialDelay >= .zero, "the initialDelay is \(initialDelay), but must be zero or more", at: site)
        require(
            maxDelay >= initialDelay, "the maxDelay is \(maxDelay), but the initialDelay is \(initialDelay)", at: site)
        require(maxAttempts >= 1, "the maxAttempts is \(maxAttempts), but must be 1 or more", at: site)
        self.initialDelay = initialDelay
        self.maxDelay = maxDelay
        self.maxAttempts = maxAttempts
    }

    /// Returns the delay after that many attempts, without jitter.
    package func delay(after attempts: Int) -> CoreDuration {
        var delay = CoreDuration(initialDelay).nanoseconds
        let longest = CoreDuration(maxDelay).nanoseconds
        for _ in 1..<max(1, attempts) where delay < longest {
            delay = delay > longest / 2 ? longest : 2 * delay
        }
        return .nanoseconds(delay)
    }
}

/// A pseudo-random generator: the same seed gives the same numbers.
struct Jitter: Sendable {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    /// Returns a random duration between a half of this one and all of it.
    mutating func shorten(_ duration: CoreDuration) -> CoreDuration {
        // SplitMix64: one addition and three mixing steps.
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        mixed ^= mixed >> 31
        let half = duration.nanoseconds / 2
        return .nanoseconds(duration.nanoseconds - Int64(mixed % UInt64(max(1, half + 1))))
    }
}
