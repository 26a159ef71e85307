import DurableConformance
import Lull
import LullCore
import LullDurable
import LullReference
import TestSupport
import Testing

@testable import LullPostgres

/// Calls of producers that are not the library: functions in SQL add them to the inbox, in the transaction of the
/// caller, and whoever touches their key makes them first.
///
/// `LULL_DIFFERENTIAL` asks for more calls, `LULL_SEED` for other ones or those of a failure.
@Suite("The inbox in PostgreSQL", .onServer, .ownThreads)
struct InboxTests {
    private let calls = environment("LULL_DIFFERENTIAL", default: 1000)
    private let seed = environment("LULL_SEED", default: UInt64(20_261_129))
    private let place = SchemaPlace()

    private func open(
        _ wait: Duration = .zero, _ combination: CombinationRule = .latest
    ) async throws -> (store: PostgresStore, sql: SQL) {
        let store = try await PostgresStore(url: try place.url())
        try await store.open("n", DurableRules(.debounce(for: wait), combination: combination))
        return (store, try place.session())
    }

    private func claim(
        _ store: PostgresStore, limit: Int = 100, in namespace: String = "n"
    ) async throws -> [DurableRun] {
        let terms = DurableClaim.Terms(owner: 1, lease: .seconds(60), maxAttempts: 3)
        let claim = DurableClaim(namespace: namespace, terms: terms, limit: limit)
        return try await limit == 0 ? store.claim(claim).runs : store.claimed(claim)
    }

