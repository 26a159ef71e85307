/// A point in time, in nanoseconds since an origin that the driver of the core has chosen.
///
/// The core never reads a clock. Arithmetic saturates at ``farFuture`` instead of overflowing
/// (<doc:Semantics>, section 10).
@frozen
public struct CoreInstant: Hashable, Comparable, Sendable {
    /// Nanoseconds since the origin.
    public var nanoseconds: Int64

    /// Creates the instant this many nanoseconds after the origin.
    @inlinable
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// The instant from which the driver counts.
    public static var origin: CoreInstant { CoreInstant(nanoseconds: 0) }

    /// Later than everything that happens: what is due here never falls due by itself.
    @inlinable
    public static var farFuture: CoreInstant { CoreInstant(nanoseconds: .max) }

    /// Earlier than everything that happens.
    @inlinable
    public static var farPast: CoreInstant { CoreInstant(nanoseconds: .min) }

    /// Returns the instant `duration` later; ``farFuture`` if that cannot be counted, or if the duration is infinite.
    @inlinable
    public func advanced(by duration: CoreDuration) -> CoreInstant {
        // Infinite even from an instant before the origin, where the sum would not overflow.
        if duration == .infinite { return .farFuture }
        let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.nanoseconds)
        return CoreInstant(nanoseconds: overflow ? (duration.nanoseconds < 0 ? .min : .max) : sum)
    }

    /// Returns how much later `other` is; negative if it is earlier, and ``CoreDuration/infinite`` if that is too long
    /// to count.
    public func duration(to other: CoreInstant) -> CoreDuration {
        let (difference, overflow) = other.nanoseconds.subtractingReportingOverflow(nanoseconds)
        return CoreDuration(nanoseconds: overflow ? (nanoseconds < 0 ? .max : .min) : difference)
    }

    /// Whether the left instant is the earlier one.
    @inlinable
    public static func < (left: CoreInstant, right: CoreInstant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

/// A length of time in whole nanoseconds, for policies and the engine; ``infinite`` stands for everything that is too
/// long to count.
///
/// Only `LullEmbedded` takes it: a microcontroller without an operating system has no numbers of 128 bits, which
/// `Duration` consists of. Everywhere else durations are `Duration`.
@frozen
public struct CoreDuration: Hashable, Comparable, Sendable {
    /// The length in nanoseconds.
    public var nanoseconds: Int64

    /// Creates a duration of this many nanoseconds.
    @inlinable
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// No time at all.
    @inlinable
    public static var zero: CoreDuration { CoreDuration(nanoseconds: 0) }

    /// Longer than any program runs: 292 years and more.
    @inlinable
    public static var infinite: CoreDuration { CoreDuration(nanoseconds: .max) }

    /// Returns a duration of this many nanoseconds.
    public static func nanoseconds(_ count: Int64) -> CoreDuration {
        CoreDuration(nanoseconds: count)
    }

    /// Returns a duration of this many milliseconds; ``infinite`` if that is too long to count.
    public static func milliseconds(_ count: Int64) -> CoreDuration {
        scaled(count, by: 1_000_000)
    }

    /// Returns a duration of this many seconds; ``infinite`` if that is too long to count.
    public static func seconds(_ count: Int64) -> CoreDuration {
        scaled(count, by: 1_000_000_000)
    }

    static func scaled(_ count: Int64, by unit: Int64) -> CoreDuration {
        let (product, overflow) = count.multipliedReportingOverflow(by: unit)
        return CoreDuration(nanoseconds: overflow ? (count < 0 ? .min : .max) : product)
    }

    /// Whether the left duration is the shorter one.
    @inlinable
    public static func < (left: CoreDuration, right: CoreDuration) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}
