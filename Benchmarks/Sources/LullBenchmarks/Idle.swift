import Allocations
import Foundation
import Lull

// Row: debouncers with nothing pending.

enum Idle {
    static func aMinute(_ effort: Effort) -> [Line] {
        let sink = Sink()
        let debouncers = (0..<1000).map { _ in Debouncer<Int, Void>(for: .milliseconds(150)) { sink.take($0) } }
        for debouncer in debouncers { debouncer(1) }
        sink.waitFor(debouncers.count)
        // The threads that executed them go to rest after some seconds.
        sleep(UInt32(min(15, effort.seconds)))

        let switches = voluntary_switches()
        let cpu = process_cpu_nanoseconds()
        sleep(UInt32(effort.seconds))
        let used = Double(process_cpu_nanoseconds() - cpu) / 1e6
        // One of them is this thread's own.
        let wakeUps = Double(voluntary_switches() - switches) - 1
        withExtendedLifetime(debouncers) {}
        return [
            Line("wake-ups in \(effort.seconds) s, 1000 debouncers", Spread(wakeUps), "", target: .figureAtMost(0)),
            Line("processor time", Spread(used), "ms", target: .figureAtMost(1)),
        ]
    }
}
