import LullDurable
import LullPostgres
import TestSupport
import Testing

/// A submit is a statement of the user's own transaction.
@Suite("Submits in a user's transaction", .onServer)
struct TransactionTests {
    private let place = SchemaPlace()

    private func open(_ wait: Duration = .zero, _ combination: Combination = .latest) async throws -> PostgresStore {
        let store = try await PostgresStore(url: try place.url())
        try await store.open("n", DurableRules(.debounce(for: wait), combination: combination))
        return store
    }

    private func submit(_ value: String, _ key: String = "k", to store: PostgresStore) async throws -> DurableReceipt {
        try await store.submit(DurableSubmission(namespace: "n", key: Array(key.utf8), value: Array(value.utf8)))
    }

    private func work(_ store: PostgresStore) async throws -> [String] {
        let terms = DurableClaim.Terms(owner: 1, lease: .seconds(60), maxAttempts: 3)
        let answer = try await store.claim(DurableClaim(namespace: "n", terms: terms, limit: 100))
        for run in answer.runs {
            let report = DurableReport(
                namespace: "n", key: run.key, run: run.id, fence: run.fence, owner: 1, .completed)
            _ = try await store.report(report)
        }
        return answer.runs.map { run in
            "\(String(decoding: run.key, as: UTF8.self)) "
                + "\(run.values.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "+"))"
        }
    }

    @Test
    func `counts when the transaction commits, and has not happened if it is rolled back`() async throws {
        let store = try await open()
        let sql = try place.session()
        try sql("BEGIN; SELECT submit('n', 'k', 'rolled back'); ROLLBACK")
        #expect(try await work(store) == [])
        try sql("BEGIN; SELECT submit('n', 'k', 'committed')")
        #expect(try await work(store) == [])
        try sql("COMMIT")
        #expect(try await work(store) == ["k committed"])
        await store.close()
    }

    @Test
    func `takes keys of at most 1,024 bytes`() async throws {
        let store = try await open()
        let sql = try place.session()
        try sql("SELECT submit('n', repeat('k', 1024), 'x')")
        let refusal = #expect(throws: SQL.Failure.self) { try sql("SELECT submit('n', repeat('k', 1025), 'x')") }
        #expect(refusal?.code == "54000")
        #expect(try await work(store).count == 1)
        await store.close()
    }

