import Lull
import LullDurable
import LullReference
import TestSupport
import Testing

@testable import LullRedis

/// A cluster of three masters.
@Suite("A cluster", .onRedis, .ownThreads)
struct RedisClusterTests {
    /// `LULL_MOVES` sets how many slots are moved.
    @Test(.longForm)
    func `loses nothing while its slots move under load, and answers every call`() async throws {
        let cluster = try TestCluster()
        let store = try await RedisStore(url: cluster.nodes[0].portURL())
        let load = try await ServerLoad(on: store, collects: true)
        let shards = try await store.shards(of: "n")
        #expect(shards == 16)
        let slots = (0..<shards).map { Slot.of(Scripts.prefix("n", $0)) }
        #expect(Set(try slots.map { try cluster.owner(of: $0) }) == [0, 1, 2])
        let moves = environment("LULL_MOVES", default: 5)
        for move in 0..<moves {
            let slot = slots[move % shards]
            try cluster.move(slot, to: ((try cluster.owner(of: slot) ?? 0) + 1) % 3)
        }
        let before = load.count
        try await waitUntil { load.count >= before + 500 }
        await load.end()
        try await load.drain(store)
        print(
            "\(moves) slots moved, \(load.count) submits acknowledged, \(load.unanswered) not, "
                + "\(load.unexecuted.count) lost"
        )
        #expect(load.unanswered == 0)
        #expect(load.unexecuted.isEmpty)
        #expect(try await store.brokenRules() == [])
        await store.close()
    }

    @Test(.longForm)
    func `goes on when one of its masters ends and comes back, with what was on the others meanwhile`() async throws {
        let cluster = try TestCluster([
            "save ''", "appendonly yes", "appendfsync always", "cluster-require-full-coverage no",
        ])
        let store = try await RedisStore(url: cluster.nodes[0].portURL(durability: "always"))
        let load = try await ServerLoad(on: store, collects: true)
        try await waitUntil { load.count >= 300 }
        cluster.nodes[1].crash()
        await letOthersRun()
        try cluster.nodes[1].start()
        let before = load.count
        try await waitUntil { load.count >= before + 300 }
        await load.end()
        try await load.drain(store)
        #expect(load.unanswered == 0)
        #expect(load.unexecuted.isEmpty)
        #expect(try await store.brokenRules() == [])
        await store.close()
    }
}
