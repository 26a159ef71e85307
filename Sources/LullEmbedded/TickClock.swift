public import LullCore

/// Makes instants of a hardware counter that wraps around: a timer of 16, 24 or 32 bits, or a count of milliseconds.
///
/// Read the counter at least twice each time it goes round, and from one place only. Nothing is lost to rounding,
/// whatever the frequency: after any time the instant is exact, rounded down to a nanosecond.
///
/// ```swift
/// var clock = TickClock(hertz: 32_768, bits: 24)
/// let now = clock.instant(at: counter)
/// sleep(clock.ticks(until: engine.alarm))              // unless something happens before
/// ```
public struct TickClock: BitwiseCopyable, Sendable {
    private let hertz: UInt32
    private let mask: UInt32
    /// Nanoseconds in a tick, if they are a whole number: then no division is needed, which a small processor does in
    /// software.
    private let period: UInt32
    private var last: UInt32
    private var now = CoreInstant.origin
    /// What the last division left over, in nanoseconds times the frequency.
    private var rest: UInt64 = 0

    /// Creates a clock whose origin is now.
    ///
    /// - Parameters:
    ///   - hertz: How many ticks a second has; not zero.
    ///   - bits: The width of the counter, from 1 to 32.
    ///   - start: What the counter shows now.
    public init(hertz: UInt32, bits: Int = 32, start: UInt32 = 0) {
        precondition(hertz > 0 && (1...32).contains(bits), "a clock has a frequency, and a counter of 1 to 32 bits")
        self.hertz = hertz
        mask = UInt32.max >> UInt32(32 - bits)
        period = 1_000_000_000 % hertz == 0 ? 1_000_000_000 / hertz : 0
        last = start & mask
    }

    /// Returns the instant at which the counter shows `ticks`.
    ///
    /// What it shows is at most half a round after the last reading. Anything else is taken for an earlier reading,
    /// such as one that an interrupt has made, which counts as the last one (<doc:Semantics>, section 2).
    public mutating func instant(at ticks: UInt32) -> CoreInstant {
        let passed = UInt64((ticks &- last) & mask)
        guard passed <= UInt64(half) else { return now }
        last = ticks & mask
        let nanoseconds: UInt64
        if period > 0 {
            nanoseconds = passed * UInt64(period)
        } else {
            // No overflow: 2³² ticks of 10⁹ are less than 2⁶², and the rest is less than 2³².
            (nanoseconds, rest) = (passed * 1_000_000_000 + rest).quotientAndRemainder(dividingBy: UInt64(hertz))
        }
        now = now.advanced(by: .nanoseconds(Int64(nanoseconds)))
        return now
    }

    /// Returns how many ticks after the last reading an instant is reached: for a timer that wakes the program.
    ///
    /// It is rounded up, so that the instant has come then; at most a quarter of a round, so that the counter is read
    /// in time even if the program wakes up late; and 0 for an instant that has come already. A counter of one bit has
    /// no time for being late.
    public func ticks(until instant: CoreInstant) -> UInt32 {
        guard instant > now else { return 0 }
        let wait = UInt64(bitPattern: now.duration(to: instant).nanoseconds)
        let (scaled, overflow) = wait.multipliedReportingOverflow(by: UInt64(hertz))
        let longest = max(1, half / 2)
        // No overflow from here on: a quarter of a round is at most 2³⁰ ticks, of 10⁹ each, and the rest is less than
        // one nanosecond.
        guard !overflow, scaled - rest <= UInt64(longest) * 1_000_000_000 else { return longest }
        return UInt32(truncatingIfNeeded: (scaled - rest + 999_999_999) / 1_000_000_000)
    }

    /// Half a round.
    private var half: UInt32 { mask / 2 + 1 }
}
