import DurableConformance
import LullCore
import LullDurable
import LullReference
import TestSupport
import Testing

@testable import LullRedis

/// Calls of producers in other languages: the script `append` adds them to the inbox, and whoever touches their key
/// makes them first.
///
/// `LULL_DIFFERENTIAL` asks for more calls, `LULL_SEED` for other ones or those of a failure.
@Suite("The inbox", .onRedis, .ownThreads)
struct InboxTests {
    private let calls = environment("LULL_DIFFERENTIAL", default: 1500)
    private let seed = environment("LULL_SEED", default: UInt64(20_261_128))

    /// Makes a call by the script, at an instant in place of the server's.
    @discardableResult
    private func append(
        _ call: [String], to store: RedisStore, in namespace: String, at instant: CoreInstant
    ) async throws -> Int64 {
        let now = instant.microseconds
        let text = Script.append.text.replacing("call('TIME')", with: "{ \(now / 1_000_000), \(now % 1_000_000) }")
        let place = try await store.place(of: Array(call[1].utf8), in: namespace)
        let keys = [Structure.meta, .due, .inbox].map { place.key($0) }
        let reply = try await store.ask(Command(["EVAL", text, "3"] + keys + call), in: namespace)
        return try #require(reply.number)
    }

    private func comparison(_ place: String, shards: Int) async throws -> InboxComparison {
        let maker = RedisMaker(shards: shards)
        return try await InboxComparison(maker, place) { call, key, store, now in
            let store = try #require(store as? RedisStore)
            var words = [call.name, key]
            if case .submit(let value, let wait, let token, let context) = call {
                words += [value, wait.map { "\($0.microseconds)" } ?? "", token ?? "", context ?? ""]
            }
            if case .touch(let wait) = call { words.append(wait.map { "\($0.microseconds)" } ?? "") }
            try await append(words, to: store, in: "n", at: now)
        }
    }

    @Test
    func `is folded by whatever comes next: calls by the script lead where direct calls do`() async throws {
        var random = SplitMix(seed: seed)
        let figures = try await InboxComparison.compare(calls, from: seed) { trial in
            try await comparison("inbox-\(trial)", shards: random.pick([1, 3]))
        }
        print("\(figures.calls) calls, \(figures.appended) by the script, no difference")
        #expect(figures.appended > calls / 4)
    }

    @Test
    func `knows tokens: a call counts once, and one with the token of another key is dead with its reason`()
        async throws
    {
        try await comparison("inbox-tokens", shards: 1).compareTokens()
    }

    @Test
    func `wakes a worker, and says what is wrong with a call`() async throws {
        let server = try TestRedis.shared.get()
        try server("-n", "912", "FLUSHDB")
        let store = try await RedisStore(url: server.url(912))
        try await store.open("n", DurableRules(try .debounce(for: .zero)))
        let terms = DurableClaim.Terms(owner: 1, lease: .seconds(60), maxAttempts: 1)
        let answer = try await store.claim(DurableClaim(namespace: "n", terms: terms, limit: 1))
        async let woken: Void = store.wait(in: "n", after: answer.mark, atMost: .seconds(30))
        func call(_ words: String...) throws -> String { try append(words, at: server, 912) }
        _ = try call("submit", "k", "v")
        try await woken
        #expect(try await store.claim(DurableClaim(namespace: "n", terms: terms, limit: 1)).runs.map(\.count) == [1])
        #expect(try call("sbmit", "k", "v").contains("a call is submit, touch, flush or cancel"))
        #expect(try call("submit", "k", "v", "soon").contains("a wait is a number of microseconds"))
        #expect(try call("flush", "k", "v").contains("too many arguments"))
        await store.close()
    }

    /// Makes a call by the script, at the server's own instant.
    private func append(_ words: [String], at server: TestRedis, _ database: Int) throws -> String {
        let keys = [Structure.meta, .due, .inbox].map { ShardPlace("n", 0).key($0) }
        return try server(["-n", "\(database)", "EVAL", Script.append.text, "3"] + keys + words)
    }

    @Test(arguments: [true, false])
    func `is counted, and folded within a second while the worker is paused or busy`(_ isPaused: Bool) async throws {
        let server = try TestRedis.shared.get()
        try server("-n", "910", "FLUSHDB")
        let store = try await RedisStore(url: server.url(910))
        try await store.open("n", DurableRules(try .debounce(for: .seconds(3600))))
        for call in 0..<250 { _ = try append(["submit", "key \(call / 2)", "v"], at: server, 910) }
        var status = try #require(try await store.status().first)
        #expect(status.entries == 250 && status.pending == 0)
        #expect(try #require(status.oldestEntry) > .zero)
        let error = await #expect(throws: DurableError.self) { try await store.forget("n") }
        #expect("\(error as Any)".contains("250 calls in the inbox"), "\(error as Any)")

        if isPaused { _ = try await store.pause("n", reason: nil, for: nil) }
        let terms = DurableClaim.Terms(owner: 1, lease: .seconds(60), maxAttempts: 1)
        _ = try await store.claim(DurableClaim(namespace: "n", terms: terms, limit: isPaused ? 1 : 0))
        try await waitUntil { try await store.status().first?.entries == 0 }
        status = try #require(try await store.status().first)
        #expect(status.entries == 0 && status.pending == 125 && status.oldestEntry == nil)
        #expect(try await store.brokenRules() == [])
        await store.close()
    }
}
