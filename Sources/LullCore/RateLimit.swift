/// A limit on how often a handler starts, over all keys together: at most `starts` in any `period`, up to `burst` of
/// them at once (<doc:Semantics>, section 7).
///
/// ```swift
/// let mail = KeyedDebouncer(
///     for: .seconds(5), options: .init(limit: RateLimit(40, per: .seconds(60), burst: 10))
/// ) { (user: User.ID, digest: Digest) in
///     try await service.send(digest, to: user)
/// }
/// ```
///
/// No window of that length, wherever it begins, has more starts than that. After a pause `burst` values start at once;
/// in the long run `starts - burst + 1` start in each `period`.
///
/// If the service gives a rate for the long run and a burst on top of it, it has a token bucket: use
/// ``bucket(_:per:burst:)``.
@frozen
public struct RateLimit: Hashable, Sendable {
    /// The most starts in any window; at least 1.
    public let starts: Int
    /// The length of a window, more than zero.
    package let period: CoreDuration
    /// The most starts at one instant, from 1 to `starts`.
    public let burst: Int
    /// Whether this was given as a bucket with a rate or a burst of less than 1. A bucket that keeps the rules is
    /// nothing but the limit that it equals.
    private let isBrokenBucket: Bool

    /// Creates a limit on the starts in any window. The debouncer or throttler that gets it checks the settings
    /// (<doc:Semantics>, section 10).
    public init(_ starts: Int, per period: Duration, burst: Int = 1) {
        self.init(starts: starts, period: CoreDuration(period), burst: burst)
    }

    /// Creates a limit from a duration of the core.
    package init(starts: Int, period: CoreDuration, burst: Int) {
        self.starts = starts
        self.period = period
        self.burst = burst
        isBrokenBucket = false
    }

    /// Creates a limit in the words of a token bucket: `rate` starts in each `period` in the long run, and up to
    /// `burst` at once after a pause.
    ///
    /// ```swift
    /// let calls = RateLimit.bucket(40, per: .seconds(60), burst: 10)
    /// ```
    ///
    /// The bucket holds `burst` tokens and is full at first. Each start takes a token, and a token comes back every
    /// `period / rate`, rounded up to whole nanoseconds. The burst comes on top of the rate: this is a limit of
    /// `rate + burst - 1` starts in any period, here 49, and equals `RateLimit(49, per: .seconds(60), burst: 10)`.
    ///
    /// The debouncer or throttler that gets it checks the settings (<doc:Semantics>, section 10).
    ///
    /// - Parameters:
    ///   - rate: The starts in each period in the long run; at least 1.
    ///   - period: The time in which `rate` tokens come back, more than zero.
    ///   - burst: The tokens of a full bucket, the most starts at one instant; at least 1.
    public static func bucket(_ rate: Int, per period: Duration, burst: Int) -> RateLimit {
        RateLimit(bucket: rate, period: CoreDuration(period), burst: burst)
    }

    private init(bucket rate: Int, period: CoreDuration, burst: Int) {
        let (sum, overflow) = rate.addingReportingOverflow(burst &- 1)
        isBrokenBucket = rate < 1 || burst < 1
        // The numbers of a broken one wrap around, so that the message about it has them back.
        starts = overflow && !isBrokenBucket ? .max : sum
        self.period = period
        self.burst = burst
    }

    /// Throws the rule that the settings break, if they break one.
    package func check() throws(PolicyError) {
        if isBrokenBucket {
            if burst < 1 { throw .bucketBurstBelowOne(burst) }
            throw .bucketRateBelowOne(starts &- burst &+ 1)
        }
        if starts < 1 { throw .limitBelowOne(starts) }
        if period <= .zero { throw .limitWithoutPeriod(period) }
        if burst < 1 || burst > starts { throw .burstOutOfRange(burst, starts: starts) }
    }

    /// The time between two starts in the long run: a share of the period, rounded up to whole units.
    ///
    /// - Parameter unit: What instants are counted in, in nanoseconds.
    package func interval(inUnitsOf unit: Int64 = 1) -> CoreDuration {
        if period == .infinite { return .infinite }
        func share(_ count: Int64, of parts: Int64) -> Int64 { count / parts + (count % parts > 0 ? 1 : 0) }
        let units = share(period.nanoseconds, of: unit)
        return .scaled(share(units, of: Int64(starts - burst + 1)), by: unit)
    }
}

/// What a ``RateLimit`` allows after the starts so far: a single instant.
///
/// With one instant, the theoretical arrival time of the generic cell rate algorithm, every engine and every store can
/// say what may start, and a store can keep it in one field.
package struct RateLimiter: Sendable {
    /// The time between two starts in the long run; zero if there is no limit.
    private let interval: CoreDuration
    /// By how much a start may come before `arrival`.
    private let allowance: CoreDuration
    /// When the next start would come if all came at the rate of the long run; the far past before the first.
    package private(set) var arrival: CoreInstant
    /// The earliest instant of the next start; the far past if there is no limit.
    package private(set) var next = CoreInstant.farPast

    /// Creates a limiter that has counted nothing; without a limit it allows every start.
    package init(_ limit: RateLimit?) {
        self.init(limit, inUnitsOf: 1)
    }

    private init(_ limit: RateLimit?, inUnitsOf unit: Int64) {
        interval = limit?.interval(inUnitsOf: unit) ?? .zero
        allowance = .scaled(Int64((limit?.burst ?? 1) - 1), by: interval.nanoseconds)
        arrival = .farPast
    }

    /// Creates the limiter of a store, whose instants are microseconds, from what an earlier one has left there.
    ///
    /// What that has counted beyond a burst that starts now was counted by a stricter limit, and is forgotten.
    package init(_ limit: RateLimit?, after stored: CoreInstant, at now: CoreInstant) {
        self.init(limit, inUnitsOf: 1000)
        guard interval > .zero, stored > .farPast else { return }
        arrival = min(stored, now.advanced(by: allowance).advanced(by: interval))
        setNext()
    }

    /// Returns how many starts are allowed at an instant, up to a number.
    package func allowed(_ most: Int, at now: CoreInstant) -> Int {
        guard interval > .zero else { return most }
        var (rest, count) = (self, 0)
        while count < most, rest.next <= now {
            rest.start(at: now)
            count += 1
        }
        return count
    }

    /// Counts a start.
    package mutating func start(at now: CoreInstant) {
        guard interval > .zero else { return }
        arrival = max(arrival, now).advanced(by: interval)
        setNext()
    }

    private mutating func setNext() {
        let (earlier, overflow) = arrival.nanoseconds.subtractingReportingOverflow(allowance.nanoseconds)
        // What saturates never comes.
        next = arrival == .farFuture ? .farFuture : CoreInstant(nanoseconds: overflow ? .min : earlier)
    }
}
