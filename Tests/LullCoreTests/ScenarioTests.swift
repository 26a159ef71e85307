import LullReference
import TestSupport
import Testing

@testable import LullCore
@testable import LullEngine

/// The published conformance cases, in virtual time.
@Suite("Scenarios", .ownThreads)
struct ScenarioTests {
    @Test
    func `the engine yields every scenario's executions`() throws {
        let scenarios = try Scenario.all()
        #expect(scenarios.count == 294)
        for scenario in scenarios {
            let found = try simulate(scenario)
            #expect(found == scenario.expected, "\(scenario.id): \(scenario.source)")
        }
    }

    @Test
    func `the reference model yields every scenario's executions`() throws {
        for scenario in try Scenario.all() {
            #expect(scenario.reference() == scenario.expected, "\(scenario.id): \(scenario.source)")
        }
    }

    @Test
    func `a late timer changes nothing in what falls due, key by key`() throws {
        for scenario in try Scenario.all() {
            let found = try simulate(scenario, isTimerLate: true)
            for key in Set(scenario.expected.map { $0.key }) {
                #expect(found.filter { $0.key == key } == scenario.expected.filter { $0.key == key }, "\(scenario.id)")
            }
            #expect(found.count == scenario.expected.count, "\(scenario.id)")
        }
    }

    /// Runs a scenario with handlers that take no time, and continues until nothing is pending.
    private func simulate(_ scenario: Scenario, isTimerLate: Bool = false) throws -> [Scenario.Expectation] {
        var engine = Engine<String, ScenarioValue>(try Setup(scenario.setup))
        var found: [Scenario.Expectation] = []
        for operation in scenario.ops {
            let at = CoreInstant(operation.at)
            if !isTimerLate { take(engine.advance(to: at), &engine, &found) }
            switch (operation.op, operation.key) {
            case (.submit, let key):
                let wait = operation.wait.map { CoreDuration($0) }
                take(
                    engine.submit(operation.value ?? .null, for: try #require(key), at: at, wait: wait), &engine, &found
                )
            case (.flush, let key?): take(engine.flush(key, at: at), &engine, &found)
            case (.flush, nil): take(engine.flush(at: at), &engine, &found)
            case (.cancel, let key?): take(engine.cancel(key, at: at), &engine, &found)
            case (.cancel, nil): take(engine.cancel(at: at), &engine, &found)
            }
        }
        while engine.alarm < .farFuture { take(engine.advance(to: engine.alarm), &engine, &found) }
        #expect(engine.checkInvariants() == [])
        #expect(engine.counters.pending == 0 && engine.counters.running == 0)
        return found
    }

    private func take(
        _ actions: Actions<String, ScenarioValue>, _ engine: inout Engine<String, ScenarioValue>,
        _ found: inout [Scenario.Expectation]
    ) {
        var queue = actions.more[...]
        while let action = queue.popFirst() {
            guard case .start(let execution) = action else { continue }
            found.append(
                Scenario.Expectation(
                    at: Int(execution.at.nanoseconds), key: execution.key, value: execution.batch.value,
                    count: execution.count, cause: ReferenceEdge(execution.cause),
                    first: Int(execution.first.nanoseconds)
                ))
            queue += engine.ended(execution.run, .returned).1.more
        }
    }
}
