import DurableConformance
import LullPostgres
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

    @Test
    func `a store in PostgreSQL answers as the reference model does`() async throws {
        try await DurableSimulation.compare(steps: "LULL_SERVER_STEPS", 400, in: "PostgresConformanceTests") {
            PostgresMaker()
        }
    }

    @Test(.ownThreads)
    func `an interruption reaches the handler of another process by a hint, long before a heartbeat`() async throws {
        let url = try SchemaPlace().url()
        try await InterruptionLatency.check(worker: PostgresStore(url: url), producer: PostgresStore(url: url))
    }
}
