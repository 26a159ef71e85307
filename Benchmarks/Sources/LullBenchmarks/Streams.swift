import Allocations
import Foundation
import Lull

// Row: a debounced stream, element by element.

enum Streams {
    static func debounced(_ effort: Effort) -> [Line] {
        let elements = 1_000_000
        let some = elements / 10
        var held: [Double] = []
        let taken = Interleaved(
            rounds: max(3, effort.rounds / 2),
            [
                {
                    run(elements) { stream in
                        for await _ in stream {}
                    }
                },
                {
                    let before = Resources.heap
                    let sample = run(elements) { stream in
                        var last = -1
                        for await element in stream.debounced(for: .milliseconds(50)) { last = element }
                        precondition(last == elements - 1, "the last element was not delivered")
                    }
                    held.append(Double(Resources.heap - before) / 1_048_576)
                    return sample
                },
                {
                    run(some) { stream in
                        let idiom = TaskIdiom(wait: 50_000_000) { _ in }
                        for await element in stream { idiom.submit(element) }
                        idiom.cancel()
                    }
                },
            ])
        return [
            taken.line("debounced(for:)", 1, against: "the stream alone", 0, by: \.cpu),
            taken.line("cancel and sleep", 2, against: "debounced", 1, by: \.cpu, .ratioAtLeast(3)),
            Line("kept in memory", Spread(held), "MiB", target: .figureAtMost(1)),
        ]
    }

    /// Lets a task consume a stream of this many elements, which are created on demand.
    private static func run(
        _ elements: Int, _ consume: @escaping @Sendable (AsyncStream<Int>) async -> Void
    ) -> Sample {
        Sample.of(elements) {
            let done = DispatchSemaphore(value: 0)
            Task.detached {
                let numbers = Numbers(elements)
                await consume(AsyncStream { numbers.next() })
                done.signal()
            }
            done.wait()
        }
    }

    /// Counts up, for one consumer at a time.
    private final class Numbers: @unchecked Sendable {
        // Proof of @unchecked Sendable: an AsyncStream makes the next call only after the last one has returned.
        private var number = 0
        private let end: Int

        init(_ end: Int) { self.end = end }

        func next() -> Int? {
            guard number < end else { return nil }
            defer { number += 1 }
            return number
        }
    }
}
