import Allocations
import Foundation
import Lull
import Synchronization

// Row: submits with an awaited outcome, each by a task that the next submit wakes.

/// The least code that lets each caller wait for the next one: a continuation behind a lock.
private final class Relay: Sendable {
    private let last = Mutex<CheckedContinuation<Bool, Never>?>(nil)

    func outcome() async -> Bool {
        await withCheckedContinuation { exchange($0)?.resume(returning: false) }
    }

    func end() { exchange(nil)?.resume(returning: true) }

    private func exchange(_ next: CheckedContinuation<Bool, Never>?) -> CheckedContinuation<Bool, Never>? {
        last.withLock { last in
            defer { last = next }
            return last
        }
    }
}

enum Outcomes {
    static func awaited(_ effort: Effort) -> [Line] {
        let submits = 100_000
        let taken = Interleaved(
            rounds: effort.rounds,
            [
                {
                    let relay = Relay()
                    let received = ExecutionCounter()
                    return Sample.of(submits) {
                        for value in 0..<submits {
                            Task.detached {
                                _ = await relay.outcome()
                                received.take(value)
                            }
                        }
                        received.waitFor(submits - 1)
                        relay.end()
                        received.waitFor(submits)
                    }
                },
                {
                    let debouncer = Debouncer<Int, Void>(for: .milliseconds(100)) { _ in }
                    let received = ExecutionCounter()
                    return Sample.of(submits) {
                        for value in 0..<submits {
                            Task.detached {
                                _ = try? await debouncer.outcome(of: value)
                                received.take(value)
                            }
                        }
                        received.waitFor(submits - 1)
                        debouncer.flush()
                        received.waitFor(submits)
                    }
                },
            ])
        return [
            taken.line("Debouncer", 1, against: "continuations", 0, by: \.cpu, .ratioAtMost(2)),
            Line(
                "allocations a submit", taken.spread(1, \.allocations), "", against: "continuations'",
                taken.spread(0, \.allocations)),
        ]
    }
}
