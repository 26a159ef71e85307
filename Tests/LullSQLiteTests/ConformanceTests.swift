import Foundation
import DurableConformance
import LullDurable
import LullSQLite
import TestSupport
import Testing

/// The conformance suite, on files.
@Suite("Conformance in SQLite", .timeLimit(.minutes(20)))
struct SQLiteConformanceTests {
    private struct Maker: StoreMaker {
        let directory: Place

        func open(_ place: String, _ limits: DurableLimits, _ clock: StoreClock) async throws -> any StoreCalls {
            var options = SQLiteFile.Options()
            options.limits = limits
            options.clock = clock
            return try await SQLiteStore(directory.directory + "/" + place, options)
        }

        var isShared: Bool { true }

        func remove(_ place: String) {}
    }

    @Test(
        arguments: ConformanceCase.short + ConformanceCase.ownTime
            + ConformanceCase.interruptionHints)
    func `a store in a file does what every store does`(_ conformance: ConformanceCase) async throws {
        try await conformance.run(on: Maker(directory: try Place()))
    }

    @Test(
        .enabled(
            if: ProcessInfo.processInfo.environment["LULL_FILE_STEPS"] != nil,
            "it takes long: scripts/check durable runs it"),
        arguments: ConformanceCase.scenarios)
    func `a store in a file plays the published scenarios`(_ conformance: ConformanceCase) async throws {
        try await conformance.run(on: Maker(directory: try Place()))
    }

    @Test
    func `a store in a file answers as the reference model does`() async throws {
        try await DurableSimulation.compare(steps: "LULL_FILE_STEPS", 1000, in: "SQLiteConformanceTests") {
            Maker(directory: try Place())
        }
    }

    @Test(.ownThreads)
    func `an interruption reaches the handler of another process by a hint, long before a heartbeat`() async throws {
        let place = try Place()
        try await InterruptionLatency.check(
            worker: SQLiteStore(path: place.path), producer: SQLiteStore(path: place.path))
    }
}
