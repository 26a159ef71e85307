import Allocations
import Dispatch
import Foundation
import Lull
import LullDispatch

// Row: how often debouncers wake the process with a tolerance, and without one.

enum Tolerance {
    private static let queue = DispatchQueue(label: "tolerance")
    private static let debouncers = 100

    /// Makes a debouncer. The only place that sets a tolerance.
    private static func make(
        _ wait: Duration, tolerance: Duration, _ handler: @escaping @Sendable (Int) -> Void
    ) -> Debouncer<Int, Void> {
        Debouncer(for: wait, on: queue, options: .init(atEnd: .drop, tolerance: tolerance), handler: handler)
    }

    /// The counts of a few seconds, per second.
    private struct Taken {
        /// Voluntary context switches of all threads: each is a thread that has gone to sleep and has to be woken.
        var switches: Double
        /// Starts of handlers that do not directly follow another one.
        var instants: Double
        var executions: Double
    }

    static func rows(_ effort: Effort) -> [Line] {
        var with: [Taken] = []
        var without: [Taken] = []
        for _ in 0..<max(3, effort.rounds / 3) {
            without.append(run(isTolerant: false, effort))
            with.append(run(isTolerant: true, effort))
        }
        func line(_ subject: String, _ figure: KeyPath<Taken, Double>, _ target: Line.Target) -> Line {
            let (ours, theirs) = (with.map { $0[keyPath: figure] }, without.map { $0[keyPath: figure] })
            return Line(
                subject, Spread(ours), "/s", against: "none", Spread(theirs),
                ratio: Spread(zip(ours, theirs).map { $0 / $1 }), target: target)
        }
        return [
            line("wake-ups, tolerance 10 %", \.switches, .ratioAtMost(0.333)),
            line("instants at which handlers start", \.instants, .none),
            line("executions", \.executions, .none),
        ]
    }

    /// Measures with waits of one to two seconds, where each execution submits the next value.
    private static func run(isTolerant: Bool, _ effort: Effort) -> Taken {
        let seconds = max(4, effort.seconds / 10)
        let starts = Starts()
        let all = (0..<debouncers).map { number in
            let wait = Duration.milliseconds(1000 + 10 * number)
            return make(wait, tolerance: isTolerant ? wait / 10 : .zero) { starts.happens(number, $0) }
        }
        starts.debouncers = all
        defer {
            queue.sync { starts.debouncers = [] }
        }
        // Other parts of the process have their own reasons to wake up.
        let atRest = switches(in: 2)
        for debouncer in all { debouncer(0) }
        // By then each has been executed once, and they no longer start together.
        sleep(2)
        let before = queue.sync { (starts.instants, starts.executions) }
        let woken = switches(in: seconds)
        let after = queue.sync { (starts.instants, starts.executions) }
        let each = Double(seconds)
        return Taken(
            switches: max(0, woken - atRest), instants: Double(after.0 - before.0) / each,
            executions: Double(after.1 - before.1) / each)
    }

    private static func switches(in seconds: Int) -> Double {
        let before = voluntary_switches()
        sleep(UInt32(seconds))
        // One of them is that of this thread.
        return (Double(voluntary_switches()) - Double(before) - 1) / Double(seconds)
    }

    /// Counts the executions, and submits the next values.
    private final class Starts: @unchecked Sendable {
        // Proof of @unchecked Sendable: accessed only on the serial queue of the handlers, and before the first of
        // them.
        var debouncers: [Debouncer<Int, Void>] = []
        private(set) var instants = 0
        private(set) var executions = 0
        private var last: Int64 = 0

        func happens(_ number: Int, _ value: Int) {
            let now = boot_nanoseconds()
            // The executions of one wake-up follow each other directly.
            if now - last > 200_000 { instants += 1 }
            last = now
            executions += 1
            if number < debouncers.count { debouncers[number](value + 1) }
        }
    }
}
