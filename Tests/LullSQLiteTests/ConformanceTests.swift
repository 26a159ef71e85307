import Foundation
import DurableConformance
import LullDurable
import LullReference
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

    /// `LULL_FILE_STEPS` sets the number of steps, `LULL_SEED` chooses other ones or those of a failure.
    @Test
    func `a store in a file answers as the reference model does`() async throws {
        let seed = environment("LULL_SEED", default: UInt64(20_260_303))
        let trials = UInt64(max(1, environment("LULL_FILE_STEPS", default: 1000) / 40))
        var figures = SimulationFigures()
        for trial in 0..<trials {
            let simulation = DurableSimulation(on: Maker(directory: try Place()))
            let outcome = try await simulation.run(seed: seed &+ trial, length: 40)
            figures = figures + outcome.figures
            if let finding = outcome.finding {
                Issue.record(
                    """
                    LULL_SEED=\(seed &+ trial) LULL_FILE_STEPS=40 swift test --filter \
                    LullSQLiteTests.SQLiteConformanceTests
                    \(finding)
                    """)
                return
            }
        }
        print("\(trials) seeds in files, \(figures), no difference")
        #expect(figures.executions > figures.steps / 50)
    }
}
