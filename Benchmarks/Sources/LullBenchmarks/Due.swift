import Allocations
import Dispatch
import Foundation
import Lull
import LullDispatch

// Row: keys that fall due shortly after each other, each executed by a synchronous handler on a serial queue.

enum Due {
    static func oneByOne(_ effort: Effort) -> [Line] {
        let keys = 1_000_000
        let queue = DispatchQueue(label: "due")
        let taken = Interleaved(
            rounds: max(1, effort.rounds / 3),
            [
                {
                    // The minimum: a block on the queue for each, as they fall due.
                    let sink = ExecutionCounter()
                    return Sample.of(keys) {
                        for key in 0..<keys { queue.async { sink.take(key) } }
                        sink.waitFor(keys)
                    }
                },
                { sample(keys, nil, on: queue) },
                { sample(keys, RateLimit(10_000_000, per: .seconds(1), burst: 9_000_000), on: queue) },
            ])
        let cpu = taken.spread(1, \.cpu)
        let lookUps = self.lookUps()
        return [
            Line(
                "an execution", cpu, "ns", against: "a block on the queue", taken.spread(0, \.cpu),
                target: .figureAtMost(1000)),
            Line(
                "the same with a limit that never binds", taken.spread(2, \.cpu), "ns", against: "without a limit", cpu,
                ratio: taken.ratio(2, to: 1, \.cpu), target: .ratioAtMost(1.1)),
            Line(
                "allocations an execution", taken.spread(1, \.allocations), "", against: "a block's",
                taken.spread(0, \.allocations)),
            Line(
                "metadata look-ups, a submit, a flush and an execution", Spread(lookUps), "",
                target: .figureAtMost(0.01)),
        ]
    }

    /// What the executions of keys take that fall due a microsecond after each other.
    private static func sample(_ keys: Int, _ limit: RateLimit?, on queue: DispatchQueue) -> Sample {
        let sink = ExecutionCounter()
        let debouncer = KeyedDebouncer<Int, Int, Void>(
            for: .seconds(2), on: queue, options: .init(limit: limit)
        ) { _, value in
            sink.take(value)
        }
        let first = boot_nanoseconds() + 2_000_000_000
        for key in 0..<keys {
            let delay = first + Int64(key) * 1000 - boot_nanoseconds()
            debouncer.submit(key, for: key, after: .nanoseconds(delay))
        }
        precondition(sink.count == 0, "submitting a million keys took longer than the wait")
        while boot_nanoseconds() < first - 10_000_000 { usleep(1000) }
        return Sample.of(keys) { sink.waitFor(keys) }
    }

    /// The look-ups of metadata that a submit on a new key, its flush and its execution take: none, since no nested
    /// generic type lies on their way. One takes as long as a submit that joins a burst.
    private static func lookUps() -> Double {
        let (keys, queue, sink) = (1000, DispatchQueue(label: "due"), ExecutionCounter())
        let debouncer = KeyedDebouncer<Int, String, Void>(for: .seconds(60), on: queue) { key, _ in sink.take(key) }
        func run() {
            for key in 0..<keys {
                debouncer.submit("a value that is too long to be inline", for: key)
                debouncer.flush(key)
            }
            queue.sync {}
        }
        run()
        let before = metadata_look_ups()
        run()
        return Double(metadata_look_ups() - before) / Double(keys)
    }
}
