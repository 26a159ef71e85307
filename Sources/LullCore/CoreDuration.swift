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
