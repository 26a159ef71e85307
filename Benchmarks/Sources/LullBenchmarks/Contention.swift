import Allocations
import Foundation
import Lull
import Synchronization

// Rows: two threads submit to one debouncer at once. Uses many fresh objects, since the position of an object in the
// cache lines matters, and so does the distance of the two cores.

enum Contention {
    /// Runs `body` in two threads at once, each with half of the submits.
    private static func together(_ body: @escaping @Sendable (Range<Int>) -> Void) -> Sample {
        let half = Hot.submits / 2
        let ready = Atomic(0)
        let group = DispatchGroup()
        for range in [0..<half, half..<Hot.submits] {
            group.enter()
            Thread {
                ready.add(1, ordering: .acquiringAndReleasing)
                while ready.load(ordering: .acquiring) < 3 {}
                body(range)
                group.leave()
            }.start()
        }
        while ready.load(ordering: .acquiring) < 2 { usleep(100) }
        return Sample.of(Hot.submits) {
            ready.add(1, ordering: .acquiringAndReleasing)
            group.wait()
        }
    }

    static func rows(_ effort: Effort) -> [Line] {
        withoutPause(effort) + withWorkBetween(effort)
    }

    /// Measures submits alone.
    private static func withoutPause(_ effort: Effort) -> [Line] {
        let taken = Interleaved(
            rounds: 4 * effort.rounds,
            [
                {
                    let sink = ExecutionCounter()
                    let floor = Floor<Int>(wait: Hot.wait) { sink.take($0) }
                    let sample = together { Hot.burst(floor, $0) }
                    sink.waitFor()
                    return sample
                },
                {
                    let sink = ExecutionCounter()
                    let debouncer = Debouncer<Int, Void>(for: .nanoseconds(Hot.wait)) { sink.take($0) }
                    let sample = together { Hot.burst(debouncer, $0) }
                    sink.waitFor()
                    return sample
                },
            ])
        let floor = taken.spread(0, \.wall)
        let lull = taken.spread(1, \.wall)
        return [
            taken.line("Debouncer, time that passes", 1, against: "floor", 0, by: \.wall),
            Line("the slowest object", Spread(lull.most), "ns", against: "floor's", Spread(floor.most)),
            Line("the fastest object", Spread(lull.least), "ns", against: "floor's", Spread(floor.least)),
        ]
    }

    /// Measures each submit by itself, reading of the clock included, with up to a microsecond of other work before it,
    /// as in threads of real programs.
    private static func withWorkBetween(_ effort: Effort) -> [Line] {
        var floors: [Double] = []
        var ours: [Double] = []
        for _ in 0..<effort.rounds {
            let sink = ExecutionCounter()
            let floor = Floor<Int>(wait: Hot.wait) { sink.take($0) }
            floors.append(slowestOfHundred { floor.submit($0) })
            let debouncer = Debouncer<Int, Void>(for: .nanoseconds(Hot.wait)) { sink.take($0) }
            ours.append(slowestOfHundred { debouncer($0) })
        }
        return [
            Line("with work in between, p99", Spread(ours), "ns", against: "floor", Spread(floors))
        ]
    }

    private static func slowestOfHundred(_ submit: @escaping @Sendable (Int) -> Void) -> Double {
        let taken = Mutex<[Int64]>([])
        _ = together { range in
            var times: [Int64] = []
            times.reserveCapacity(range.count)
            for value in range {
                // Varied each time, so that the two threads do not fall into step.
                let until = boot_nanoseconds() + Int64((UInt64(value) &* 0x9E37_79B9_7F4A_7C15) >> 54)
                while boot_nanoseconds() < until {}
                let before = boot_nanoseconds()
                submit(value)
                times.append(boot_nanoseconds() - before)
            }
            taken.withLock { $0 += times }
        }
        return Spread.quantile(0.99, ofSorted: taken.withLock { $0.map(Double.init) }.sorted())
    }
}
