import LullDurable
import LullPostgres
import TestSupport
import Testing

/// What has ended is forgotten as fast as it comes.
@Suite("Growth", .onServer)
struct GrowthTests {
    private let place = SchemaPlace()

    @Test
    func `ends and tokens that are too old are deleted, thousands within seconds, by a store that is merely used`()
        async throws
    {
        let url = try place.url()
        let opening = try await PostgresStore(url: url)
        try await opening.open("n", DurableRules(.debounce(for: .seconds(3600))))
        await opening.close()
        let sql = try place.session()
        try sql(
            """
            INSERT INTO ended (namespace, at, first, last, how, key)
            SELECT n.id, 0, i, i, 'completed', '\\x01' FROM namespaces n, generate_series(1, 5000) i;
            INSERT INTO tokens (namespace, at, generation, token, key)
            SELECT n.id, 0, i, i::text, '\\x01' FROM namespaces n, generate_series(1, 7000) i;
            """)
        let store = try await PostgresStore(url: url)
        try await waitUntil {
            _ = try await store.submit(DurableSubmission(namespace: "n", key: [2], value: [1]))
            return try sql.value("SELECT (SELECT count(*) FROM ended) + (SELECT count(*) FROM tokens)") == "0"
        }
        await store.close()
    }

    @Test
    func `a table does not grow while keys come and go`() async throws {
        let store = try await PostgresStore(url: try place.url())
        let sql = try place.session()
        try sql("ALTER TABLE work SET (autovacuum_enabled = false)")
        let load = try await ServerLoad(on: store)
        try await waitUntil { load.count >= 1000 }
        try sql("VACUUM work")
        let before = Int(try sql.value("SELECT pg_table_size('work')") ?? "") ?? 0
        // What comes between two vacuums leaves dead rows till the second. On a busy machine that may be more than is
        // waited for.
        var most = 500
        for _ in 0..<3 {
            let count = load.count
            try await waitUntil { load.count >= count + 500 }
            try sql("VACUUM work")
            most = max(most, load.count - count)
        }
        await load.end()
        let after = Int(try sql.value("SELECT pg_table_size('work')") ?? "") ?? .max
        #expect(
            after <= before + 1_000 * most,
            "\(before) and then \(after) bytes, at most \(most) submits between two vacuums")
        await store.close()
    }

    @Test
    func `a snapshot that a transaction holds stops neither submits nor claims, and is shown`() async throws {
        let store = try await PostgresStore(url: try place.url())
        let sql = try place.session()
        try sql("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM work")
        let load = try await ServerLoad(on: store)
        try await waitUntil { load.count >= 1000 }
        #expect(try await store.health().oldestTransaction.map { $0 > .zero } == true)
        await load.end()
        #expect(load.unanswered == 0)
        try sql("COMMIT")
        #expect(try load.lost(on: TestServer.shared.get(), schema: place.schema) == 0)
        await store.close()
    }
}
