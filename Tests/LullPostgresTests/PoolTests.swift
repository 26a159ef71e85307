import DurableConformance
import Foundation
import Lull
import LullDurable
import LullPostgres
import TestSupport
import Testing

/// Other ways to the server: through PgBouncer in transaction mode, and from Python.
@Suite("Pools and other languages", .onServer, .ownThreads)
struct PoolTests {
    static let bouncer = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }
    static let python: String? = {
        let path = "/usr/bin/python3"
        let look = Process()
        look.executableURL = URL(fileURLWithPath: path)
        look.arguments = ["-c", "import psycopg2"]
        look.standardError = FileHandle.nullDevice
        guard (try? look.run()) != nil else { return nil }
        look.waitUntilExit()
        return look.terminationStatus == 0 ? path : nil
    }()

    private let place = SchemaPlace()

    @Test(.enabled(if: bouncer != nil, "PgBouncer is not installed: make test-servers installs it"))
    func `a store works through PgBouncer in transaction mode`() async throws {
        _ = try place.url()
        let server = try TestServer.shared.get()
        let folder = server.folder + "/pool"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let settings = """
            [databases]
            postgres = host=\(server.folder) port=5432 dbname=postgres user=lull pool_size=3
            [pgbouncer]
            listen_addr =
            unix_socket_dir = \(folder)
            listen_port = 5432
            auth_type = any
            pool_mode = transaction
            """
        try settings.write(toFile: folder + "/pgbouncer.ini", atomically: true, encoding: .utf8)
        chmod(folder, 0o777)
        // The shell ends the pool when its input ends, as it does with this process: it starts with signals blocked.
        let pool = Process()
        pool.executableURL = URL(fileURLWithPath: "/bin/sh")
        let user = getuid() == 0 ? "setpriv --reuid=nobody --regid=nogroup --clear-groups" : ""
        let bouncer = Self.bouncer ?? ""
        pool.arguments = [
            "-c", "\(user) \(bouncer) -q '\(folder)/pgbouncer.ini' 2>/dev/null & read -r line; kill -9 $!",
        ]
        let input = Pipe()
        pool.standardInput = input
        try pool.run()
        defer {
            try? input.fileHandleForWriting.close()
            pool.waitUntilExit()
        }

        let url = "postgres://lull@/postgres?host=\(folder)&schema=\(place.schema)"
        let store = try await PostgresStore(url: url)
        let numbers = try await DurableDebouncer<String, Int>(for: .milliseconds(20), namespace: "n", in: store)
        let done = Guarded<Set<String>>([])
        let working = Task {
            try await numbers.run { execution in _ = done.change { $0.insert("\(execution.key) \(execution.value)") } }
        }
        // More connections than the pool has: each transaction of one may have another process of the server.
        try await withThrowingTaskGroup { group in
            for producer in 0..<8 {
                group.addTask {
                    let store = try await PostgresStore(url: url)
                    let numbers = try await DurableDebouncer<String, Int>(
                        for: .milliseconds(20), namespace: "n", in: store)
                    for key in 0..<5 { _ = try await numbers.submit(key, for: "\(producer) \(key)") }
                    await store.close()
                }
            }
            try await group.waitForAll()
        }
        try await waitUntil { done.value.count >= 40 }
        #expect(done.value.count == 40)
        working.cancel()
        _ = await working.result
        await store.close()
    }

    @Test(.enabled(if: python != nil, "psycopg2 is not installed: make test-servers installs it"))
    func `Python submits with one statement, in a transaction of its own`() async throws {
        let url = try place.url()
        let store = try await PostgresStore(url: url)
        let rules = try DurableRules(.debounce(for: .zero), combination: .collect)
        try await store.open("order-mails", rules)
        let script = """
            import json, psycopg2
            with psycopg2.connect(host="\(try TestServer.shared.get().folder)", user="lull", dbname="postgres") \
            as database:
                with database.cursor() as cursor:
                    cursor.execute(
                        "SELECT \\"\(place.schema)\\".submit(%s, %s, %s::jsonb, token => %s)",
                        ("order-mails", "17", json.dumps({"id": 17}), "request-1"))
                    print(cursor.fetchone()[0])
            """
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Self.python ?? "")
        process.arguments = ["-c", script]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let terms = DurableClaim.Terms(owner: 1, lease: .seconds(60), maxAttempts: 3)
        let runs = try await store.claimed(DurableClaim(namespace: "order-mails", terms: terms, limit: 1))
        let number = text.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(try place.session().value("SELECT state('order-mails', \(number))") == "pending")
        #expect(runs.first?.values == [Array(#"{"id": 17}"#.utf8)])
        await store.close()
    }
}
