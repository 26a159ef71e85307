import LullDurable
import TestSupport
import Testing

@testable import LullPostgres

/// The rights of roles, and the version of a schema.
@Suite("The schema", .onServer)
struct RightsTests {
    private let place = SchemaPlace()

    private func role(_ part: String) throws -> String {
        let name = "\(part)_\(place.schema)".lowercased().replacing("-", with: "_")
        let owner = try place.session()
        try owner("DROP ROLE IF EXISTS \(name); CREATE ROLE \(name) LOGIN; SELECT allow('\(name)', '\(part)')")
        return name
    }

    private func remove(_ role: String) throws { try place.session()("DROP OWNED BY \(role); DROP ROLE \(role)") }

    @Test func `a quote that a mark combines with is quoted, too`() {
        #expect(
            "it\u{301}s a '\u{301} and a \\\u{302}".quoting("\\'", with: "\\")
                == "it\u{301}s a \\'\u{301} and a \\\\\u{302}")
        #expect("\"\u{301}".quoting("\"", with: "\"").unicodeScalars.filter { $0 == "\"" }.count == 2)
    }

    @Test
    func `gives a producer the right to submit, and none to claim or to the tables`() async throws {
        _ = try place.url()
        let role = try role("producer")
        defer { try? remove(role) }
        let store = try await PostgresStore(url: try place.url(user: role))
        try await store.open("n", DurableRules(.debounce(for: .zero)))
        let receipt = try await store.submit(DurableSubmission(namespace: "n", key: [1], value: [2]))
        #expect(try await store.state(of: receipt) == .ready)
        let terms = DurableClaim.Terms(owner: 1, lease: .seconds(60), maxAttempts: 3)
        await #expect(throws: DurableError.self) {
            try await store.claim(DurableClaim(namespace: "n", terms: terms, limit: 1))
        }
        await store.close()
        let sql = try place.session(user: role)
        try sql("SELECT submit('n', 'k', 'v')")
        for statement in [
            "SELECT * FROM work", "DELETE FROM work", "SELECT birth()", "SELECT adopt()", "SELECT allow('x', 'worker')",
        ] {
            #expect(throws: SQL.Failure.self, "\(statement)") { try sql(statement) }
        }
    }

    @Test
    func `gives a worker all that it needs, and a reader the right to look`() async throws {
        _ = try place.url()
        let (worker, reader) = (try role("worker"), try role("reader"))
        defer { for role in [worker, reader] { try? remove(role) } }
        let store = try await PostgresStore(url: try place.url(user: worker))
        let numbers = try await DurableDebouncer<String, Int>(for: .zero, namespace: "n", in: store)
        try await numbers.submit(7, for: "k")
        let working = Task {
            try await numbers.run { (_: DurableExecution<String, Int>) in }
        }
        try await waitUntil { try await store.status().allSatisfy { $0.attempts == 1 && $0.running == 0 } }
        working.cancel()
        _ = await working.result
        await store.close()
        let sql = try place.session(user: reader)
        #expect(try sql("SELECT attempts, runs, executed, failures FROM status()") == [["1", "1", "1", "0"]])
        for question in ["list('n')", "upcoming('n')", "dead('n')", "dead_runs('n')", "dead_run('n', 1)"] {
            #expect(try sql("SELECT * FROM \(question)").isEmpty)
        }
        #expect(throws: SQL.Failure.self) { try sql("SELECT submit('n', 'k', 'v')") }
    }

    @Test
    func `that is brought to a later version keeps its data and its rights`() async throws {
        let url = try place.url()
        let role = try role("producer")
        defer { try? remove(role) }
        let store = try await PostgresStore(url: url)
        try await store.open("n", DurableRules(.debounce(for: .zero)))
        _ = try await store.submit(DurableSubmission(namespace: "n", key: [1], value: [2]))
        await store.close()
        // What follows the change of the tables, in every migration.
        try place.session()(Schema.script(for: #""\#(place.schema)""#, from: Schema.version))
        try place.session(user: role)("SELECT submit('n', 'k', 'v')")
        let later = try await PostgresStore(url: url)
        let terms = DurableClaim.Terms(owner: 1, lease: .seconds(60), maxAttempts: 3)
        let runs = try await later.claim(DurableClaim(namespace: "n", terms: terms, limit: 9)).runs
        #expect(Set(runs.map(\.key)) == [[1], Array("k".utf8)])
        #expect(throws: SQL.Failure.self) { try place.session(user: role)("SELECT * FROM status()") }
        await later.close()
    }

    @Test
    func `that is missing, or of another version, is refused with the command that mends it`() async throws {
        let server = try TestServer.shared.get()
        let missing = await #expect(throws: DurableError.self) { try await PostgresStore(url: server.url("missing")) }
        #expect(missing?.description.contains("lull schema") == true)
        let url = try place.url()
        #expect(try PostgresSchema(url: url).script() == "")
        #expect(try PostgresSchema(url: url).apply() == false)
        try place.session()("UPDATE meta SET version = 99")
        let newer = await #expect(throws: DurableError.self) { try await PostgresStore(url: url) }
        #expect(newer?.description.contains("newer") == true)
        #expect(throws: DurableError.self) { try PostgresSchema(url: url).apply() }
    }
}
