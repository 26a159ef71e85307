import DurableConformance
import LullReference
import TestSupport
import Testing

/// The conformance suite, on a server.
@Suite("Conformance in PostgreSQL", .onServer, .serialized, .timeLimit(.minutes(20)))
struct PostgresConformanceTests {
    @Test(arguments: ConformanceCase.short)
    func `a store in PostgreSQL does what every store does`(_ conformance: ConformanceCase) async throws {
        try await conformance.run(on: PostgresMaker())
    }

    @Test(.longForm, arguments: ConformanceCase.scenarios)
    func `a store in PostgreSQL plays the published scenarios`(_ conformance: ConformanceCase) async throws {
        try await conformance.run(on: PostgresMaker())
    }

    /// `LULL_SERVER_STEPS` sets the number of steps, `LULL_SEED` chooses other ones or those of a failure.
    @Test
    func `a store in PostgreSQL answers as the reference model does`() async throws {
        let seed = environment("LULL_SEED", default: UInt64(20_261_123))
        let trials = UInt64(max(1, environment("LULL_SERVER_STEPS", default: 400) / 40))
        var figures = SimulationFigures()
        for trial in 0..<trials {
            let simulation = DurableSimulation(on: PostgresMaker())
            let outcome = try await simulation.run(seed: seed &+ trial, length: 40)
            figures = figures + outcome.figures
            if let finding = outcome.finding {
                Issue.record(
                    """
                    LULL_SEED=\(seed &+ trial) LULL_SERVER_STEPS=40 swift test --filter PostgresConformanceTests
                    \(finding)
                    """)
                return
            }
        }
        print("\(trials) seeds on a server, \(figures), no difference")
        #expect(figures.executions > figures.steps / 50)
    }
}
