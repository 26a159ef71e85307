import Allocations
import Dispatch
import Foundation
import Lull
import Synchronization
import LullCharts

// Rows: how much later than due an execution starts.

enum Lateness {
    private static let queue = DispatchQueue(label: "lateness", qos: .userInitiated)

    /// Nanoseconds from the due instant to the handler, for waits of all lengths.
    private final class Start: Sendable {
        private let instant = Atomic<Int64>(0)

        func happens() { instant.store(boot_nanoseconds(), ordering: .releasing) }

        func since(_ due: Int64) -> Double {
            while instant.load(ordering: .acquiring) == 0 { usleep(300) }
            return Double(instant.load(ordering: .acquiring) - due)
        }
    }

    static func atRest(_ effort: Effort) -> (lines: [Line], chart: LineChart) {
        var bare: [Double] = []
        var onQueue: [Double] = []
        var inTask: [Double] = []
        for number in 0..<(effort.rounds * 100) {
            let wait = Int64(3_000_000 + number % 17 * 1_000_000)
            // Each of them in turn, or they would wake the machine for each other.
            bare.append(ofTimer(wait))
            onQueue.append(
                ofDebouncer(wait) { start in
                    Debouncer(for: .nanoseconds(wait), on: queue) { (_: Int) in start.happens() }
                })
            inTask.append(
                ofDebouncer(wait) { start in
                    Debouncer(for: .nanoseconds(wait)) { (_: Int) in start.happens() }
                })
        }
        func line(_ subject: String, _ values: [Double], _ quantile: Double, _ target: Line.Target) -> Line {
            let figure = at(quantile, values), reference = at(quantile, bare)
            return Line(
                subject, Spread(figure), "us", against: "strict timer", Spread(reference),
                ratio: Spread(figure / reference), target: target)
        }
        let early = (onQueue + inTask).count { $0 < 0 }
        let lines = [
            line("on a queue, p50", onQueue, 0.5, .ratioAtMost(1.2)),
            line("on a queue, p99", onQueue, 0.99, .ratioAtMost(1.2)),
            line("in a task, p50", inTask, 0.5, .none),
            line("in a task, p99", inTask, 0.99, .none),
            Line("starts that were early", Spread(Double(early)), "", target: .figureAtMost(0)),
        ]
        return (lines, chart(onQueue: onQueue, inTask: inTask, bare: bare))
    }

    private static func chart(onQueue: [Double], inTask: [Double], bare: [Double]) -> LineChart {
        func series(_ name: String, _ values: [Double]) -> LineChart.Series {
            let sorted = values.sorted()
            return LineChart.Series(
                name,
                (0...92).map { step in
                    // Steps that are equally far apart in the chart.
                    let share = 1 - pow(10, -Double(step) / 40)
                    // What starts within a microsecond, or early, has no place on a logarithmic axis.
                    return LineChart.Point(share, max(1000, Spread.quantile(share, ofSorted: sorted)))
                })
        }
        let all = [
            series("Debouncer on a queue", onQueue),
            series("Debouncer in a task", inTask),
            series("bare strict timer", bare),
        ]
        return LineChart(
            title: "How late an execution starts",
            subtitle: "After waits of 3 to 19 ms, \(bare.count) of each kind in turn.",
            source: "make bench ROWS=lateness CHARTS=docs/charts",
            x: Axis("share of the executions that are no later", .share, .nines, 0...0.995),
            y: Axis(
                "from the due instant to the start", .nanoseconds, .logarithmic,
                Axis.bounds(of: all.flatMap(\.points).map(\.y), .logarithmic)),
            series: all)
    }

    static func poolBlocked(_ effort: Effort) -> [Line] {
        var late: [Double] = []
        for _ in 0..<effort.rounds {
            let blockers = 2 * ProcessInfo.processInfo.activeProcessorCount
            let done = DispatchSemaphore(value: 0)
            for _ in 0..<blockers {
                Task.detached {
                    block(milliseconds: 300)
                    done.signal()
                }
            }
            usleep(20_000)
            late.append(
                ofDebouncer(150_000_000) { start in
                    Debouncer(for: .milliseconds(150), on: queue) { (_: Int) in start.happens() }
                })
            for _ in 0..<blockers { done.wait() }
        }
        return [Line("the latest, on a queue", Spread((late.max() ?? .nan) / 1e6), "ms", target: .figureAtMost(5))]
    }

    private static func block(milliseconds: UInt32) { usleep(milliseconds * 1000) }

    private static func ofTimer(_ wait: Int64) -> Double {
        let start = Start()
        let timer = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
        timer.setEventHandler { start.happens() }
        let due = boot_nanoseconds() + wait
        timer.schedule(deadline: .now() + .nanoseconds(Int(wait)), leeway: .nanoseconds(0))
        timer.activate()
        defer { timer.cancel() }
        return start.since(due)
    }

    private static func ofDebouncer(_ wait: Int64, _ make: (Start) -> Debouncer<Int, Void>) -> Double {
        let start = Start()
        let debouncer = make(start)
        let due = boot_nanoseconds() + wait
        debouncer(1)
        return start.since(due)
    }

    private static func at(_ quantile: Double, _ nanoseconds: [Double]) -> Double {
        let sorted = nanoseconds.sorted()
        return sorted[min(sorted.count - 1, Int(quantile * Double(sorted.count)))] / 1000
    }
}
