import Lull
import LullDurable
import TestSupport
import Testing

@testable import LullRedis

@Suite("The memory of a server", .onRedis, .ownThreads)
struct RedisMemoryTests {
    @Test
    func `is full: producers are refused with a clear error, and what is queued drains`() async throws {
        let server = try TestRedis(["save ''"])
        let store = try await RedisStore(url: server.url())
        try await store.open("n", DurableRules(.debounce(for: .zero)))
        let used =
            Int(
                try server("INFO", "memory").split(whereSeparator: \.isNewline)
                    .first { $0.hasPrefix("used_memory:") }?.dropFirst(12) ?? "") ?? 0
        try server("CONFIG", "SET", "maxmemory", "\(used + 3_000_000)")
        var accepted = 0
        var refusal: DurableError?
        while refusal == nil {
            let submissions = (0..<50).map { number in
                DurableSubmission(
                    namespace: "n", key: Array("\(accepted + number)".utf8), value: Array(repeating: 1, count: 2000))
            }
            for result in await store.submit(submissions) {
                switch result {
                case .success: accepted += 1
                case .failure(let error): refusal = error
                }
            }
        }
        #expect(refusal == .full("the memory of the server is full (maxmemory)"))
        #expect(accepted > 500)

        var executed = 0
        let terms = DurableClaim.Terms(owner: 1, lease: .seconds(60), maxAttempts: 1)
        while true {
            let runs = try await store.claim(DurableClaim(namespace: "n", terms: terms, limit: 100)).runs
            if runs.isEmpty { break }
            let reports = runs.map {
                DurableReport(namespace: "n", key: $0.key, run: $0.number, fence: $0.fence, owner: 1, .completed)
            }
            for answer in await store.exchange(reports, nil).reports { #expect(try answer.get() == .accepted) }
            executed += runs.count
        }
        #expect(executed == accepted)
        #expect(try await store.brokenRules() == [])
        // There is room again.
        _ = try await store.submit(DurableSubmission(namespace: "n", key: [1], value: [1]))
        await store.close()
    }

    @Test
    func `does not grow with what has ended longer ago than it is retained`() async throws {
        var options = ServerOptions()
        options.limits = DurableLimits(retention: .milliseconds(200), tokenLifetime: .milliseconds(200))
        let server = try TestRedis(["save ''"])
        let store = try await RedisStore(server.url(), options)
        try await store.open("n", DurableRules(.debounce(for: .zero)))
        let terms = DurableClaim.Terms(owner: 1, lease: .seconds(60), maxAttempts: 1)
        for round in 0..<20 {
            let submissions = (0..<100).map { number in
                DurableSubmission(
                    namespace: "n", key: Array("\(round) \(number)".utf8), value: [1], token: "\(round) \(number)")
            }
            for result in await store.submit(submissions) { _ = try result.get() }
            let runs = try await store.claim(DurableClaim(namespace: "n", terms: terms, limit: 100)).runs
            let reports = runs.map {
                DurableReport(namespace: "n", key: $0.key, run: $0.number, fence: $0.fence, owner: 1, .completed)
            }
            _ = await store.exchange(reports, nil)
        }
        #expect(try await past(store) > 1000)
        try await waitUntil {
            await store.keep(now: true)
            return try await past(store) <= 6
        }
        #expect(try await store.brokenRules() == [])
        await store.close()
    }

    /// How many ends and answers are stored.
    private func past(_ store: RedisStore) async throws -> Int {
        let place = ShardPlace("n", 0)
        return Int(
            try await store.ask([
                .command(Command("HLEN", place.key(.past))), .command(Command("ZCARD", place.key(.ended))),
            ]).compactMap(\.number).reduce(0, +))
    }
}
