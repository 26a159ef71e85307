import Foundation
import LullDurable
import TestSupport
import Testing

@testable import LullPostgres

/// The original of a copy may be at work: both would execute the same runs, under the same numbers.
@Suite("A copy of a database", .onServer)
struct CopyTests {
    enum Way: String, CaseIterable {
        case dump, template
        /// The dump takes the place of the database.
        case restoration
    }

    private let server: TestServer
    private let name = "copied_" + UUID().uuidString.prefix(8).lowercased()

    init() throws {
        server = try TestServer.shared.get()
        try SQL(server)("CREATE DATABASE \(name)")
    }

    private func url(_ name: String) -> String {
        server.url().replacing("/postgres?", with: "/\(name)?")
    }

    private func store(_ name: String) async throws -> PostgresStore { try await PostgresStore(url: url(name)) }

    private func claim(_ store: PostgresStore) async throws -> [DurableRun] {
        let terms = DurableClaim.Terms(owner: 1, lease: .seconds(60), maxAttempts: 3)
        return try await store.claim(DurableClaim(namespace: "n", terms: terms, limit: 10)).runs
    }

    /// Creates the schema with a value that is due.
    private func prepare() async throws -> DurableReceipt {
        try PostgresSchema(url: url(name)).apply()
        let store = try await store(name)
        try await store.open("n", DurableRules(.debounce(for: .zero)))
        let receipt = try await store.submit(DurableSubmission(namespace: "n", key: [1], value: [2]))
        await store.close()
        return receipt
    }

    private func shell(_ script: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "PATH='\(TestServer.programs ?? "")':$PATH; set -e; \(script)"]
        process.environment = ["PGHOST": server.folder, "PGUSER": "lull", "PATH": "/usr/bin:/bin"]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    /// - Returns: The name of the copy.
    private func copy(_ way: Way) throws -> String {
        let copy = name + "_copy"
        let dump = server.folder + "/\(name).sql"
        switch way {
        case .dump:
            try SQL(server)("CREATE DATABASE \(copy)")
            try shell("pg_dump \(name) | psql -q -v ON_ERROR_STOP=1 \(copy) >/dev/null")
        case .template: try SQL(server)("CREATE DATABASE \(copy) TEMPLATE \(name)")
        case .restoration:
            try shell(
                "pg_dump \(name) >\(dump); psql -q -c 'SET client_min_messages TO error; DROP SCHEMA lull CASCADE' "
                    + "\(name)"
            )
            try shell("psql -q -v ON_ERROR_STOP=1 -f \(dump) \(name) >/dev/null; rm \(dump)")
            return name
        }
        return copy
    }

    @Test(arguments: Way.allCases)
    func `hands out no runs until it is adopted, and then under numbers that the original cannot have used`(_ way: Way)
        async throws
    {
        let before = try await prepare()
        let copy = try copy(way)
        let original = try await store(name)
        let run = way == .restoration ? nil : try await claim(original).first
        await original.close()
        #expect((run == nil) == (way == .restoration))

        let restored = try await store(copy)
        let refusal = await #expect(throws: DurableError.self) { try await claim(restored) }
        #expect(refusal?.description.contains("lull adopt") == true)
        try PostgresSchema(url: url(copy)).adopt()
        let again = try #require(try await claim(restored).first)
        #expect(again.values == [[2]])
        if let run { #expect(again.fence > run.fence) }
        let after = try await restored.submit(DurableSubmission(namespace: "n", key: [9], value: [2]))
        #expect(after.generation > before.generation + (1 << 40))
        await restored.close()
    }

    @Test
    func `is not recognised as one if only the name of the database has changed`() async throws {
        _ = try await prepare()
        try SQL(server)("ALTER DATABASE \(name) RENAME TO \(name)_new")
        let store = try await store(name + "_new")
        #expect(try await claim(store).count == 1)
        await store.close()
    }
}
