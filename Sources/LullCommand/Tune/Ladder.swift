internal import LullCore

/// The waits that are tried side by side, from the shortest to the longest.
enum Ladder {
    /// As many as are worth reading.
    static let limit = 40

    /// The usual one: what people feel, and a little more.
    static let usual = steps(from: .milliseconds(50), to: .seconds(5))

    /// Round waits between two, both included: ten to a decade, or fewer if that were too many.
    static func steps(from first: CoreDuration, to last: CoreDuration) -> [CoreDuration] {
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
