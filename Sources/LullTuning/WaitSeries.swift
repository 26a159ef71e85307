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
            var decade: Int64 = 1
            while decade <= last.nanoseconds / 10 {
                steps += series.map { .nanoseconds(Int64($0) * decade / 10) }.filter { $0 > first && $0 < last }
                decade *= 10
            }
            for mantissa in series {
                let (product, overflow) = Int64(mantissa).multipliedReportingOverflow(by: decade)
                let step = CoreDuration.nanoseconds(product / 10)
                if !overflow, step > first, step < last { steps.append(step) }
            }
            if last > first { steps.append(last) }
            steps = Set(steps).sorted()
            if steps.count <= limit { return steps }
        }
        return [first, last]
    }
}
