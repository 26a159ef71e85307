import Allocations
import Dispatch
import Foundation
import Lull

// Rows: many submits onto one debouncer, then one execution.

enum Hot {
    static let submits = 1_000_000
    /// Long enough that no pause of the machine looks like the end of a burst.
    static let wait: Int64 = 250_000_000

    // MARK: - A burst, as in a user's code

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

    // MARK: - Many objects

    /// As many as lie in different places of memory: what shares a cache line or crosses a page there may cost half as
    /// much again.
    static let objects = 64

    /// The times of a submit to each object: of several, the shortest, which other programs have not held up.
    private static func times<Object>(of objects: [Object], _ burst: (Object, Range<Int>) -> Void) -> [Double] {
        var times = [Double](repeating: .infinity, count: objects.count)
        for _ in 0..<10 {
            for (number, object) in objects.enumerated() {
                times[number] = min(times[number], Sample.of(10_000) { burst(object, 0..<10_000) }.thread)
            }
        }
        return times
    }

    // MARK: - Plain values

    static func values(_ effort: Effort) -> [Line] {
        let some = submits / 10
        let heap = Resources.heap
        // The idioms leave memory in use until their old deadlines.
        defer { Resources.waitForHeap(heap + 8 << 20, atMost: 5) }
        let taken = Interleaved(
            rounds: effort.rounds,
            [
                {
                    let sink = ExecutionCounter()
                    let floor = Floor<Int>(wait: wait) { sink.take($0) }
                    let sample = Sample.of(submits) { burst(floor, 0..<submits) }
                    sink.expect(only: submits - 1)
                    return sample
                },
                {
                    let sink = ExecutionCounter()
                    let debouncer = Debouncer<Int, Void>(for: .nanoseconds(wait)) { sink.take($0) }
                    let sample = Sample.of(submits) { burst(debouncer, 0..<submits) }
                    sink.expect(only: submits - 1)
                    return sample
                },
                {
                    let sink = ExecutionCounter()
                    let core = CoreFrame<Int, Int>(wait: wait) { sink.take($1) }
                    let sample = Sample.of(submits) { burst(core, 0..<submits) }
                    sink.expect(only: submits - 1)
                    return sample
                },
                {
                    let sink = ExecutionCounter()
                    let idiom = TaskIdiom(wait: wait) { sink.take($0) }
                    let sample = Sample.of(some) { for value in 0..<some { idiom.submit(value) } }
                    sink.expect(only: some - 1)
                    return sample
                },
                {
                    let sink = ExecutionCounter()
                    let idiom = WorkItemIdiom(wait: wait, queue: DispatchQueue(label: "idiom")) { sink.take($0) }
                    let sample = Sample.of(some) { for value in 0..<some { idiom.submit(value) } }
                    sink.expect(only: some - 1)
                    return sample
                },
                {
                    let sink = ExecutionCounter()
                    let idiom = TimerIdiom(wait: wait) { sink.take($0) }
                    let sample = Sample.of(some) { for value in 0..<some { idiom.submit(value) } }
                    RunLoop.current.run(until: Date(timeIntervalSinceNow: Double(wait) / 1e9 + 0.1))
                    sink.expect(only: some - 1)
                    return sample
                },
            ])
        let floors = (0..<objects).map { _ in Floor<Int>(wait: wait) { _ in } }
        let debouncers = (0..<objects).map { _ in Debouncer<Int, Void>(for: .nanoseconds(wait)) { _ in } }
        let floor = Spread(times(of: floors) { burst($0, $1) })
        let slowest = times(of: debouncers) { burst($0, $1) }.max() ?? .nan
        return [
            taken.line("Debouncer", 1, against: "floor", 0, .ratioAtMost(1.25)),
            Line(
                "the slowest of \(objects) debouncers", Spread(slowest), "ns", against: "the floor's median",
                floor, ratio: Spread(slowest / floor.median)),
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
    static func burst(_ debouncer: Debouncer<Closure, Void>, _ sink: ExecutionCounter) {
        for value in 0..<submits { debouncer { sink.take(value) } }
    }

    @inline(never)
    static func burst(_ floor: Floor<Closure>, _ sink: ExecutionCounter) {
        for value in 0..<submits { floor.submit { sink.take(value) } }
    }

    static func closures(_ effort: Effort) -> [Line] {
        let taken = Interleaved(
            rounds: effort.rounds,
            [
                {
                    let sink = ExecutionCounter()
                    let floor = Floor<Closure>(wait: wait) { $0() }
                    let sample = Sample.of(submits) { burst(floor, sink) }
                    sink.expect(only: submits - 1)
                    return sample
                },
                {
                    let sink = ExecutionCounter()
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
}
