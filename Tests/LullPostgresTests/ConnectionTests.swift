import Lull
import LullCore
import LullDurable
import LullPostgres
import TestSupport
import Testing

/// Connections that are cut, lose their answers, or fall silent.
@Suite("Connections", .onServer, .ownThreads)
struct ConnectionTests {
    private let place = SchemaPlace()

    private func trial(timeLimit: Duration = .seconds(30)) async throws -> ConnectionTrial {
        _ = try place.url()
        let proxy = try Proxy(to: TestServer.shared.get())
        let store = try await PostgresStore(url: proxy.url(place.schema), timeLimit: timeLimit)
        return try await ConnectionTrial(store, through: proxy) { try place.session().pending() }
    }

    @Test
    func `to a database that is read-only refuse a submit, and say so`() async throws {
        let url = try place.url()
        let writable = try await PostgresStore(url: url)
        try await writable.open("n", DurableRules(.debounce(for: .seconds(3600))))
        let store = try await PostgresStore(
            url: url + "&options=-c%20default_transaction_read_only%3Don", timeLimit: .seconds(1))
        var refusal: String?
        while refusal == nil {
            do {
                _ = try await store.submit(.numbered(1))
                refusal = "none: it was recorded"
            } catch DurableError.refused(let why) {
                refusal = why
            } catch DurableError.unknown {
                // The time was up just when it was being tried once more.
            }
        }
        #expect(
            refusal?.hasPrefix("the database is read-only: it is a replica, or is set so") == true,
            "\(String(describing: refusal))")
        #expect(try await store.status().first?.pending == 0)
        #expect(try place.session().pending() == 0)
    }

    @Test
    func `that lose answers leave no submit unknown, and none is recorded twice`() async throws {
        try await trial().losesAnswers()
    }

    @Test
    func `that lose answers hand out each run once, in its first attempt`() async throws {
        _ = try place.url()
        let proxy = try Proxy(to: TestServer.shared.get())
        let store = try await PostgresStore(url: proxy.url(place.schema))
        try await store.open("w", DurableRules(.debounce(wait: .zero)))
        let terms = DurableClaim.Terms(owner: 1, lease: .seconds(600), maxAttempts: 3)
        proxy.change(to: .losesSomeAnswers)
        var attempts: [Int] = []
        var reports: [DurableReport] = []
        for number in 0..<60 {
            _ = try await store.submit(DurableSubmission(namespace: "w", key: [UInt8(number)], value: [1]))
            let exchange = await store.exchange(reports, DurableClaim(namespace: "w", terms: terms, limit: 4))
            for answer in exchange.reports { #expect(try [.accepted, .alreadyDone].contains(answer.get())) }
            let runs = try #require(try exchange.claim?.get()).runs
            attempts += runs.map(\.attempt)
            reports = runs.map { run in
                DurableReport(namespace: "w", key: run.key, run: run.number, fence: run.fence, owner: 1, .completed)
            }
        }
        #expect(proxy.lost > 5)
        #expect(attempts == Array(repeating: 1, count: 60))
        await store.close()
        proxy.close()
    }

    @Test
    func `that are cut are made again`() async throws {
        try await trial().isCut()
    }

    @Test
    func `that fall silent end within the time limit, with an error that says what is known`() async throws {
        try await trial(timeLimit: .seconds(1)).fallsSilent()
    }

    /// A number of a transaction may be used again after a crash, so what became of one cannot be asked by its number.
    @Test(.longForm)
    func `whose answer is lost before the server crashes leave a submit that is recorded once`() async throws {
        let server = try TestServer()
        try PostgresSchema(url: server.url()).apply()
        let proxy = try Proxy(to: server)
        let store = try await PostgresStore(url: proxy.url("lull"))
        try await store.open("n", DurableRules(.debounce(for: .seconds(3600))))
        let first = try await store.submit(.numbered(0))
        // A column of what the function returns that writes rows.
        proxy.change(to: .losesAnswers(with: "conflicts"))
        let unanswered = Task { try await store.submit(.numbered(5)) }
        func pending() throws -> Int {
            let sql = try SQL(server)
            try sql("SET search_path TO lull")
            return try sql.pending()
        }
        try await waitUntil { try pending() == 2 }
        server.crash()
        try server.start()
        let sql = try SQL(server)
        for _ in 0..<100 { try sql("SELECT txid_current()") }
        proxy.change(to: .forwards)
        #expect(try await unanswered.value.generation == first.generation + 1)
        #expect(try pending() == 2)
        await store.close()
        proxy.close()
    }
}
