import DurableConformance
import TestSupport
import Testing

/// The conformance suite, on the store in memory.
@Suite("Conformance in memory", .timeLimit(.minutes(1)))
struct MemoryConformanceTests {
    @Test(
        "a store in memory conforms",
        arguments: ConformanceCase.all + ConformanceCase.ownTime
            + ConformanceCase.interruptionHints
    )
    func conforms(_ conformance: ConformanceCase) async throws {
        try await conformance.run(on: MemoryMaker())
    }
}
