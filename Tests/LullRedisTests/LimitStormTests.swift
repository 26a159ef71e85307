import Foundation
import Lull
import LullCore
import LullDurable
import LullReference
import TestSupport
import Testing

@testable import LullRedis

/// Workers that are killed while they work in a namespace with limits.
///
/// `LULL_KILLS` sets the number of kills.
@Suite("Limits and kills in Redis", .onRedis, .ownThreads, .serialized)
struct RedisLimitStormTests {
    private let kills = environment("LULL_KILLS", default: 10)

    private func rage(
        at url: String, _ limit: RateLimit?, maxRunning: Int? = nil, submits: Int
    ) async throws -> LimitStorm.Outcome {
        let store = try await RedisStore(url: url)
        let storm = LimitStorm(on: store, at: url, in: FileManager.default.temporaryDirectory.path, workers: 8)
        let outcome = try await storm.rage(limit, maxRunning: maxRunning, kills: kills, submits: submits)
        #expect(try await store.brokenRules() == [])
        #expect(try await store.shards(of: "kill") == (maxRunning == nil ? 16 : 1))
        await store.close()
        print("8 workers on a cluster of Redis: \(outcome)")
        return outcome
    }

    @Test
    func `no window has more starts than the limit, of all shards of a cluster, however workers die`() async throws {
        let cluster = try TestCluster()
        let limit = RateLimit(20, per: .milliseconds(500), burst: 5)
        let outcome = try await rage(at: cluster.nodes[0].portURL(), limit, submits: 60 + 8 * kills)
        #expect(outcome.expected > 0)
    }

    @Test
    func `no more runs are leased at once than may be, however workers die`() async throws {
        let cluster = try TestCluster()
        _ = try await rage(at: cluster.nodes[0].portURL(), nil, maxRunning: 3, submits: 60 + 20 * kills)
    }
}
