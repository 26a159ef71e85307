import LullDurable
import TestSupport
import Testing

@testable import LullPostgres

/// The plans of the functions do not depend on what the server knows of the tables.
@Suite("Plans", .onServer)
struct PlanTests {
    private let place = SchemaPlace()

    private func open(_ wait: Duration = .zero) async throws -> (store: PostgresStore, sql: SQL) {
        let store = try await PostgresStore(url: try place.url())
        try await store.open("n", DurableRules(.debounce(for: wait)))
        let sql = try place.session()
        // The server has seen empty tables, and has no reason to look again.
        for table in ["work", "inbox", "ended"] {
            try sql("ALTER TABLE \(table) SET (autovacuum_enabled = false, toast.autovacuum_enabled = false)")
            try sql("VACUUM ANALYZE \(table)")
        }
        return (store, sql)
    }

    /// Returns the sum of a figure of a table.
    private func sum(_ figure: String, of view: String, _ sql: SQL, table: String = "work") throws -> Int {
        try sql("SELECT pg_stat_force_next_flush()")
        let text = try sql.value(
            """
            SELECT coalesce(sum(\(figure)), 0)::bigint FROM \(view)
            WHERE schemaname = '\(place.schema)' AND relname = '\(table)'
            """)
        return try #require(Int(text ?? ""))
    }

    private func submit(_ count: Int, _ name: String, to store: PostgresStore) async throws {
        let batch = (0..<count).map { number in
            DurableSubmission(namespace: "n", key: Array("\(name) \(number)".utf8), value: [1])
        }
        for answer in await store.submit(batch) { _ = try answer.get() }
    }

    /// Closes a store, and waits until its sessions have ended: the server has their figures then.
    private func close(_ store: PostgresStore, _ sql: SQL) async throws {
        await store.close()
        let sessions = """
            SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query LIKE '%\(place.schema)"%'
            """
        try await waitUntil { try sql.value(sessions) == "0" }
    }

    /// Claims and completes all that is due.
    private func work(_ store: PostgresStore) async throws -> Int {
        let terms = DurableClaim.Terms(owner: 1, lease: .seconds(60), maxAttempts: 3)
        var reports: [DurableReport] = []
        var count = 0
        while true {
            let exchange = await store.exchange(reports, DurableClaim(namespace: "n", terms: terms, limit: 100))
            let runs = try exchange.claim?.get().runs ?? []
            if runs.isEmpty { return count }
            count += runs.count
            reports = runs.map { run in
                DurableReport(namespace: "n", key: run.key, run: run.number, fence: run.fence, owner: 1, .completed)
            }
        }
    }

    @Test
    func `that a session made for an empty queue are good for a full one`() async throws {
        let (store, sql) = try await open()
        // All of it in the sessions of the store, which have made their plans then.
        try await submit(1, "first", to: store)
        #expect(try await work(store) == 1)
        for round in 0..<10 { try await submit(200, "\(round)", to: store) }
        for round in 0..<10 { try await submit(200, "\(round)", to: store) }
        #expect(try await work(store) == 2000)
        try await close(store, sql)
        // A handful for each submit and each run, and for what vacuum would have removed; two thousand for each if a
        // plan looks at all keys.
        let read = try sum("idx_tup_read", of: "pg_stat_user_indexes", sql)
        let scanned = try sum("seq_tup_read", of: "pg_stat_user_tables", sql)
        #expect(10_000...300_000 ~= read, "\(read)")
        #expect(scanned < 10_000, "\(scanned)")
        #expect(try sum("seq_tup_read", of: "pg_stat_user_tables", sql, table: "ended") < 10_000)
    }

    @Test
    func `that a session made for an empty inbox are good for a full one`() async throws {
        let (store, sql) = try await open(.seconds(3600))
        try sql("SELECT submit('n', 'first', 'x')")
        #expect(try await work(store) == 0)
        try sql("SELECT count(submit('n', 'key ' || k % 500, 'x')) FROM generate_series(1, 4000) k")
        while try sql.value("SELECT count(*) FROM inbox") != "0" { #expect(try await work(store) == 0) }
        try await close(store, sql)
        let read = try sum("idx_tup_read", of: "pg_stat_user_indexes", sql, table: "inbox")
        #expect(4000...200_000 ~= read, "\(read)")
        #expect(try sql.pending() == 4001)
    }

    /// What was dealt with stays in the index while somebody holds a snapshot.
    @Test
    func `of claims pass what was dealt with once a second, and not each time`() async throws {
        let (store, sql) = try await open()
        let holder = try place.session()
        try holder("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM work")
        try await submit(2000, "old", to: store)
        #expect(try await work(store) == 2000)
        try await close(store, sql)
        let later = try await PostgresStore(url: try place.url())
        let before = try sum("idx_tup_read", of: "pg_stat_user_indexes", sql)
        let start = ContinuousClock.now
        for round in 0..<200 {
            try await submit(1, "\(round)", to: later)
            #expect(try await work(later) == 1)
        }
        let seconds = Int((ContinuousClock.now - start).components.seconds)
        try await close(later, sql)
        let read = try sum("idx_tup_read", of: "pg_stat_user_indexes", sql) - before
        // To know when the next row wakes, each of 400 claims passes 2,000 leases that have ended. All that was due
        // would be twice as many again.
        #expect(read < 400 * 2500 + (seconds + 2) * 10_000, "\(read) in \(seconds) s")
        try holder("COMMIT")
    }

    @Test
    func `of the keys that come next read about as many rows as those`() async throws {
        let (store, sql) = try await open(.seconds(3600))
        let question = "SELECT * FROM rows_by_wake('n', 0, 30)"
        #expect(try sql(question).isEmpty)
        try await submit(2000, "key", to: store)
        try await close(store, sql)
        let before = try sum("idx_tup_read", of: "pg_stat_user_indexes", sql)
        for _ in 0..<10 { #expect(try sql(question).count == 30) }
        let read = try sum("idx_tup_read", of: "pg_stat_user_indexes", sql) - before
        #expect(10 * 30...10 * 60 ~= read, "\(read)")
    }

    @Test(arguments: [
        "SELECT * FROM rows_by_wake('n', 0, 30)", "SELECT * FROM rows_by_key('n', '', NULL, 30)",
        "SELECT * FROM look('n', 9000000000000000)", "SELECT * FROM status()", "SELECT * FROM keys",
        "SELECT * FROM load('n', NULL, NULL, false, (SELECT array_agg(key ORDER BY key) FROM work), "
            + "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, false, NULL)",
    ])
    func `of questions read no values`(_ question: String) async throws {
        let (store, sql) = try await open()
        let value = Array(repeating: UInt8(7), count: 32_000)
        for number in 0..<20 {
            _ = try await store.submit(DurableSubmission(namespace: "n", key: [UInt8(number)], value: value))
        }
        try await close(store, sql)
        #expect(try sql.value("SELECT count(*) FROM work WHERE v0 = repeat('x', 32000)::bytea") == "0")
        let figure = "toast_blks_read + toast_blks_hit"
        let before = try sum(figure, of: "pg_statio_user_tables", sql)
        #expect(before > 0)
        #expect(try !sql(question).isEmpty)
        #expect(try sum(figure, of: "pg_statio_user_tables", sql) == before)
    }
}
