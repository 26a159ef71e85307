import DurableConformance
import TestSupport
import Testing

/// The conformance suite, on the store in memory.
@Suite("Conformance in memory", .timeLimit(.minutes(1)))
struct MemoryConformanceTests {
    @Test(arguments: ConformanceCase.all + ConformanceCase.ownTime + ConformanceCase.interruptionHints)
    func `a store in memory passes every conformance case`(_ conformance: ConformanceCase) async throws {
        try await conformance.run(on: MemoryMaker())
    }
}

@Suite("Simulation", .ownThreads)
struct SimulationTests {
    @Test
    func `a store in memory answers as the reference model does`() async throws {
        try await DurableSimulation.compare(steps: "LULL_STEPS", 20_000, in: "SimulationTests") { MemoryMaker() }
    }
}
