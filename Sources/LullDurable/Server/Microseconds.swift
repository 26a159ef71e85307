package import LullCore

// Servers count microseconds.

extension CoreDuration {
    /// Whole microseconds, rounded up; the greatest number for a duration without end.
    package var microseconds: Int64 {
        if self == .infinite { return .max }
        let (quotient, remainder) = nanoseconds.quotientAndRemainder(dividingBy: 1000)
        return quotient + (remainder > 0 ? 1 : 0)
    }

    package init(microseconds: Int64) {
        let (nanoseconds, overflow) = microseconds.multipliedReportingOverflow(by: 1000)
        self = overflow ? .infinite : CoreDuration(nanoseconds: nanoseconds)
    }
}

extension CoreInstant {
    package init(microseconds: Int64) {
        let (nanoseconds, overflow) = microseconds.multipliedReportingOverflow(by: 1000)
        self = overflow ? .farFuture : CoreInstant(nanoseconds: nanoseconds)
    }
}
