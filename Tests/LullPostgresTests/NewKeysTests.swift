import Foundation
import Lull
import LullDurable
import LullPostgres
import TestSupport
import Testing

/// A batch records its new keys together, however many they are.
@Suite("New keys", .onServer, .ownThreads)
struct NewKeysTests {
    private let place = SchemaPlace()

    enum Policies: String, CaseIterable {
        case latest, first, collect, leading, throttle

        var rules: DurableRules {
            get throws {
                let wait = Duration.seconds(3600)
                return switch self {
                case .latest: DurableRules(try .debounce(for: wait))
                case .first: DurableRules(try .debounce(for: wait), combination: .first)
                case .collect: DurableRules(try .debounce(for: wait), combination: .collect)
                case .leading: DurableRules(try .debounce(for: wait, edges: [.leading, .trailing]))
                case .throttle: DurableRules(try .throttle(every: wait))
                }
            }
        }
    }

    private func open(_ policy: Policies = .latest) async throws -> PostgresStore {
        let store = try await PostgresStore(url: try place.url())
        try await store.open("n", policy.rules)
        return store
    }

    private func submission(_ key: String, _ value: String = "x", token: String? = nil) -> DurableSubmission {
        DurableSubmission(namespace: "n", key: Array(key.utf8), value: Array(value.utf8), token: token)
    }

    @Test(arguments: Policies.allCases)
    func `of a batch are recorded in one transaction, under every policy`(_ policy: Policies) async throws {
        let store = try await open(policy)
        let keys = (0..<512).map { "key-\($0)" }
        let receipts = try await store.submit(keys.map { submission($0) }).map { try $0.get() }
        #expect(Set(receipts.map(\.generation)).count == 512)
        let sql = try place.session()
        #expect(try sql.value("SELECT count(*) FROM work") == "512")
        // A store sends what has come until a connection is free: most of it in batches of 256.
        let transactions = try #require(try sql.value("SELECT count(DISTINCT xmin::text) FROM work"))
        #expect(try #require(Int(transactions)) <= 20)
        await store.close()
    }

    @Test
    func `with several submits and tokens have all of them in order`() async throws {
        let store = try await open()
        let batch = (0..<200).flatMap { key in
            [
                submission("key-\(key)", "1"), submission("key-\(key)", "2", token: key % 3 == 0 ? "t\(key)" : nil),
                submission("key-\(key)", "3"),
            ]
        }
        let receipts = try await store.submit(batch).map { try $0.get() }
        for first in stride(from: 0, to: receipts.count, by: 3) {
            let generations = receipts[first..<first + 3].map { $0.generation - receipts[first].generation }
            #expect(generations == [0, 1, 2])
        }
        let sql = try place.session()
        #expect(try sql("SELECT convert_from(v0, 'UTF8'), count(*) FROM work GROUP BY 1") == [["3", "200"]])
        #expect(try sql.rows().values.allSatisfy { $0.row.gate.count == 3 })
        await store.close()
    }

    @Test
    func `that two stores submit at once are each inserted by one of them`() async throws {
        let (one, other) = (try await open(), try await open())
        for round in 0..<5 {
            let keys = (0..<300).map { "\(round)-\($0)" }
            // In opposite orders, and some of each by the general step.
            async let first = one.submit(keys.map { submission($0, token: $0.hasSuffix("3") ? "a\($0)" : nil) })
            async let second = other.submit(
                keys.reversed().map { submission($0, token: $0.hasSuffix("7") ? "b\($0)" : nil) })
            let firsts = try await first.map { try $0.get().generation }
            let seconds = try await second.map { try $0.get().generation }
            for (left, right) in zip(firsts, seconds.reversed()) { #expect(abs(left - right) == 1) }
        }
        let rows = try place.session().rows()
        #expect(rows.count == 1500 && rows.values.allSatisfy { $0.row.gate.count == 2 })
        await one.close()
        await other.close()
    }
}
