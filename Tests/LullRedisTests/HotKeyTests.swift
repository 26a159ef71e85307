import LullDurable
import TestSupport
import Testing

@testable import LullRedis

/// Keys to which everybody submits.
@Suite("Hot keys in Redis", .onRedis, .ownThreads)
struct HotKeyTests {
    @Test
    func `hold no store up for long that waits for its turn, and every submit counts`() async throws {
        let server = try TestRedis(["save ''"])
        // A store that stood still would give its submits up.
        let options = ServerOptions(timeLimit: .seconds(10))
        var stores: [RedisStore] = []
        for _ in 0..<4 { stores.append(try await RedisStore(server.url(), options)) }
        try await stores[0].open("n", DurableRules(try .debounce(for: .seconds(3600))))
        let (tasks, submits) = (32, 30)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for store in stores {
                for task in 0..<tasks {
                    group.addTask {
                        for _ in 0..<submits {
                            let key = [UInt8(task % 2)]
                            _ = try await store.submit(DurableSubmission(namespace: "n", key: key, value: [1]))
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let listings = try await stores[0].list(in: "n", prefix: [], from: [], limit: 9)
        #expect(listings.map(\.pending) == Array(repeating: stores.count * tasks * submits / 2, count: 2))
        #expect(try await stores[0].brokenRules() == [])
        for store in stores { await store.close() }
    }
}
