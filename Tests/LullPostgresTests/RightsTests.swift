import DurableConformance
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
    func `gives a producer the right to add calls to the inbox, and none to rows`() async throws {
        _ = try place.url()
        let role = try role("producer")
        defer { try? remove(role) }
        let refusal = await #expect(throws: DurableError.self) { try await PostgresStore(url: place.url(user: role)) }
        #expect(refusal?.description.contains("lull.submit") == true, "\(refusal as Any)")
        let sql = try place.session(user: role)
        try sql("SELECT open('n', 'debounce', wait => '1 s')")
        let number = try sql.value("SELECT submit('n', 'k', 'v')")
        #expect(try sql.value("SELECT state('n', \(number ?? ""))") == "unfolded")
        #expect(try sql("SELECT namespace, entries FROM status()") == [["n", "1"]])
        for statement in [
            "SELECT * FROM work", "DELETE FROM work", "SELECT * FROM inbox", "SELECT * FROM keys",
            "SELECT take_numbers(1, 0)", "SELECT adopt()", "SELECT allow('x', 'worker')", "SELECT names()",
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
        let reading = try await PostgresStore(url: try place.url(user: reader))
        #expect(try await reading.status().map { [$0.attempts, $0.runs, $0.executed, $0.failures] } == [[1, 1, 1, 0]])
        #expect(try await reading.list(in: "n", prefix: [], from: [], limit: 9).isEmpty)
        #expect(try await reading.dead(in: "n", limit: 9).isEmpty)
        await #expect(throws: DurableError.self) {
            _ = try await reading.submit(DurableSubmission(namespace: "n", key: [1], value: []))
        }
        await reading.close()
        let sql = try place.session(user: reader)
        #expect(try sql("SELECT namespace, pending FROM status()") == [["n", "0"]])
        #expect(try sql("SELECT * FROM keys").isEmpty && sql("SELECT * FROM entries").isEmpty)
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
        let runs = try await later.claimed(DurableClaim(namespace: "n", terms: terms, limit: 9))
        #expect(Set(runs.map(\.key)) == [[1], Array("k".utf8)])
        #expect(throws: SQL.Failure.self) { try place.session(user: role)("SELECT * FROM names()") }
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