    /// Executes what is due, and returns it as text.
    private func work(_ store: PostgresStore) async throws -> [String] {
        let runs = try await claim(store)
        for run in runs {
            let report = DurableReport(
                namespace: "n", key: run.key, run: run.number, fence: run.fence, owner: 1, .completed)
            #expect(try await store.report(report) == .accepted)
        }
        return runs.map { run in
            let values = run.values.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "+")
            return "\(String(decoding: run.key, as: UTF8.self)) \(values)"
        }
    }

    // MARK: - Folding

    private func comparison(_ place: String) async throws -> InboxComparison {
        let sql = Session(try SQL(try TestServer.shared.get()))
        return try await InboxComparison(PostgresMaker(), place) { call, key, store, now in
            let schema = try #require(store as? PostgresStore).schema
            func span(_ wait: CoreDuration?) -> String { wait.map { "'\($0.microseconds) us'" } ?? "NULL" }
            func text(_ text: String?) -> String { text.map { "'\($0)'" } ?? "NULL" }
            let parameters =
                switch call {
                case .submit(let value, let wait, let token, let context):
                    ", '\(value)'::text, \(span(wait)), \(text(token)), false, \(text(context))"
                case .touch(let wait): ", \(span(wait)), false"
                case .change(.flush): ", false"
                case .change(.cancel): ""
                }
            let number = try sql.session.value("SELECT \(schema).\(call.name)('n', '\(key)'::text\(parameters))")
            try sql.session("UPDATE \(schema).inbox SET at = \(now.microseconds) WHERE id = \(number ?? "0")")
        }
    }

    @Test
    func `is folded by whatever comes next: calls in SQL lead where direct calls do`() async throws {
        let figures = try await InboxComparison.compare(calls, from: seed) { trial in
            try await comparison("inbox-\(trial)")
        }
        print("\(figures.calls) calls, \(figures.appended) in SQL, no difference")
        #expect(figures.appended > calls / 4)
    }

    @Test
    func `knows tokens: a call counts once, and one with the token of another key is dead with its reason`()
        async throws
    { try await comparison("inbox-tokens").compareTokens() }

    @Test(arguments: [true, false])
    func `is counted, and folded within a second while the worker is paused or busy`(_ isPaused: Bool) async throws {
        let (store, sql) = try await open(.seconds(3600))
        try sql("SELECT count(submit('n', 'key ' || i / 2, 'v')) FROM generate_series(0, 249) i")
        var status = try #require(try await store.status().first)
        #expect(status.entries == 250 && status.pending == 0)
        #expect(try #require(status.oldestEntry) > .zero)
        #expect(try sql("SELECT entries, pending FROM status()") == [["250", "0"]])
        #expect(try sql("SELECT count(*), count(DISTINCT key) FROM entries") == [["250", "125"]])
        let error = await #expect(throws: DurableError.self) { try await store.forget("n") }
        #expect("\(error as Any)".contains("250 calls in the inbox"), "\(error as Any)")

        if isPaused { _ = try await store.pause("n", reason: nil, for: nil) }
        _ = try await claim(store, limit: isPaused ? 1 : 0)
        try await waitUntil { try await store.status().first?.entries == 0 }
        status = try #require(try await store.status().first)
        #expect(status.entries == 0 && status.pending == 125 && status.oldestEntry == nil)
        #expect(try sql.brokenRules(of: place.schema) == [])
        await store.close()
    }

    @Test
    func `wakes a worker of another store, unless the caller must not`() async throws {
        let (store, sql) = try await open()
        let terms = DurableClaim.Terms(owner: 1, lease: .seconds(60), maxAttempts: 1)
        let answer = try await store.claim(DurableClaim(namespace: "n", terms: terms, limit: 1))
        async let woken: Void = store.wait(in: "n", after: answer.mark, atMost: .seconds(30))
        try sql("SELECT submit('n', 'k', 'v')")
        try await woken
        #expect(try await claim(store).map(\.count) == [1])
        try sql("LISTEN \"\(place.schema)\"; BEGIN; SELECT submit('n', 'k', 'v', notify => false)")
        // A transaction that has notified cannot be prepared. The server allows none, which it finds out later.
        let code = #expect(throws: SQL.Failure.self) { try sql("PREPARE TRANSACTION 'p'") }?.code
        #expect(code == "55000", "\(code ?? "")")
        await store.close()
    }

    // MARK: - In a transaction of the caller

    @Test
    func `counts when the transaction commits, and has not happened if it is rolled back`() async throws {
        let (store, sql) = try await open()
        try sql("BEGIN; SELECT submit('n', 'k', 'rolled back'); ROLLBACK")
        #expect(try await work(store) == [])
        try sql("BEGIN; SELECT submit('n', 'k', 'committed')")
        #expect(try await work(store) == [])
        try sql("COMMIT")
        #expect(try await work(store) == ["k committed"])
        await store.close()
    }

    /// At `REPEATABLE READ`, too, and whatever the order of the keys: nobody has a row of theirs.
    @Test
    func `delays nobody while transactions are open, on any key`() async throws {
        let (store, one) = try await open()
        let other = try place.session()
        func submit(_ value: String, _ key: String) async throws {
            _ = try await store.submit(
                DurableSubmission(namespace: "n", key: Array(key.utf8), value: Array(value.utf8)))
        }
        try await submit("0", "a")
        try one("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT submit('n', 'a', 'one'), submit('n', 'b', 'one')")
        try other(
            "BEGIN; SELECT submit('n', 'b', 'other'), submit('n', 'a', 'other'), flush('n', 'a'), cancel('n', 'c')")
        for round in 0..<5 {
            for key in ["a", "b", "c"] { try await submit("\(round)", key) }
            #expect(try await work(store).sorted() == ["a \(round)", "b \(round)", "c \(round)"])
        }
        try one("COMMIT")
        #expect(try await work(store).sorted() == ["a one", "b one"])
        try other("COMMIT")
        #expect(try await work(store).sorted() == ["a other", "b other"])
        await store.close()
    }

    @Test
    func `raises a synchronous_commit that the caller has turned off`() async throws {
        let (store, sql) = try await open(.seconds(60))
        try sql("SET synchronous_commit TO off; BEGIN; SELECT submit('n', 'k', 'x')")
        #expect(try sql.value("SHOW synchronous_commit") == "on")
        try sql("COMMIT")
        #expect(try sql.value("SHOW synchronous_commit") == "off")
        await store.close()
    }

    @Test(arguments: [true, false])
    func `of a namespace that was forgotten shows it again, and nothing is lost`(_ isOpenedAgain: Bool) async throws {
        let (store, sql) = try await open()
        try sql("BEGIN; SELECT submit('n', 'key', 'late')")
        try await store.forget("n")
        #expect(try await store.status() == [])
        if isOpenedAgain { try await store.open("n", DurableRules(.debounce(for: .zero), combination: .collect)) }
        try sql("COMMIT")
        // Under other rules it would be another value, or none.
        let name = try #require(try await store.status().first { $0.entries == 1 }?.namespace)
        #expect((name == "n") != isOpenedAgain, "\(name)")
        let runs = try await claim(store, in: name)
        #expect(runs.map(\.values) == [[Array("late".utf8)]])
        await store.close()
    }

    @Test
    func `may get a call between the steps in which a namespace is forgotten: it stays, with that work`() async throws {
        let (store, sql) = try await open(.seconds(3600))
        let keys = (0..<25).map { DurableSubmission(namespace: "n", key: Array("\($0)".utf8), value: [0x31]) }
        for answer in await store.submit(keys) { _ = try answer.get() }
        #expect(try await store.cancel(nil, in: "n") == 25)
        #expect(try sql("SELECT forget_namespace('n', 10)") == [["more"]])
        #expect(try sql("SELECT count(*) FROM ended") == [["15"]])
        try sql("SELECT submit('n', 'late', '1')")
        #expect(try sql("SELECT forget_namespace('n', 10)") == [["work"]])
        #expect(try await store.cancel(nil, in: "n") == 1)
        for answer in ["more", "forgotten"] { #expect(try sql("SELECT forget_namespace('n', 10)") == [[answer]]) }
        #expect(try await store.status() == [])
        #expect(try sql("SELECT count(*) FROM ended") == [["0"]])
        await store.close()
    }

    /// The row that another one has made of the calls meanwhile may be due: whoever finds neither looks again.
    @Test
    func `is looked at again soon when others fold it during a claim`() async throws {
        let (store, sql) = try await open()
        let terms = DurableClaim.Terms(owner: 1, lease: .seconds(60), maxAttempts: 3)
        for _ in 0..<100 {
            try sql("SELECT submit('n', 'k', 'v')")
            async let folding: Void = store.fold(ShardPlace("n", 0))
            let answer = try await store.claim(DurableClaim(namespace: "n", terms: terms, limit: 9))
            try await folding
            #expect(answer.runs.count == 1 || answer.next.map { $0 <= .milliseconds(50) } == true)
            // A run that the worker does not say to have is handed to it again.
            #expect(try await work(store) == ["k v"])
        }
        await store.close()
    }

    // MARK: - What a call may be

    @Test
    func `takes text, JSON and bytes, a delay of its own, a token and a context`() async throws {
        let (store, sql) = try await open(.zero, .collect)
        try sql("SELECT submit('n', 'k', 'text', context => 'c 1')")
        try sql(#"SELECT submit('n', 'k', '{"a": 1}'::jsonb)"#)
        try sql(#"SELECT submit('n', '\x6b'::bytea, '\xff61ff'::bytea, token => 't', context => 'c 2')"#)
        try sql("SELECT submit('n', 'later', 'x', after => '1 min')")
        let runs = try await claim(store)
        #expect(runs.map(\.values) == [[Array("text".utf8), Array(#"{"a": 1}"#.utf8), [255, 97, 255]]])
        #expect(runs.map(\.context) == ["c 2"])
        let left = try await store.list(in: "n", prefix: Array("later".utf8), from: [], limit: 9)
        #expect(left.first?.dueIn.map { $0 > .seconds(50) } == true)
        await store.close()
    }

    @Test(arguments: [
        ("SELECT submit('n', repeat('k', 1025), 'x')", "54000"), ("SELECT submit('n', 'k', NULL::text)", "22004"),
        ("SELECT submit('n', NULL::text, 'v')", "22004"), ("SELECT submit('unknown', 'k', 'x')", "LUL01"),
        ("SELECT submit('n', 'k', 'x', context => repeat('é', 512) || 'e')", "54000"),
        ("SELECT submit('n', 'k', 'no JSON')", "22P02"),
        ("SELECT append('n', 'k', 'sbumit', NULL, 'v', NULL, NULL, false)", "23514"),
        ("SELECT submit('n', '\\x6b'::bytea, convert_to(repeat('x', 16777217), 'UTF8'))", "54000"),
    ])
    func `refuses what can be seen to be wrong`(_ statement: String, _ code: String) async throws {
        let store = try await PostgresStore(url: try place.url())
        try await store.open(
            "n", DurableRules(try .debounce(for: .zero), combination: .collect, isMerging: true, maxBatch: nil))
        let sql = try place.session()
        let refusal = #expect(throws: SQL.Failure.self) { try sql(statement) }
        #expect(refusal?.code == code)
        try sql("SELECT submit('n', repeat('k', 1024), '{}', context => repeat('é', 512))")
        #expect(try await claim(store).count == 1)
        await store.close()
    }

    @Test
    func `says what has become of a call`() async throws {
        let (store, sql) = try await open()
        func state(_ number: String?) throws -> String? { try sql.value("SELECT state('n', \(number ?? "0"))") }
        let known = try sql.value("SELECT submit('n', 'k', 'v', token => 't')")
        let other = try sql.value("SELECT submit('n', 'other', 'v')")
        #expect(try state(known) == "unfolded")
        #expect(try await store.flush(Array("k".utf8), in: "n") == 0)
        #expect(try state(known) == "pending")
        #expect(try await work(store).count == 2)
        #expect(try state(known) == "completed")
        #expect(try state(other) == "unknown")
        await store.close()
    }
}

/// A session that one task uses at a time.
private struct Session: @unchecked Sendable {
    // Proof: the calls of a comparison follow each other.
    let session: SQL

    init(_ session: SQL) { self.session = session }
}
