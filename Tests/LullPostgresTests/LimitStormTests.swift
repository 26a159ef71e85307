import DurableConformance
import Foundation
import Lull
import LullCore
import LullDurable
import LullPostgres
import LullReference
import TestSupport
import Testing

/// Workers that are killed while they work in a namespace with limits.
///
/// `LULL_KILLS` sets the number of kills.
@Suite("Limits and kills on PostgreSQL", .onServer, .ownThreads, .serialized)
struct PostgresLimitStormTests {
    private let kills = environment("LULL_KILLS", default: 6)

    private func rage(_ limit: RateLimit?, maxRunning: Int? = nil, submits: Int) async throws -> LimitStorm.Outcome {
        let url = try SchemaPlace().url()
        let store = try await PostgresStore(url: url)
        let storm = LimitStorm(on: store, at: url, in: FileManager.default.temporaryDirectory.path, workers: 8)
        let outcome = try await storm.rage(limit, maxRunning: maxRunning, kills: kills, submits: submits)
        await store.close()
        print("8 workers on PostgreSQL: \(outcome)")
        return outcome
    }

    @Test
    func `no window has more starts than the limit, however workers die`() async throws {
        let outcome = try await rage(RateLimit(20, per: .milliseconds(500), burst: 5), submits: 60 + 8 * kills)
        #expect(outcome.expected > 0)
    }

    @Test
    func `no more runs are leased at once than may be, however workers die`() async throws {
        _ = try await rage(nil, maxRunning: 3, submits: 60 + 20 * kills)
    }

    @Test
    func `handlers that hang, snooze and give up lose nothing and overlap with nothing, however workers die`()
        async throws
    {
        let url = try SchemaPlace().url()
        let store = try await PostgresStore(url: url)
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let storm = try await AnswerStorm(on: store, at: url, in: directory.path, kills: kills)
        await store.close()
        print("\(kills) workers killed on PostgreSQL: \(storm)")
    }
}
