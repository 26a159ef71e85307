import Foundation
import Lull
import LullCore
import LullDurable
import LullTesting
import TestSupport
import Testing

/// A store in memory on a manual clock, with records of what handlers and workers report.
struct WorkerFixture: Sendable {
    let clock = ManualClock()
    let memory: MemoryStore
    let store: FlakyStore
    /// The executions of handlers.
    let done = Record<String>()
    /// The failures that were reported.
    let failures = Record<String>()

    init(limits: DurableLimits = DurableLimits()) {
        memory = MemoryStore(limits: limits, clock: clock)
        store = FlakyStore(memory)
    }

    /// A debouncer of two seconds.
    func debouncer(
        combining: CombinationRule = .latest, maxBatch: Int? = nil
    ) async throws -> DurableDebouncer<String, Int> {
        let policy = try Policy.debounce(for: .seconds(2))
        return switch combining {
        case .latest: try await DurableDebouncer(policy: policy, namespace: "n", in: store, clock: clock)
        case .first:
            try await DurableDebouncer(policy: policy, combining: .first, namespace: "n", in: store, clock: clock)
        case .collect:
            try await DurableDebouncer(
                collecting: policy, maxBatch: maxBatch, namespace: "n", in: store, clock: clock)
        }
    }

    /// Runs a worker that records its executions, and calls the handler of the test.
    func work(
        _ debouncer: DurableCoalescer<String, Int>, maxConcurrent: Int = 8, lease: Duration = .seconds(30),
        retry: RetryPolicy = RetryPolicy(initialDelay: .seconds(1), maxDelay: .seconds(1), maxAttempts: 3),
        timeLimit: Duration? = nil, grace: Duration? = nil,
        _ handler: @escaping @Sendable (DurableExecution<String, Int>) async throws -> Void = { _ in }
    ) -> Task<Void, any Error> {
        clock.task {
            try await debouncer.run(
                maxConcurrent: maxConcurrent, lease: lease, retry: retry, timeLimit: timeLimit, grace: grace,
                onFailure: { failures.add("\($0)") }
            ) { execution in
                try await handler(execution)
                done.add("\(execution.key)=\(execution.values.map(String.init).joined(separator: "+"))")
            }
        }
    }

    func advance(_ seconds: Double, until milestone: ManualClock.Milestone = .ended) async {
        await clock.advance(by: .milliseconds(Int(seconds * 1000)), until: milestone)
    }

    /// The time of the clock, in seconds.
    var seconds: Double {
        let (seconds, attoseconds) = clock.now.sinceStart.components
        return Double(seconds) + Double(attoseconds) / 1e18
    }

    struct Refusal: Error, CustomStringConvertible {
        var description: String { "no" }
    }
}
