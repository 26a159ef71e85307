/// A limit on how often a handler starts, over all keys together: at most `starts` in any `period`, up to `burst` of them at
/// once (<doc:Semantics>, section 7).
///
/// ```swift
/// let mail = KeyedDebouncer(
///     for: .seconds(5), options: .init(limit: RateLimit(40, per: .seconds(60), burst: 10))
/// ) { (user: User.ID, digest: Digest) in
///     try await service.send(digest, to: user)
/// }
/// ```
///
/// No window of that length, wherever it begins, has more starts than that. After a pause `burst` values start at once; in
/// the long run `starts - burst + 1` start in each `period`.
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
        let shares = Int64(starts - burst + 1) * unit
        let (whole, rest) = period.nanoseconds.quotientAndRemainder(dividingBy: shares)
        return .scaled(rest > 0 ? whole + 1 : whole, by: unit)
    }
}

/// What a ``RateLimit`` allows after the starts so far: a single instant.
///
/// With one instant, the theoretical arrival time of the generic cell rate algorithm, every engine and every store can say
/// what may start, and a store can keep it in one field.
package struct RateLimiter: Sendable {
    /// The time between two starts in the long run; zero if there is no limit.
    private let interval: CoreDuration
    /// By how much a start may come before `arrival`.
    private let allowance: CoreDuration
    /// When the next start would come if all came at the rate of the long run; the far past before the first.
    package private(set) var arrival: CoreInstant
    /// The earliest instant of the next start; the far past if there is no limit.
    package private(set) var next = CoreInstant.farPast

    /// Creates a limiter; without a limit it allows every start.
    ///
    /// - Parameters:
    ///   - limit: The limit.
    ///   - arrival: What an earlier limiter has left; the far past for none.
    ///   - unit: What instants are counted in, in nanoseconds.
    package init(_ limit: RateLimit?, after arrival: CoreInstant = .farPast, inUnitsOf unit: Int64 = 1) {
        interval = limit?.interval(inUnitsOf: unit) ?? .zero
        allowance = .scaled(Int64((limit?.burst ?? 1) - 1), by: interval.nanoseconds)
        self.arrival = arrival
        if limit != nil, arrival > .farPast { setNext() }
    }

    /// Counts a start.
    package mutating func start(at now: CoreInstant) {
        guard interval > .zero else { return }
        arrival = max(arrival, now).advanced(by: interval)
        setNext()
    }

    /// Forgets what an earlier limiter, of a stricter limit, has left beyond what this one leaves after a burst that starts now.
    package mutating func adjust(to now: CoreInstant) {
        let latest = now.advanced(by: allowance).advanced(by: interval)
        guard interval > .zero, arrival > latest else { return }
        arrival = latest
        setNext()
    }

    private mutating func setNext() {
        let (earlier, overflow) = arrival.nanoseconds.subtractingReportingOverflow(allowance.nanoseconds)
        // What saturates never comes.
        next = arrival == .farFuture ? .farFuture : CoreInstant(nanoseconds: overflow ? .min : earlier)
    }
}
