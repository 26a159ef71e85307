import Allocations
import Foundation
import Lull

// Row: what a submit costs as the number of pending keys grows. All keys are pending before the first measured submit,
// and each submit goes to a random key: the more keys, the fewer of them are in a cache.

enum Growth {
    /// Long enough that nothing falls due during the measurement.
    private static let wait: Int64 = 1_000_000_000_000

    /// Longer than the submits take: what the idiom leaves behind at each submit stays until the old deadline.
    private static let idiomWait: Int64 = 5_000_000_000

    static func rows(_ effort: Effort) -> (lines: [Line], chart: LineChart) {
        let sizes = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000].filter { $0 <= effort.keys }
        let measured = sizes.map { compare($0, effort) }
        let idioms = sizes.filter { $0 <= 100_000 }.map { ($0, cost(ofTasks: $0, effort)) }

        var lines = zip(sizes, measured).map { size, taken in
            taken.line("KeyedDebouncer, \(name(size))", 1, against: "floor", 0)
        }
        lines += idioms.map { size, cost in Line("a Task for each key, \(name(size))", cost, "ns") }
        return (lines, chart(sizes, measured, idioms))
    }

    private static func name(_ size: Int) -> String {
        switch size {
        case 1: "1 key"
        case 1_000_000...: "\(size / 1_000_000)M keys"
        case 1000...: "\(size / 1000)k keys"
        default: "\(size) keys"
        }
    }

    // MARK: - Measuring

    /// Measures both sides in turn, on the same objects; repeats that with fresh ones, since their place in memory
    /// matters.
    private static func compare(_ size: Int, _ effort: Effort) -> Interleaved {
        let submits = keys(of: size, count: effort.submits)
        var all: Interleaved?
        for _ in 0..<max(1, effort.rounds / (size > 1_000_000 ? 6 : 3)) {
            let floor = KeyedFloor<Int, Int>(wait: wait) { _, _ in }
            let debouncer = KeyedDebouncer<Int, Int, Void>(
                for: .nanoseconds(wait), options: .init(atEnd: .drop)
            ) { _, _ in }
            Keyed.burst(floor, Array(0..<size))
            Keyed.burst(debouncer, Array(0..<size))
            let taken = Interleaved(
                rounds: max(3, effort.rounds / 2),
                [
                    { Sample.of(submits.count) { Keyed.burst(floor, submits) } },
                    { Sample.of(submits.count) { Keyed.burst(debouncer, submits) } },
                ])
            all = all.map { $0 + taken } ?? taken
        }
        // Proof: the loop runs at least once.
        return all!
    }

    /// Measures the processor time of all threads, since the idiom works on several.
    private static func cost(ofTasks size: Int, _ effort: Effort) -> Spread {
        let submits = keys(of: size, count: effort.submits / 10)
        let samples = (0..<max(1, effort.rounds / 4)).map { _ in
            let idioms = (0..<size).map { _ in TaskIdiom(wait: idiomWait) { _ in } }
            for (value, idiom) in idioms.enumerated() { idiom.submit(value) }
            let sample = Sample.of(submits.count) {
                for (value, key) in submits.enumerated() { idioms[key].submit(value) }
            }
            for idiom in idioms { idiom.cancel() }
            // The next sample and the next row must not pay for what this one has left behind.
            usleep(UInt32(idiomWait / 1000) + 500_000)
            return sample
        }
        return Spread(samples.map(\.cpu))
    }

    /// Returns random keys, the same in every run.
    private static func keys(of size: Int, count: Int) -> [Int] {
        var state: UInt64 = 42
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(size))
        }
    }

    // MARK: - Drawing

    private static func chart(
        _ sizes: [Int], _ measured: [Interleaved], _ idioms: [(size: Int, cost: Spread)]
    ) -> LineChart {
        func points(_ side: Int) -> [LineChart.Point] {
            zip(sizes, measured).map { point($0, $1.spread(side, \.thread)) }
        }
        let series = [
            LineChart.Series("KeyedDebouncer", points(1)),
            LineChart.Series("a Task for each key", idioms.map(point)),
            LineChart.Series("floor: the least code", points(0)),
        ]
        let all = series.flatMap(\.points).flatMap { [$0.y] + ($0.range.map { [$0.lowerBound, $0.upperBound] } ?? []) }
        return LineChart(
            title: "What a submit costs as keys grow in number",
            subtitle: "Submits to random keys, all of them pending already. Medians; the bands are the quartiles.",
            source: "make bench ROWS=growth CHARTS=docs/charts",
            x: Axis("keys pending", .count, .logarithmic, 1...Double(sizes.last ?? 10)),
            y: Axis("processor time of a submit", .nanoseconds, .logarithmic, Axis.bounds(of: all, .logarithmic)),
            series: series)
    }

    private static func point(_ size: Int, _ cost: Spread) -> LineChart.Point {
        LineChart.Point(Double(size), cost.median, range: cost.lowerQuartile...cost.upperQuartile)
    }
}
