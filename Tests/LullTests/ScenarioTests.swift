import TestSupport
import Lull
import LullReference
import LullTesting
import Testing

/// The published conformance cases in live time: the whole runtime, on a manual clock.
@Suite("Scenarios in live time")
struct ScenarioTests {
    struct Executed: Hashable, Sendable {
        let at: Int
        let key: String
        let value: ScenarioValue
    }

    struct Started: Hashable {
        let at: Int
        let key: String
        let count: Int
        let cause: String
    }

    @Test
    func `every scenario's values are executed at their instants, for its counts and edges`() async throws {
        let scenarios = try Scenario.all()
        for scenario in scenarios {
            let (found, starts) = try await run(scenario)
            let expected = scenario.expected.map { Executed(at: $0.at, key: $0.key, value: $0.value) }
            let expectedStarts = scenario.expected.map {
                Started(at: $0.at, key: $0.key, count: $0.count, cause: "\($0.cause)")
            }
            // Keys are independent when they are live: the order holds within each.
            for key in Set(expected.map(\.key) + found.map(\.key)) {
                #expect(
                    found.filter { $0.key == key } == expected.filter { $0.key == key },
                    "\(scenario.id): \(scenario.source)")
                #expect(
                    starts.filter { $0.key == key } == expectedStarts.filter { $0.key == key },
                    "\(scenario.id): \(scenario.source)")
            }
        }
    }

    /// The values that the handler has seen, and the events about them.
    private func run(_ scenario: Scenario) async throws -> ([Executed], [Started]) {
        let clock = ManualClock()
        let found = Record<Executed>()
        @Sendable func handle(_ key: String, _ value: ScenarioValue) {
            found.add(Executed(at: milliseconds(clock.now.sinceStart), key: key, value: value))
        }
        let policy = scenario.policy
        var edges: Edges = []
        if policy.edges.contains("leading") { edges.insert(.leading) }
        if policy.edges.contains("trailing") { edges.insert(.trailing) }
        let starts: [Started]
        switch policy.kind {
        case .debounce:
            let it = KeyedDebouncer(
                for: .milliseconds(policy.wait ?? 0), maxWait: policy.maxWait.map { .milliseconds($0) }, edges: edges,
                maxCount: policy.maxCount,
                options: .init(
                    delayRule: policy.delayRule == "extend" ? .extend : .restart,
                    spacing: policy.spacing.map { .milliseconds($0) }),
                clock: clock
            ) { (key: String, value: ScenarioValue) in handle(key, value) }
            starts = try await perform(scenario, on: it, clock) { value, key, wait in
                if let wait {
                    it.submit(value, for: key, after: .milliseconds(wait))
                } else {
                    it.submit(value, for: key)
                }
            }
        case .throttle:
            let it = KeyedThrottler(
                every: .milliseconds(policy.interval ?? 0), edges: edges, maxCount: policy.maxCount,
                clock: clock
            ) { (key: String, value: ScenarioValue) in handle(key, value) }
            starts = try await perform(scenario, on: it, clock) { value, key, _ in it.submit(value, for: key) }
        }
        return (found.all, starts)
    }

    private func perform(
        _ scenario: Scenario, on it: some KeyedCoalescer<String, ScenarioValue, Void>, _ clock: ManualClock,
        submit: (ScenarioValue, String, Int?) -> Void
    ) async throws -> [Started] {
        let events = it.events(bufferingNewest: 10_000)
        for operation in scenario.ops {
            await clock.advance(to: ManualClock.Instant.zero.advanced(by: .milliseconds(operation.at)))
            switch (operation.op, operation.key) {
            case (.submit, let key): submit(operation.value ?? .null, try #require(key), operation.wait)
            case (.flush, let key?): it.flush(key)
            case (.flush, nil): it.flush()
            case (.cancel, let key?): it.cancel(key)
            case (.cancel, nil): it.cancel()
            }
            await clock.advance(by: .zero)
        }
        while let due = it.state.timeUntilDue { await clock.advance(by: due) }
        #expect(it.counters.addUp)
        #expect(it.counters.pending + it.counters.running == 0)

        var starts: [Started] = []
        // With `latest`, each execution has executed one submit.
        var left = it.counters.executed
        guard left > 0 else { return [] }
        for await event in events {
            guard event.kind == .started, let cause = event.cause else { continue }
            starts.append(Started(at: milliseconds(event.at), key: event.key, count: event.count, cause: "\(cause)"))
            left -= 1
            if left == 0 { break }
        }
        return starts
    }

    private func milliseconds(_ duration: Duration) -> Int {
        Int(duration.components.seconds) * 1000 + Int(duration.components.attoseconds / 1_000_000_000_000_000)
    }
}
