import DurableConformance
import LullDurable
import LullSQLite
import TestSupport
import Testing

/// The conformance suite, on files.
@Suite("Conformance in SQLite", .timeLimit(.minutes(2)))
struct SQLiteConformanceTests {
    private struct Maker: StoreMaker {
        let directory: Place

        func open(_ place: String, _ limits: DurableLimits, _ clock: StoreClock) async throws -> any DurableStore {
            var options = SQLiteFile.Options()
            options.limits = limits
            options.clock = clock
            return try await SQLiteStore(directory.directory + "/" + place, options)
        }

        var isShared: Bool { true }

        func remove(_ place: String) {}
    }

    @Test("a store in a file does what every store does", arguments: ConformanceCase.all + ConformanceCase.ownTime)
    func conforms(_ conformance: ConformanceCase) async throws {
        try await conformance.run(on: Maker(directory: try Place()))
    }
}
