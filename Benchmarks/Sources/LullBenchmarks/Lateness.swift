import Allocations
import Dispatch
import Foundation
import Lull
import LullDispatch
import Synchronization

// Rows: how much later than due an execution starts.

enum Lateness {
    private static let queue = DispatchQueue(label: "lateness", qos: .userInitiated)

    /// Returns the nanoseconds from the due instant to the handler, for waits of all lengths.
    private final class Start: Sendable {
        private let instant = Atomic<Int64>(0)

        func happens() { instant.store(boot_nanoseconds(), ordering: .releasing) }

        func since(_ due: Int64) -> Double {
            while instant.load(ordering: .acquiring) == 0 { usleep(300) }
            return Double(instant.load(ordering: .acquiring) - due)
        }
    }

    static func atRest(_ effort: Effort) -> (lines: [Line], chart: LineChart) {
        let (timer, onQueue, inTask) = (0, 1, 2)
        let kinds: [(Int64) -> Double] = [
            ofTimer,
            { wait in
                ofDebouncer(wait) { start in
                    Debouncer(for: .nanoseconds(wait), on: queue) { (_: Int) in start.happens() }
                }
            },
            { wait in
                ofDebouncer(wait) { start in
                    Debouncer(for: .nanoseconds(wait)) { (_: Int) in start.happens() }
                }
            },
        ]
        func wait(_ number: Int) -> Int64 { Int64(3_000_000 + number % 17 * 1_000_000) }
        // For each kind, the sorted figures of each round.
        var late: [[[Double]]] = kinds.map { _ in [] }
        for _ in 0..<effort.rounds {
            var round: [[Double]] = kinds.map { _ in [] }
            for number in 0..<100 {
                // Not at the same time, or they would wake the machine for each other. And back and forth, so that each
                // kind follows itself as often as it follows its reference: the end of either makes the next one later.
                for kind in number.isMultiple(of: 2) ? [timer, onQueue] : [onQueue, timer] {
                    round[kind].append(kinds[kind](wait(number)))
                }
            }
            for number in 0..<100 { round[inTask].append(kinds[inTask](wait(number))) }
            for kind in kinds.indices { late[kind].append(round[kind].sorted()) }
        }
        func line(_ subject: String, _ kind: Int, _ share: Double, _ target: Line.Target) -> Line {
            let figures = late[kind].map { Spread.quantile(share, ofSorted: $0) / 1000 }
            let references = late[timer].map { Spread.quantile(share, ofSorted: $0) / 1000 }
            return Line(
                subject, Spread(figures), "us", against: "strict timer", Spread(references),
                ratio: Spread(zip(figures, references).map { $0 / $1 }), target: target)
        }
        let all = late.map { $0.flatMap(\.self) }
        let early = (all[onQueue] + all[inTask]).count { $0 < 0 }
        let lines = [
            line("on a queue, p50", onQueue, 0.5, .ratioAtMost(2.2)),
            line("on a queue, p99", onQueue, 0.99, .ratioAtMost(2.5)),
            line("in a task, p50", inTask, 0.5, .ratioAtMost(3)),
            line("in a task, p99", inTask, 0.99, .none),
            Line("starts that were early", Spread(Double(early)), "", target: .figureAtMost(0)),
        ]
        return (lines, chart(onQueue: all[onQueue], inTask: all[inTask], bare: all[timer]))
    }

    private static func chart(onQueue: [Double], inTask: [Double], bare: [Double]) -> LineChart {
        func series(_ name: String, _ values: [Double]) -> LineChart.Series {
            let sorted = values.sorted()
            return LineChart.Series(
                name,
                (0...92).map { step in
                    // Steps of equal distance in the chart.
                    let share = 1 - pow(10, -Double(step) / 40)
                    // A start within a microsecond, or an early one, cannot be shown on a logarithmic axis.
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
            subtitle: "After waits of 3 to 19 ms, \(bare.count) of each kind.",
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
}
