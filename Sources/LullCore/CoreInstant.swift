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
