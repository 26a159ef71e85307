package import LullCore

/// The series of waits to compare, from the shortest to the longest.
package enum WaitSeries {
    /// The greatest number of waits: more are not worth reading.
    package static let limit = 40

    /// The default: the delays that people notice, and some above.
    package static let standard = steps(from: .milliseconds(50), to: .seconds(5))

    /// Returns round waits between two, both included: ten for each decade, or fewer if those were too many.
    package static func steps(from first: CoreDuration, to last: CoreDuration) -> [CoreDuration] {
        for series in [[10, 12, 15, 20, 25, 30, 40, 50, 60, 80], [10, 15, 20, 30, 50, 70], [10, 20, 50], [10]] {
            var steps = [first]
            var latest = first
            var (decade, isLastDecade) = (Int64(1), false)
            while !isLastDecade {
                isLastDecade = decade > last.nanoseconds / 10
                for mantissa in series {
                    let (product, overflow) = Int64(mantissa).multipliedReportingOverflow(by: decade)
                    let step = CoreDuration.nanoseconds(product / 10)
                    // In a decade of single nanoseconds, some are equal.
                    if overflow || step <= latest || step >= last { continue }
                    steps.append(step)
                    latest = step
                }
                if !isLastDecade { decade *= 10 }
            }
            if last > first { steps.append(last) }
            if steps.count <= limit { return steps }
        }
        return [first, last]
    }
}
