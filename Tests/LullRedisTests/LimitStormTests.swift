import DurableConformance
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
    private let kills = environment("LULL_KILLS", default: 6)

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

    @Test
    func `handlers that hang, snooze and give up lose nothing and overlap with nothing, however workers die`()
        async throws
    {
        let cluster = try TestCluster()
        let url = cluster.nodes[0].portURL()
        let store = try await RedisStore(url: url)
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let storm = try await AnswerStorm(on: store, at: url, in: directory.path, kills: kills)
        #expect(try await store.brokenRules() == [])
        await store.close()
        print("\(kills) workers killed on a cluster of Redis: \(storm)")
    }

    @Test
    func `a lost answer uses up the starts that it may have told of`() async throws {
        let server = try TestRedis(["save ''"])
        let proxy = try Proxy(to: server)
        let store = try await RedisStore(url: proxy.url(), shards: 4)
        let direct = try await RedisStore(url: server.url())
        proxy.change(to: .losesSomeAnswers)
        // Four may start in the time of this test.
        let rules = try DurableRules(
            .debounce(for: .zero), combination: .latest, maxBatch: nil,
            limit: RateLimit(7, per: .seconds(4000), burst: 4))
        for trial in 0..<20 {
            let name = "trial \(trial)"
            try await direct.open(name, rules)
            for key in 0..<40 {
                _ = try await direct.submit(DurableSubmission(namespace: name, key: [UInt8(key)], value: [1]))
            }
            let terms = DurableClaim.Terms(owner: 1, lease: .seconds(600), maxAttempts: 3)
            for _ in 0..<8 {
                _ = try? await store.claim(DurableClaim(namespace: name, terms: terms, limit: 8))
            }
            let attempts = try await direct.status().first { $0.namespace == name }?.attempts ?? 0
            #expect(attempts <= 4, "\(name)")
        }
        #expect(proxy.lost > 5)
        proxy.change(to: .forwards)
        await store.close()
        await direct.close()
        proxy.close()
    }
}
