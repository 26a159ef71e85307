import Lull
import LullCore
import LullDurable
import TestSupport
import Testing

@testable import LullRedis

/// The clock of the server, which somebody sets.
@Suite("The clock of a Redis server", .onRedis, .ownThreads)
struct RedisClockTests {
    private let second: Int64 = 1_000_000_000

    @Test(arguments: [1, 3])
    func `that was ahead for a moment holds nothing up once it is right again`(_ shards: Int) async throws {
        let server = try TestRedis.shared.get()
        try server("-n", "913", "FLUSHDB")
        let clock = Guarded(CoreInstant(nanoseconds: 1_800_000_000 * second))
        func pass(_ seconds: Int64) { clock.change { $0 = $0.advanced(by: .seconds(seconds)) } }
        var options = ServerOptions()
        options.now = { clock.value }
        let store = try await RedisStore(server.url(913), options, shards: shards)
        try await store.open("n", DurableRules(try .debounce(for: .seconds(5))))
        let limit = RateLimit(1, per: .seconds(10))
        try await store.open(
            "limited", try DurableRules(.debounce(for: .zero), combination: .latest, maxBatch: nil, limit: limit))
        func submit(_ key: String, in namespace: String = "n") async throws -> DurableReceipt {
            try await store.submit(DurableSubmission(namespace: namespace, key: Array(key.utf8), value: [1]))
        }
        func claim(_ owner: Int64, in namespace: String = "n") async throws -> [String] {
            let terms = DurableClaim.Terms(owner: owner, lease: .seconds(10), maxAttempts: 9)
            return try await store.claim(DurableClaim(namespace: namespace, terms: terms, limit: 9)).runs
                .map { String(decoding: $0.key, as: UTF8.self) }.sorted()
        }
        let before = try await submit("before")
        pass(7200)
        let ahead = try await submit("ahead")
        for key in ["one", "two"] { _ = try await submit(key, in: "limited") }
        #expect(try await claim(1) == ["before"])
        #expect(try await claim(1, in: "limited").count == 1)
        pass(3)
        pass(-7200)
        // Whatever a worker does shows that, and puts it right.
        _ = try await claim(2)
        _ = try await claim(2, in: "limited")
        pass(5)
        #expect(try await store.status().map(\.oldestDue)[1] == .zero)
        #expect(try await claim(2) == ["ahead"])
        pass(5)
        #expect(try await claim(3) == ["before"], "the lease of a worker that does not come back")
        #expect(try await claim(3, in: "limited").count == 1)
        #expect(store.clockBehind == .zero)
        // Numbers grow all the same.
        #expect(try await submit("before").generation > before.generation)
        #expect(try await submit("ahead").generation > ahead.generation)
        #expect(try await store.brokenRules() == [])
        await store.close()
    }

    @Test
    func `is said to be behind what was stored, until rows are moved`() async throws {
        let server = try TestRedis.shared.get()
        try server("-n", "914", "FLUSHDB")
        let store = try await RedisStore(url: server.url(914))
        try await store.open("n", DurableRules(try .debounce(for: .seconds(3600))))
        var options = ServerOptions()
        let now = try await store.presentInstant(in: "n")
        options.now = { now.advanced(by: .seconds(7200)) }
        let ahead = try await RedisStore(server.url(914), options)
        try await ahead.open("n", nil)
        _ = try await ahead.submit(DurableSubmission(namespace: "n", key: [1], value: [1]))
        await ahead.close()
        _ = try await store.submit(DurableSubmission(namespace: "n", key: [2], value: [1]))
        #expect(store.clockBehind > .seconds(7000))
        await store.keep(now: true)
        #expect(store.clockBehind == .zero)
        let listings = try await store.list(in: "n", prefix: [], from: [], limit: 9)
        for listing in listings { #expect(listing.dueIn ?? .zero <= .seconds(3600)) }
        #expect(listings.count == 2)
        await store.close()
    }
}
