import DurableConformance
import LullReference
import TestSupport
import Testing

/// Random calls on the store in memory and on the reference model.
///
/// `LULL_STEPS` asks for more steps than the usual number, `LULL_SEED` for other ones or for those of a failure.
@Suite("Simulation", .ownThreads)
struct SimulationTests {
    static let length = 40

    private let seed = environment("LULL_SEED", default: UInt64(20_260_202))
    private let steps = environment("LULL_STEPS", default: 20_000)

    @Test
    func `a store in memory answers as the reference model does`() async throws {
        let simulation = DurableSimulation(on: MemoryMaker())
        var figures = SimulationFigures()
        let trials = UInt64(max(1, steps / Self.length))
        for trial in 0..<trials {
            let outcome = try await simulation.run(seed: seed &+ trial, length: Self.length)
            figures = figures + outcome.figures
            if let finding = outcome.finding {
                Issue.record(
                    """
                    LULL_SEED=\(seed &+ trial) LULL_STEPS=\(Self.length) swift test --filter \
                    LullDurableTests.SimulationTests
                    \(finding)
                    """)
                return
            }
        }
        print("\(trials) seeds, \(figures), no difference")
        #expect(figures.executions > figures.steps / 50)
    }
}
