import Allocations
import Dispatch
import Foundation
import Lull
import Synchronization

// Rows: many submits onto one debouncer, then one execution.

enum Hot {
    static let submits = 1_000_000
    /// Long enough for no pause of the machine to look like the end of a burst.
    static let wait: Int64 = 250_000_000

    // MARK: - A burst, as a user's code has it

    @inline(never)
    static func burst(_ debouncer: Debouncer<Int, Void>, _ range: Range<Int>) {
        for value in range { debouncer(value) }
    }

    @inline(never)
    static func burst(_ floor: Floor<Int>, _ range: Range<Int>) {
        for value in range { floor.submit(value) }
    }

    @inline(never)
    static func burst(_ core: CoreFrame<Int, Int>, _ range: Range<Int>) {
        for value in range { core.submit(value, for: 0) }
    }

    // MARK: - Plain values

    static func values(_ effort: Effort) -> [Line] {
        let some = submits / 10
        let taken = Interleaved(
            rounds: effort.rounds,
            [
                {
                    let sink = Sink()
                    let floor = Floor<Int>(wait: wait) { sink.take($0) }
                    let sample = Sample.of(submits) { burst(floor, 0..<submits) }
                    sink.expect(only: submits - 1)
                    return sample
                },
                {
                    let sink = Sink()
                    let debouncer = Debouncer<Int, Void>(for: .nanoseconds(wait)) { sink.take($0) }
                    let sample = Sample.of(submits) { burst(debouncer, 0..<submits) }
                    sink.expect(only: submits - 1)
                    return sample
                },
                {
                    let sink = Sink()
                    let core = CoreFrame<Int, Int>(wait: wait) { sink.take($1) }
                    let sample = Sample.of(submits) { burst(core, 0..<submits) }
                    sink.expect(only: submits - 1)
                    return sample
                },
                {
                    let sink = Sink()
                    let idiom = TaskIdiom(wait: wait) { sink.take($0) }
                    let sample = Sample.of(some) { for value in 0..<some { idiom.submit(value) } }
                    sink.expect(only: some - 1)
                    return sample
                },
                {
                    let sink = Sink()
                    let idiom = WorkItemIdiom(wait: wait, queue: DispatchQueue(label: "idiom")) { sink.take($0) }
                    let sample = Sample.of(some) { for value in 0..<some { idiom.submit(value) } }
                    sink.expect(only: some - 1)
                    return sample
                },
                {
                    let sink = Sink()
                    let idiom = TimerIdiom(wait: wait) { sink.take($0) }
                    let sample = Sample.of(some) { for value in 0..<some { idiom.submit(value) } }
                    RunLoop.current.run(until: Date(timeIntervalSinceNow: Double(wait) / 1e9 + 0.1))
                    sink.expect(only: some - 1)
                    return sample
                },
            ])
        return [
            taken.line("Debouncer", 1, against: "floor", 0, .ratioAtMost(1.25)),
            Line("allocations a submit", taken.spread(1, \.allocations), "", target: .figureAtMost(0.001)),
            taken.line("the core alone", 2, against: "floor", 0),
            taken.line("Task.cancel + Task.sleep", 3, against: "Debouncer", 1, by: \.cpu, .ratioAtLeast(20)),
            taken.line("DispatchWorkItem + asyncAfter", 4, against: "Debouncer", 1, by: \.cpu, .ratioAtLeast(20)),
            taken.line("Timer invalidated, made again", 5, against: "Debouncer", 1, by: \.cpu, .ratioAtLeast(20)),
        ]
    }

    // MARK: - A closure for each call

    typealias Closure = @Sendable () -> Void

    @inline(never)
    static func burst(_ debouncer: Debouncer<Closure, Void>, _ sink: Sink) {
        for value in 0..<submits { debouncer { sink.take(value) } }
    }

    @inline(never)
    static func burst(_ floor: Floor<Closure>, _ sink: Sink) {
        for value in 0..<submits { floor.submit { sink.take(value) } }
    }

    static func closures(_ effort: Effort) -> [Line] {
        let taken = Interleaved(
            rounds: effort.rounds,
            [
                {
                    let sink = Sink()
                    let floor = Floor<Closure>(wait: wait) { $0() }
                    let sample = Sample.of(submits) { burst(floor, sink) }
                    sink.expect(only: submits - 1)
                    return sample
                },
                {
                    let sink = Sink()
                    let debouncer = Debouncer<Closure, Void>(for: .nanoseconds(wait)) { $0() }
                    let sample = Sample.of(submits) { burst(debouncer, sink) }
                    sink.expect(only: submits - 1)
                    return sample
                },
            ])
        return [
            taken.line("Debouncer", 1, against: "floor", 0, .ratioAtMost(1.5)),
            Line("allocations a submit", taken.spread(1, \.allocations), "", target: .figureAtMost(1.001)),
        ]
    }

    // MARK: - Two threads

    /// Nanoseconds that pass for each submit when two threads submit at once.
    static func together(_ body: @escaping @Sendable (Range<Int>) -> Void) -> Sample {
        let half = submits / 2
        let ready = Atomic(0)
        let group = DispatchGroup()
        for range in [0..<half, half..<submits] {
            group.enter()
            Thread {
                ready.add(1, ordering: .acquiringAndReleasing)
                while ready.load(ordering: .acquiring) < 3 {}
                body(range)
                group.leave()
            }.start()
        }
        while ready.load(ordering: .acquiring) < 2 { usleep(100) }
        return Sample.of(submits) {
            ready.add(1, ordering: .acquiringAndReleasing)
            group.wait()
        }
    }

    /// Many fresh objects: where one happens to lie in the lines of the cache matters.
    static func threads(_ effort: Effort) -> [Line] {
        let taken = Interleaved(
            rounds: 4 * effort.rounds,
            [
                {
                    let sink = Sink()
                    let floor = Floor<Int>(wait: wait) { sink.take($0) }
                    let sample = together { burst(floor, $0) }
                    sink.waitFor()
                    return sample
                },
                {
                    let sink = Sink()
                    let debouncer = Debouncer<Int, Void>(for: .nanoseconds(wait)) { sink.take($0) }
                    let sample = together { burst(debouncer, $0) }
                    sink.waitFor()
                    return sample
                },
            ])
        let floor = taken.spread(0, \.wall)
        let lull = taken.spread(1, \.wall)
        return [
            taken.line("Debouncer, time that passes", 1, against: "floor", 0, by: \.wall, .ratioAtMost(1.5)),
            Line("the slowest object", Spread(lull.most), "ns", against: "floor's", Spread(floor.most)),
            Line("the fastest object", Spread(lull.least), "ns", against: "floor's", Spread(floor.least)),
        ]
    }
}
