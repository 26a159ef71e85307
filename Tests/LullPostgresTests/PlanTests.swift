import LullDurable
import LullPostgres
import TestSupport
import Testing

/// The plans of the functions do not depend on what the server knows of the tables.
@Suite("Plans", .onServer)
struct PlanTests {
    private let place = SchemaPlace()

    @Test
    func `that a session made for an empty queue are good for a full one`() async throws {
        let store = try await PostgresStore(url: try place.url())
        try await store.open("n", DurableRules(.debounce(for: .zero)))
        let sql = try place.session()
        // The server has seen an empty table, and has no reason to look again.
        try sql("ALTER TABLE work SET (autovacuum_enabled = false)")
        try sql("VACUUM ANALYZE work")
        try sql("SELECT submit('n', 'first', 'x')")
        try sql("SELECT count(submit('n', 'key ' || k, 'x')) FROM generate_series(1, 2000) k")
        try sql("SELECT count(*) FROM claim('n', 1, 1000000, 3, '{}', 100, NULL, NULL)")
        try sql("SELECT count(*) FROM claim('n', 1, 1000000, 3, NULL, 100, NULL, NULL)")
        try sql("SELECT pg_stat_force_next_flush()")
        let read = try sql.value(
            "SELECT sum(idx_tup_read)::bigint FROM pg_stat_user_indexes WHERE schemaname = '\(place.schema)' "
                + "AND relname = 'work'"
        )
        let scanned = try sql.value(
            "SELECT seq_tup_read FROM pg_stat_user_tables WHERE schemaname = '\(place.schema)' AND relname = 'work'")
        // A handful for each submit and each run; two thousand for each if a plan looks at all keys.
        #expect(Int(read ?? "").map { $0 < 40_000 } == true, "\(read ?? "nothing")")
        #expect(Int(scanned ?? "").map { $0 < 10_000 } == true, "\(scanned ?? "nothing")")
        await store.close()
    }

    /// Returns the sum of a figure of the table `work`.
    private func sum(_ figure: String, of view: String, _ sql: SQL) throws -> Int {
        try sql("SELECT pg_stat_force_next_flush()")
        let text = try sql.value(
            "SELECT sum(\(figure))::bigint FROM \(view) WHERE schemaname = '\(place.schema)' AND relname = 'work'")
        return try #require(Int(text ?? ""))
    }

    @Test
    func `of the keys that come next read about as many rows as those`() async throws {
        let store = try await PostgresStore(url: try place.url())
        try await store.open("n", DurableRules(.debounce(for: .seconds(3600))))
        let sql = try place.session()
        try sql("ALTER TABLE work SET (autovacuum_enabled = false)")
        try sql("VACUUM ANALYZE work")
        try sql("SELECT count(*) FROM upcoming('n', 10)")
        try sql("SELECT count(submit('n', 'key ' || k, 'x')) FROM generate_series(1, 2000) k")
        let before = try sum("idx_tup_read", of: "pg_stat_user_indexes", sql)
        for _ in 0..<10 { #expect(try sql("SELECT * FROM upcoming('n', 10)").count == 10) }
        let read = try sum("idx_tup_read", of: "pg_stat_user_indexes", sql) - before
        #expect(10 * 10...10 * 40 ~= read, "\(read)")
        await store.close()
    }

    @Test(arguments: [
        "SELECT * FROM upcoming('n')", "SELECT * FROM list('n')", "SELECT * FROM status()", "SELECT * FROM keys('n')",
        "SELECT * FROM count_selected('n', age => 0)", "SELECT * FROM interruptions('n', 1)",
    ])
    func `of questions read no values`(_ question: String) async throws {
        let store = try await PostgresStore(url: try place.url())
        try await store.open("n", DurableRules(.debounce(for: .zero), whileRunning: .restart))
        let sql = try place.session()
        try sql("SELECT count(submit('n', 'key ' || k, repeat(md5(k::text), 1000))) FROM generate_series(1, 20) k")
        try sql("SELECT count(*) FROM claim('n', 1, 1000000, 3, '{}', 5, NULL, NULL)")
        let figure = "toast_blks_read + toast_blks_hit"
        let before = try sum(figure, of: "pg_statio_user_tables", sql)
        #expect(before > 0)
        #expect(try !sql(question).isEmpty)
        #expect(try sum(figure, of: "pg_statio_user_tables", sql) == before)
        await store.close()
    }

    @Test
    func `of batches that a session made for an empty queue are good for a full one`() async throws {
        let store = try await PostgresStore(url: try place.url())
        try await store.open("n", DurableRules(.debounce(for: .seconds(3600))))
        let sql = try place.session()
        try sql("ALTER TABLE work SET (autovacuum_enabled = false)")
        try sql("VACUUM ANALYZE work")
        func submit(_ batch: Int, of keys: Int) throws {
            try sql(
                """
                SELECT submit_many(
                    'n', ARRAY(SELECT convert_to('\(keys)-' || i, 'UTF8') FROM generate_series(1, 200) i ORDER BY 1),
                    array_fill('x'::bytea, '{200}'), array_fill(NULL::bigint, '{200}'), array_fill(NULL::text, '{200}'),
                    array_fill(NULL::bigint, '{200}'), 0, 1, 0, \(batch), true, NULL)
                """)
        }
        // All new, and then all known.
        for keys in 0..<10 { try submit(1 + keys, of: keys) }
        for keys in 0..<10 { try submit(11 + keys, of: keys) }
        #expect(try sql.value("SELECT count(*) FROM work WHERE pending_count = 2") == "2000")
        try sql("SELECT pg_stat_force_next_flush()")
        let read = try sql.value(
            "SELECT sum(idx_tup_read)::bigint FROM pg_stat_user_indexes WHERE schemaname = '\(place.schema)' "
                + "AND relname = 'work'"
        )
        #expect(Int(read ?? "").map { $0 < 40_000 } == true, "\(read ?? "nothing")")
        await store.close()
    }
}
