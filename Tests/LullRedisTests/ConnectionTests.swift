import Lull
import LullCore
import LullDurable
import TestSupport
import Testing

@testable import LullRedis

/// Connections that are cut, lose their answers, or fall silent, and a server that forgets the scripts.
@Suite("Connections to Redis", .onRedis, .ownThreads, .serialized)
struct RedisConnectionTests {
    private let server: TestRedis
    private let database = 910

    init() throws {
        server = try TestRedis.shared.get()
        try server("-n", "\(database)", "FLUSHDB")
    }

    /// The submits that are pending.
    private func count(_ store: RedisStore) async throws -> Int {
        var count = 0
        for place in try await store.places(of: "n") {
            try await store.scan(place, prefix: []) { _, stored in count += stored?.row.gate.count ?? 0 }
        }
        return count
    }

    private func trial(timeLimit: Duration = .seconds(30)) async throws -> ConnectionTrial {
        let proxy = try Proxy(to: server)
        let store = try await RedisStore(url: proxy.url(database), timeLimit: timeLimit)
        return try await ConnectionTrial(store, through: proxy) { try await count(store) }
    }

    @Test
    func `that lose answers leave no submit unknown, and none is recorded twice`() async throws {
        try await trial().losesAnswers()
    }

    @Test
    func `that lose the answer to a claim leave no run waiting for the end of its lease`() async throws {
        let proxy = try Proxy(to: server)
        let store = try await RedisStore(url: proxy.url(database))
        try await store.open("w", DurableRules(.debounce(for: .zero)))
        let terms = DurableClaim.Terms(owner: 1, lease: .seconds(600), maxAttempts: 3)
        let direct = try await RedisStore(url: server.url(database))
        for key in 0..<200 {
            _ = try await direct.submit(DurableSubmission(namespace: "w", key: [UInt8(key)], value: [1]))
        }
        proxy.change(to: .losesSomeAnswers)
        var runs: [DurableRun] = []
        while runs.count < 200 {
            let claim = DurableClaim(namespace: "w", terms: terms, holding: runs.map(\.number), limit: 1)
            runs += (try? await store.claim(claim).runs) ?? []
        }
        proxy.change(to: .forwards)
        #expect(proxy.lost > 5)
        #expect(Set(runs.map(\.key)).count == 200)
        #expect(Set(runs.map(\.attempt)) == [1])
        await store.close()
        await direct.close()
        proxy.close()
    }

    @Test
    func `that are cut are made again`() async throws {
        try await trial().isCut()
    }

    @Test
    func `that fall silent end within the time limit, with an error that says what is known`() async throws {
        try await trial(timeLimit: .seconds(1)).fallsSilent()
    }

    @Test
    func `to a server that hangs for a while go on afterwards`() async throws {
        let server = try TestRedis(["save ''"])
        let store = try await RedisStore(url: server.url())
        try await store.open("n", DurableRules(.debounce(for: .seconds(3600))))
        server.pause()
        let late = Task.detached { try await store.submit(.numbered(1)) }
        await letOthersRun()
        server.unpause()
        _ = try await late.value
        #expect(try await count(store) == 1)
        await store.close()
    }

    @Test
    func `to a server that has removed the scripts load them again`() async throws {
        let server = try TestRedis(["save ''"])
        let store = try await RedisStore(url: server.url())
        try await store.open("n", DurableRules(.debounce(for: .seconds(3600))))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    for number in 0..<50 {
                        _ = try await store.submit(.numbered(task * 1000 + number))
                        if number % 10 == 0 { try server("SCRIPT", "FLUSH", "SYNC") }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await count(store) == 200)
        await store.close()
    }

    @Test
    func `to a server that has lost its memory open the namespace again`() async throws {
        let server = try TestRedis(["save ''"])
        let store = try await RedisStore(url: server.url())
        let rules = try DurableRules(.debounce(for: .seconds(3600)), combination: .collect)
        try await store.open("n", rules)
        _ = try await store.submit(.numbered(1))
        server.crash()
        try server.start()
        _ = try await store.submit(.numbered(2))
        #expect(try await count(store) == 1)
        #expect(try await store.status().map(\.rules) == [rules])
        #expect(try await store.health().reopenings == 1)
        await store.close()
    }

    @Test
    func `to a server on which a namespace was forgotten open it again, and count no loss`() async throws {
        let server = try TestRedis(["save ''"])
        let store = try await RedisStore(url: server.url(), shards: 2)
        let other = try await RedisStore(url: server.url())
        try await store.open("n", DurableRules(.debounce(for: .seconds(3600))))
        try await other.forget("n")
        for number in 0..<5 { _ = try await store.submit(.numbered(number)) }
        #expect(try await count(store) == 5)
        #expect(try await store.health().reopenings == 0)
        // What is lost after that is lost, also if it is one shard.
        let loss = "for _, key in ipairs(redis.call('KEYS', '{lull:n:1}*')) do redis.call('DEL', key) end"
        try server("EVAL", loss, "0")
        for number in 0..<5 { _ = try await store.submit(.numbered(number)) }
        #expect(try await store.health().reopenings == 1)
        await store.close()
        await other.close()
    }
}
