import Lull
import LullCore
import LullDurable
import LullReference
import LullSQLite
import TestSupport
import Testing

/// Processes that are killed while they work in a namespace with limits.
///
/// `LULL_KILLS` sets the number of kills.
@Suite("Limits and kills", .ownThreads, .serialized)
struct LimitStormTests {
    private let place: Place
    private let kills = environment("LULL_KILLS", default: 6)

    init() throws {
        place = try Place()
    }

    private func rage(_ limit: RateLimit?, maxRunning: Int? = nil, submits: Int) async throws -> LimitStorm.Outcome {
        let store = try await SQLiteStore(path: place.path)
        let storm = LimitStorm(on: store, at: place.path, in: place.directory, workers: 4)
        let outcome = try await storm.rage(limit, maxRunning: maxRunning, kills: kills, submits: submits)
        await store.close()
        print("4 processes on a file: \(outcome)")
        return outcome
    }

    @Test
    func `no window has more starts than the limit, however workers die, and the rate is reached`() async throws {
        let outcome = try await rage(RateLimit(20, per: .milliseconds(500), burst: 5), submits: 60 + 8 * kills)
        #expect(outcome.expected > 0)
    }

    @Test
    func `no more runs are leased at once than may be, however workers die`() async throws {
        _ = try await rage(nil, maxRunning: 3, submits: 60 + 20 * kills)
    }
}
