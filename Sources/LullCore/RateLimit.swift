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
@frozen
public struct RateLimit: Hashable, Sendable {
    /// The most starts in any window; at least 1.
    public let starts: Int
    /// The length of a window, more than zero.
    public let period: CoreDuration
    /// The most starts at one instant, from 1 to `starts`.
    public let burst: Int

    /// Creates a limit. The debouncer or throttler that gets it checks the settings (<doc:Semantics>, section 10).
    public init(_ starts: Int, per period: Duration, burst: Int = 1) {
        self.init(starts: starts, period: CoreDuration(period), burst: burst)
    }

    /// Creates a limit from a duration of the core.
    public init(starts: Int, period: CoreDuration, burst: Int) {
        self.starts = starts
        self.period = period
        self.burst = burst
    }

    /// Throws the rule that the settings break, if they break one.
    package func check() throws(PolicyError) {
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
