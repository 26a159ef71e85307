internal import LullCore
internal import LullDurable

// Scores are floating-point numbers, exact up to 2^53; the greatest stands for *never*.

extension Int64 {
    static let never: Int64 = 1 << 53 - 1
}

extension CoreDuration {
    /// Creates a duration of a server, in microseconds.
    init(stored microseconds: Int64) {
        self = microseconds >= .never ? .infinite : CoreDuration(microseconds: microseconds)
    }

    /// The duration for a server.
    var stored: Int64 { min(microseconds, .never) }
}

extension CoreInstant {
    /// Creates an instant of a score, in microseconds.
    init(stored microseconds: Int64) {
        self = microseconds >= .never ? .farFuture : CoreInstant(microseconds: microseconds)
    }

    /// The instant as a score, rounded down.
    var stored: Int64 { min(max(0, microseconds), .never) }
}
