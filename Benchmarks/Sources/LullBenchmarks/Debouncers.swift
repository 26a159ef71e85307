import Allocations
import Dispatch
import Foundation
import Lull
import LullDispatch
import Synchronization

// Rows: many debouncers in one process, which share one scheduler.

enum Debouncers {
    private static let many = 10_000
    private static let queue = DispatchQueue(label: "debouncers")

    private struct Kind {
        var name: String
        var milliseconds: Double
        /// Makes a debouncer whose executions are recorded.
        var make: @Sendable (Duration, Executions) -> Debouncer<Int, Void>
    }

    private static let kinds = [
        Kind(name: "on a queue", milliseconds: 50) { wait, executions in
            Debouncer(for: wait, on: queue, options: .init(atEnd: .drop)) { (_: Int) in executions.happens() }
        },
        Kind(name: "in tasks", milliseconds: 100) { wait, executions in
            Debouncer(for: wait, options: .init(atEnd: .drop)) { (_: Int) in executions.happens() }
        },
    ]

    static func rows(_ effort: Effort) -> [Line] {
        // Leaves out what exists once per process: everything that a pending debouncer of either kind needs.
        let executions = Executions()
        let armed = kinds.map { $0.make(.seconds(86400), executions) }
        for debouncer in armed {
            debouncer(1)
            debouncer.flush()
            debouncer(1)
        }
        executions.waitFor(armed.count)
        defer { withExtendedLifetime(armed) {} }

        let rounds = max(3, effort.rounds / 3)
        return kinds.flatMap { atOnce($0, rounds) } + [besideACrowd(effort, rounds)]
            + kinds.flatMap { memory($0, rounds) }
    }

    // MARK: - All due at once

    private static func atOnce(_ kind: Kind, _ rounds: Int) -> [Line] {
        var threads: [Double] = []
        var last: [Double] = []
        for _ in 0..<rounds {
            Resources.waitForThreads()
            let before = Resources.threads
            var most = before
            let executions = Executions()
            let debouncers = (0..<many).map { _ in kind.make(.seconds(10), executions) }
            let due = boot_nanoseconds() + 1_500_000_000
            for debouncer in debouncers { debouncer.submit(1, after: .nanoseconds(due - boot_nanoseconds())) }
            precondition(executions.count == 0, "submitting took longer than the wait")
            while executions.count < many {
                most = max(most ?? 0, Resources.threads ?? 0)
                usleep(200)
            }
            threads.append(Double(most ?? 0) - Double(before ?? 0))
            last.append(Double(executions.last - due) / 1e6)
            withExtendedLifetime(debouncers) {}
        }
        return [
            Line("10k due at once \(kind.name), threads", Spread(threads), "", target: .figureAtMost(4)),
            Line("the same, the last executed", Spread(last), "ms", target: .figureAtMost(kind.milliseconds)),
        ]
    }

    // MARK: - Beside many due keys

    /// Measures how late a debouncer is, used again and again, while another one has many keys to execute.
    private static func besideACrowd(_ effort: Effort, _ rounds: Int) -> Line {
        let keys = effort.pending / 5
        var beside: [Double] = []
        var alone: [Double] = []
        for _ in 0..<rounds {
            let sink = ExecutionCounter()
            let crowd = KeyedDebouncer<Int, Int, Void>(
                for: .seconds(1000), on: DispatchQueue(label: "crowd"),
                options: .init(atEnd: .drop)
            ) { _, value in sink.take(value) }
            let due = boot_nanoseconds() + 1_000_000_000 + 4000 * Int64(keys)
            for key in 0..<keys { crowd.submit(key, for: key, after: .nanoseconds(due - boot_nanoseconds())) }
            precondition(sink.count == 0, "submitting \(keys) keys took longer than the wait")
            while boot_nanoseconds() < due - 2_000_000 { usleep(500) }
            let late = lateness { _ in sink.count < keys }
            beside.append(Spread.quantile(0.99, ofSorted: late))
            alone.append(Spread.quantile(0.99, ofSorted: lateness { $0 < late.count }))
        }
        return Line(
            "5 ms beside \(keys / 1000)k keys due, p99 late", Spread(beside), "ms", against: "alone", Spread(alone),
            target: .figureAtMost(1))
    }

    /// Returns by how many milliseconds a debouncer of 5 ms is late, again and again, sorted.
    private static func lateness(while goesOn: (_ done: Int) -> Bool) -> [Double] {
        let executions = Executions()
        let started = DispatchSemaphore(value: 0)
        let debouncer = Debouncer<Int, Void>(for: .milliseconds(5), on: DispatchQueue(label: "five")) { _ in
            executions.happens()
            started.signal()
        }
        var late: [Double] = []
        while goesOn(late.count) {
            let due = boot_nanoseconds() + 5_000_000
            debouncer(1)
            started.wait()
            late.append(Double(executions.last - due) / 1e6)
        }
        return late.sorted()
    }

    // MARK: - Memory

    private static func memory(_ kind: Kind, _ rounds: Int) -> [Line] {
        var held: [Double] = []
        var left: [Double] = []
        for _ in 0..<rounds {
            let executions = Executions()
            let before = Resources.heap
            var debouncers: [Debouncer<Int, Void>] = []
            debouncers.reserveCapacity(many)
            for _ in 0..<many {
                let debouncer = kind.make(.seconds(86400), executions)
                debouncer(1)
                debouncers.append(debouncer)
            }
            // By then, other threads have created what they create.
            usleep(200_000)
            held.append(Double(Resources.heap - before) / Double(many))
            precondition(executions.count == 0, "a day has passed")
            debouncers = []
            Resources.waitForHeap(before, atMost: 2)
            left.append(Double(Resources.heap - before) / 1_048_576)
        }
        return [
            Line("a pending one \(kind.name)", Spread(held), "B", target: .figureAtMost(3000)),
            Line("10k dropped \(kind.name) leave", Spread(left), "MiB", target: .figureAtMost(1)),
        ]
    }
}

/// Counts executions, and records the instant of the last one.
private final class Executions: Sendable {
    private let instant = Atomic<Int64>(0)
    private let number = Atomic(0)

    func happens() {
        _ = instant.max(boot_nanoseconds(), ordering: .relaxed)
        number.add(1, ordering: .releasing)
    }

    var count: Int { number.load(ordering: .acquiring) }
    var last: Int64 { instant.load(ordering: .acquiring) }

    func waitFor(_ wanted: Int) {
        while count < wanted { usleep(1000) }
    }
}
