import Allocations
import Dispatch
import Foundation
import Lull

// Row: debouncers with nothing pending, against a process without any. On Linux, Dispatch itself wakes up once a second
// in every process that has ever used one of its threads.

enum Idle {
    static func aMinute(_ effort: Effort) -> [Line] {
        DispatchQueue.global().sync {}
        DispatchQueue.global().async {}
        let without = rest(effort)

        let sink = ExecutionCounter()
        let debouncers = (0..<1000).map { _ in Debouncer<Int, Void>(for: .milliseconds(150)) { sink.take($0) } }
        for debouncer in debouncers { debouncer(1) }
        sink.waitFor(debouncers.count)
        let with = rest(effort)
        withExtendedLifetime(debouncers) {}

        return [
            Line(
                "wake-ups in \(effort.seconds) s beyond", Spread(with.wakeUps - without.wakeUps), "",
                against: "no debouncer", Spread(without.wakeUps), target: .figureAtMost(1)),
            Line(
                "processor time beyond", Spread((with.cpu - without.cpu) / 1e6), "ms", against: "no debouncer",
                Spread(without.cpu / 1e6), target: .figureAtMost(1)),
        ]
    }

    private static func rest(_ effort: Effort) -> (wakeUps: Double, cpu: Double) {
        // Busy threads become idle after some seconds.
        sleep(UInt32(min(15, 2 * effort.seconds)))
        let switches = voluntary_switches()
        let cpu = process_cpu_nanoseconds()
        sleep(UInt32(effort.seconds))
        // One of the wake-ups is that of this thread.
        return (Double(voluntary_switches() - switches) - 1, Double(process_cpu_nanoseconds() - cpu))
    }
}
