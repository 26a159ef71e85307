import Allocations
import Foundation
import Lull
import Synchronization

// Row: submits whose outcome is awaited, each by a task that the next submit wakes.

/// The least that lets each caller wait for the next one: a continuation behind a lock.
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
                    finished(submits) {
                        let relay = Relay()
                        await withTaskGroup(of: Void.self) { group in
                            for _ in 0..<submits {
                                group.addTask { _ = await relay.outcome() }
                            }
                            try? await Task.sleep(for: .milliseconds(100))
                            group.addTask { relay.end() }
                        }
                    }
                },
                {
                    finished(submits) {
                        let debouncer = Debouncer<Int, Void>(for: .milliseconds(100)) { _ in }
                        await withTaskGroup(of: Void.self) { group in
                            for value in 0..<submits {
                                group.addTask { _ = try? await debouncer.outcome(of: value) }
                            }
                        }
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

    /// Runs asynchronous work to its end from the main thread.
    private static func finished(_ operations: Int, _ body: @escaping @Sendable () async -> Void) -> Sample {
        Sample.of(operations) {
            let done = DispatchSemaphore(value: 0)
            Task.detached {
                await body()
                done.signal()
            }
            done.wait()
        }
    }
}
