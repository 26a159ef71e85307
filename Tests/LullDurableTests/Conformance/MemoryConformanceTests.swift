import DurableConformance
import TestSupport
import Testing

/// The conformance suite, on the store in memory.
@Suite("Conformance in memory", .timeLimit(.minutes(1)))
struct MemoryConformanceTests {
    @Test(
        arguments: ConformanceCase.all + ConformanceCase.ownTime
            + ConformanceCase.interruptionHints
    )
    func `a store in memory passes every conformance case`(_ conformance: ConformanceCase) async throws {
        try await conformance.run(on: MemoryMaker())
    }
}