    @Test
    func `takes text, JSON and bytes, a delay of its own and a token`() async throws {
        let store = try await open(.zero, .collect)
        let sql = try place.session()
        let first = try sql.value("SELECT generation FROM submit('n', 'k', 'text', token => 't')")
        #expect(try sql.value("SELECT generation FROM submit('n', 'k', 'again', token => 't')") == first)
        try sql(#"SELECT submit('n', 'k', '{"a": 1}'::jsonb)"#)
        try sql(#"SELECT submit('n', '\x6b'::bytea, '\x62'::bytea)"#)
        #expect(throws: SQL.Failure.self) { try sql("SELECT submit('n', 'k', NULL::text)") }
        #expect(try sql.value("SELECT due > now() + '59 s' FROM submit('n', 'later', 'x', wait => '1 min')") == "t")
        #expect(try await work(store) == [#"k text+{"a": 1}+b"#])
        #expect(throws: SQL.Failure.self) { try sql("SELECT submit('n', 'other', 'x', token => 't')") }
        #expect(throws: SQL.Failure.self) { try sql("SELECT submit('unknown', 'k', 'x')") }
        await store.close()
    }

    @Test
    func `takes a context of at most 1,024 bytes, with text, JSON and bytes`() async throws {
        let store = try await open()
        let sql = try place.session()
        for key in ["text", "joins"] { try sql("SELECT submit('n', '\(key)', 'v', wait => '0', context => 'c 1')") }
        try sql("SELECT submit('n', 'joins', 'w', context => 'c 2')")
        try sql(#"SELECT submit('n', 'json', '{}'::jsonb, context => 'c 3')"#)
        try sql(#"SELECT submit('n', '\x62'::bytea, '\xff61ff'::bytea, context => 'c 4')"#)
        try sql(#"SELECT submit('n', '\x63'::bytea, '\xff61ff'::bytea)"#)
        try sql("SELECT submit('n', 'long', 'v', context => repeat('é', 512), token => 't')")
        let refusal = #expect(throws: SQL.Failure.self) {
            try sql("SELECT submit('n', 'long', 'w', context => repeat('é', 512) || 'e')")
        }
        #expect(refusal?.code == "54000")
        let terms = DurableClaim.Terms(owner: 1, lease: .seconds(60), maxAttempts: 3)
        let runs = try await store.claim(DurableClaim(namespace: "n", terms: terms, limit: 100)).runs
        let found = runs.map { run in
            "\(String(decoding: run.key, as: UTF8.self)) \(run.values) \(run.context ?? "-")"
        }
        #expect(
            found.sorted() == [
                "b [[255, 97, 255]] c 4", "c [[255, 97, 255]] -", "joins [[119]] c 2", "json [[123, 125]] c 3",
                "long [[118]] \(String(repeating: "é", count: 512))", "text [[118]] c 1",
            ])
        await store.close()
    }

    @Test
    func `joins what is pending with the context of the newest submit`() async throws {
        let store = try await open(.seconds(60))
        let sql = try place.session()
        try sql("SELECT submit('n', 'k', 'v', context => 'old')")
        try sql("SELECT submit('n', 'k', 'w', context => 'new')")
        try sql("SELECT submit('n', 'none', 'v', context => 'old')")
        try sql("SELECT submit('n', 'none', 'w')")
        _ = try await store.flush(nil, in: "n")
        let terms = DurableClaim.Terms(owner: 1, lease: .seconds(60), maxAttempts: 3)
        let runs = try await store.claim(DurableClaim(namespace: "n", terms: terms, limit: 100)).runs
        #expect(runs.map(\.context) == ["new", nil] && runs.map(\.values) == [[[119]], [[119]]])
        await store.close()
    }

    @Test(arguments: [true, false])
    func `that is open blocks its keys only: submits to others, heartbeats and claims go on`(isNewKey: Bool)
        async throws
    {
        let store = try await open()
        if !isNewKey {
            _ = try await store.submit(
                DurableSubmission(namespace: "n", key: Array("held".utf8), value: [], wait: .seconds(60)))
        }
        let user = try place.session()
        try user("BEGIN; SELECT submit('n', 'held', 'user')")
        async let held = submit("app", "held", to: store)
        // In one batch with the held key, and after it.
        for round in 0..<5 {
            async let batch = [submit("1", "a", to: store), submit("2", "b", to: store), submit("3", "c", to: store)]
            #expect(try await batch.count == 3)
            #expect(try await work(store).sorted() == ["a 1", "b 2", "c 3"], "round \(round)")
        }
        try user("COMMIT")
        let receipt = try await held
        #expect(try await store.state(of: receipt) != .forgotten)
        // What was due before its transaction committed is found within a second.
        var found: [String] = []
        try await waitUntil {
            found = try await work(store)
            return !found.isEmpty
        }
        #expect(found == ["held app"])
        await store.close()
    }

    @Test
    func `raises a synchronous_commit that the caller has turned off`() async throws {
        let store = try await open(.seconds(60))
        let sql = try place.session()
        try sql("SET synchronous_commit TO off; BEGIN; SELECT submit('n', 'k', 'x')")
        #expect(try sql.value("SHOW synchronous_commit") == "on")
        try sql("COMMIT")
        #expect(try sql.value("SHOW synchronous_commit") == "off")
        await store.close()
    }

    @Test
    func `of racing transactions on one key each counts, and the last one's value wins`() async throws {
        let store = try await open(.seconds(1))
        let sessions = try (0..<4).map { _ in try place.session() }
        var generations: Set<String> = []
        for round in 0..<25 {
            for session in sessions {
                generations.insert(
                    try #require(try session.value("SELECT generation FROM submit('n', 'k', '\(round)')")))
            }
        }
        #expect(generations.count == 100)
        #expect(try sessions[0].value("SELECT pending_count FROM work") == "100")
        await store.close()
    }
}
