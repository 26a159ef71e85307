import Foundation
import Lull
import LullDurable
import LullPostgres
import TestSupport
import Testing

/// The example of the page about stores: an order is changed in a transaction, and the mail about it goes out when it
/// has stopped changing.
@Suite("The example of the page about stores", .onServer)
struct ExampleTests {
    private struct Order: Codable, Sendable, Equatable {
        var id: Int
        var status: String
    }

    private let place = SchemaPlace()

    /// The statements of a page.
    private func statements(_ path: String = "docs/stores.md") throws -> [String] {
        let page = try String(contentsOf: ArticleCode.root.appending(path: path), encoding: .utf8)
        return page.components(separatedBy: "```sql\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
            .map { $0.replacing("lull.", with: "\"\(place.schema)\".") }
    }

    @Test
    func `its statements open the namespace and submit what the worker gets`() async throws {
        let url = try place.url()
        let sql = try place.session()
        try sql("CREATE TABLE orders (id int PRIMARY KEY, status text); INSERT INTO orders VALUES (17, 'new')")
        let statements = try statements()
        #expect(statements.count == 2)
        for statement in statements { try sql(statement) }
        #expect(try sql.value("SELECT status FROM orders") == "packed")

        let store = try await PostgresStore(url: url)
        let sent = Guarded<[Order]>([])
        let mails = try await DurableDebouncer<Int, Order>(
            for: .seconds(600), maxWait: .seconds(3600), namespace: "order-mails", in: store)
        try sql("SELECT flush('order-mails', '17')")
        let work = Task {
            try await mails.run { execution in sent.change { $0.append(execution.value) } }
        }
        try await waitUntil { !sent.value.isEmpty }
        work.cancel()
        _ = await work.result
        #expect(sent.value == [Order(id: 17, status: "packed")])
        await store.close()
    }

    @Test
    func `the statements of the module's page run, and its trigger submits`() throws {
        _ = try place.url()
        let sql = try place.session()
        try sql("SELECT open('order-mails', 'debounce', wait => '10 min', combination => 'collect')")
        try sql("CREATE TABLE orders (id int PRIMARY KEY, status text); INSERT INTO orders VALUES (17, 'new')")
        let roles = ["shop", "mailer", "grafana"]
        for role in roles { try sql("DROP ROLE IF EXISTS \(role); CREATE ROLE \(role)") }
        let statements = try statements("Sources/LullPostgres/LullPostgres.docc/LullPostgres.md")
        #expect(statements.count == 3)
        for statement in statements { try sql(statement) }
        try sql("UPDATE orders SET status = 'sent' WHERE id = 17")
        let values = try sql("SELECT convert_from(value, 'UTF8') FROM inbox ORDER BY id").map { $0[0] }
        #expect(values == [#"{"id": 17}"#, #"{"id": 17, "status": "sent"}"#])
        for role in roles { try sql("DROP OWNED BY \(role); DROP ROLE \(role)") }
    }

    @Test
    func `a namespace that cannot be what a statement says is an error`() throws {
        _ = try place.url()
        let sql = try place.session()
        try sql("SELECT open('n', 'debounce', wait => '10 min')")
        let change = "SELECT open('n', 'debounce', wait => '5 min', max_wait => '1 h'"
        let refusal = #expect(throws: SQL.Failure.self) { try sql("\(change))") }
        #expect(
            refusal?.description.contains(
                "'n' has another policy (wait: 00:10:00, here 00:05:00; max_wait: none, here 01:00:00)") == true,
            "\(refusal as Any)")
        #expect(refusal?.description.contains("with changing_policy => true") == true)
        #expect(try sql.value("SELECT (rules('n'))[3]") == nil)
        try sql("\(change), changing_policy => true)")
        #expect(try sql.value("SELECT (rules('n'))[3]") == "3600000000000")
        #expect(throws: SQL.Failure.self) { try sql("SELECT open('n', 'throttle', '5 min', changing_policy => true)") }
        #expect(throws: SQL.Failure.self) { try sql("SELECT open('n', 'debounce', '5 min', combination => 'collect')") }
        try sql("SELECT open('m', 'debounce', wait => '5 min', combination => 'collect', merges => true)")
        #expect(throws: SQL.Failure.self) { try sql("SELECT open('m', 'debounce', '5 min', combination => 'collect')") }
        #expect(throws: SQL.Failure.self) { try sql("SELECT open('p', 'debounce', '5 min', merges => true)") }
        #expect(throws: SQL.Failure.self) { try sql("SELECT open('o', 'debounce', wait => '-1 s')") }
        try sql("SELECT open('t', 'throttle', wait => '1 s')")
        #expect(try sql.value("SELECT (rules('t'))[4]") == "3")
        for wrong in [
            "kind => 'bounce'", "combination => 'last'", "restart => 'soon'", "max_wait => '1 min'",
            "spacing => '-1 s'",
            "on_trailing => false", "max_count => 0", "max_batch => 2", "max_running => 0", "starts => 1",
            "period => '1 s'", "starts => 2, period => '1 s', burst => 3",
        ] {
            let kind = wrong.hasPrefix("kind") ? "" : "kind => 'debounce', "
            let refusal = #expect(throws: SQL.Failure.self, "\(wrong)") {
                try sql("SELECT open('x', \(kind)wait => '5 min', \(wrong))")
            }
            #expect(refusal?.code == "22023", "\(wrong): \(refusal as Any)")
        }
        #expect(try sql.value("SELECT rules('x') IS NULL") == "t")
    }

    // The sample of the page, which is compiled here.
    private func send(mailAbout order: Order, run: DurableRun.ID) async throws {}

    private func sample() async throws {
        let store = try await PostgresStore(url: "postgres://mailer@db.example.com/shop")
        let mails = try await DurableDebouncer<Int, Order>(
            for: .seconds(600), maxWait: .seconds(3600), namespace: "order-mails", in: store)
        try await mails.run { execution in
            try await send(mailAbout: execution.value, run: execution.runID)
        }
    }

    @Test
    func `its code is the code above`() throws {
        let page = try ArticleCode("docs/stores.md")
        #expect(page.samples.count == 1)
        #expect(try page.missing(from: "Tests/LullPostgresTests/ExampleTests.swift") == [])
    }
}
