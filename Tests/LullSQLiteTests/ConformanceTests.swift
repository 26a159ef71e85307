import DurableConformance
import Foundation
import LullDurable
import LullReference
import LullSQLite
import Synchronization
import TestSupport
import Testing

/// What every durable store does, in files.
@Suite("Conformance in a file", .timeLimit(.minutes(5)))
struct ConformanceTests {
    @Test("a file does what every store does", arguments: ConformanceCase.all + ConformanceCase.ownTime)
    func conforms(_ conformance: ConformanceCase) async throws {
        try await conformance.run(on: SQLiteMaker())
    }

    @Test("a file answers as the reference model does")
    func simulation() async throws {
        let seed = environment("LULL_SEED", default: UInt64(20_260_303))
        let steps = environment("LULL_FILE_STEPS", default: 2000)
        let simulation = DurableSimulation(on: SQLiteMaker())
        var figures = SimulationFigures()
        let trials = UInt64(max(1, steps / 40))
        for trial in 0..<trials {
            let outcome = try await simulation.run(seed: seed &+ trial, length: 40)
            figures = figures + outcome.figures
            if let finding = outcome.finding {
                Issue.record(
                    """
                    LULL_SEED=\(seed &+ trial) LULL_FILE_STEPS=40 swift test --filter LullSQLiteTests.ConformanceTests
                    \(finding)
                    """)
                return
            }
        }
        print("\(trials) seeds in a file, \(figures), no difference")
    }
}

/// Files in directories of their own.
struct SQLiteMaker: StoreMaker {
    private static let places = Mutex<[String: Place]>([:])

    var isShared: Bool { true }

    func open(_ place: String, _ limits: DurableLimits, _ clock: StoreClock) async throws -> any DurableStore {
        let place = try Self.places.withLock { places in
            let found = try places[place] ?? Place()
            places[place] = found
            return found
        }
        var options = SQLiteFile.Options()
        options.limits = limits
        options.clock = clock
        return try await SQLiteStore(place.path, options)
    }

    func remove(_ place: String) {
        Self.places.withLock { $0[place] = nil }
    }
}
