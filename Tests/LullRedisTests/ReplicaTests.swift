import Lull
import LullDurable
import LullReference
import TestSupport
import Testing

@testable import LullRedis

/// A replica becomes the master after the master has crashed, under load.
///
/// `LULL_PROMOTIONS` sets how often.
@Suite("A failover of Redis", .onRedis, .ownThreads)
struct RedisReplicaTests {
    private let promotions = environment("LULL_PROMOTIONS", default: 1)

    private func failover(_ durability: String) async throws -> (acknowledged: Int, lost: Int, unanswered: Int) {
        let server = try TestRedis(["save ''", "repl-diskless-sync-delay 0"], hasPort: true)
        let replica = try TestRedis(
            ["save ''", "replicaof 127.0.0.1 \(server.port ?? 0)"], hasPort: true)
        try await waitUntil { try replica("INFO", "replication").contains("master_link_status:up") }
        try await waitUntil { try server("INFO", "replication").contains("state=online") }
        let hosts = [server, replica].map { "127.0.0.1:\($0.port ?? 0)" }.joined(separator: ",")
        let store = try await RedisStore(url: "redis://\(hosts)?durability=\(durability)", timeLimit: .seconds(2))
        let load = try await ServerLoad(on: store, collects: true, wait: .seconds(60))
        // A replica is served a while after it is said to be online.
        try await waitUntil { try load.count >= 2000 && replica("HLEN", "{lull:n:0}rows") != "0" }
        server.crash()
        let before = load.count
        try replica("REPLICAOF", "NO", "ONE")
        if durability == "replicas:1" {
            // Without a replica, what is submitted now is unknown.
            try await waitUntil { load.unanswered >= 5 }
        } else {
            try await waitUntil { load.count >= before + 300 }
        }
        await load.end()
        try await load.drain(store)
        #expect(try await store.brokenRules() == [])
        await store.close()
        return (load.count, load.unexecuted.count, load.unanswered)
    }

    @Test(.longForm)
    func `loses nothing of what replicas:1 has acknowledged`() async throws {
        var acknowledged = 0
        for _ in 0..<promotions {
            let outcome = try await failover("replicas:1")
            #expect(outcome.lost == 0)
            acknowledged += outcome.acknowledged
        }
        print("replicas:1: \(promotions) failovers, \(acknowledged) submits acknowledged, none lost")
    }

    @Test
    func `loses the last moments otherwise, and repeats no number`() async throws {
        var sum = (acknowledged: 0, lost: 0)
        for _ in 0..<promotions {
            let outcome = try await failover("memory")
            #expect(outcome.unanswered == 0)
            #expect(outcome.lost < outcome.acknowledged / 2)
            sum = (sum.acknowledged + outcome.acknowledged, sum.lost + outcome.lost)
        }
        print("memory: \(promotions) failovers, \(sum.acknowledged) submits acknowledged, \(sum.lost) lost")
    }
}
