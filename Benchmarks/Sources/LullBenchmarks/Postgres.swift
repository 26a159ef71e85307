import Allocations
import Foundation
internal import LullCore
import LullDurable
import LullPostgres

// Rows: the PostgreSQL store against the bare upsert of one row with an index on the due instant, on a server of the
// benchmark's own. What is one statement of a client is measured with `pgbench`, the server's own client.

enum Postgres {
    static let namespace = Servers.namespace
    private static let value = Servers.value

    /// A server with the schema, the floor's table and 10,000 keys in each.
    static func onServer(_ body: (TestServer) throws -> [Line]) -> [Line] {
        guard TestServer.isInstalled else {
            return [Line("not measured: PostgreSQL is not installed (make test-servers installs it)", Spread(.nan), "")]
        }
        do {
            let server = try TestServer(settings: ["shared_buffers=256MB", "max_wal_size=4GB"])
            try PostgresSchema(url: server.url()).apply()
            return try body(server)
        } catch {
            return [Line("not measured: \(error)", Spread(.nan), "")]
        }
    }

    static func submits(_ effort: Effort) -> [Line] {
        onServer { server in
            let seconds = effort.rounds > 5 ? 5 : 2
            let store = blocking { try await PostgresStore(url: server.url()) }
            _ = blocking { try await store.open(namespace, DurableRules(.debounce(wait: .seconds(36000)))) }
            try server.psql(
                """
                CREATE TABLE floor (key bytea PRIMARY KEY, value bytea NOT NULL, due bigint NOT NULL)
                WITH (fillfactor = 50);
                CREATE INDEX ON floor (due);
                INSERT INTO floor SELECT convert_to('key-' || k, 'UTF8'), '\(value)', k
                FROM generate_series(1, 10000) k
                """)
            Servers.fill(store, (1...10_000).map { "key-\($0)" })
            try server.psql("VACUUM ANALYZE")
            let stores = blocking { () async throws -> [any StoreCalls] in
                var stores: [any StoreCalls] = []
                for _ in 0..<8 { stores.append(try await PostgresStore(url: server.url())) }
                return stores
            }
            let due = "(date_part('epoch', clock_timestamp()) * 1000000)::bigint + 36000000000"
            let conflict = "ON CONFLICT (key) DO UPDATE SET value = excluded.value, due = excluded.due"
            let one = """
                \\set k random(1, 10000)
                INSERT INTO floor VALUES (convert_to('key-' || :k, 'UTF8'), '\(value)'::bytea, \(due)) \(conflict);
                """
            let many = """
                INSERT INTO floor SELECT DISTINCT ON (k) convert_to('key-' || k, 'UTF8'), '\(value)'::bytea, \(due)
                FROM (SELECT 1 + (random() * 9999)::int AS k FROM generate_series(1, 64)) s ORDER BY k \(conflict);
                """
            let submit = """
                \\set k random(1, 10000)
                SELECT lull.submit('\(namespace)', convert_to('key-' || :k, 'UTF8'), '\(value)'::bytea);
                """
            var rates: [[Double]] = Array(repeating: [], count: 10)
            for _ in 0..<max(3, effort.rounds / 2) {
                rates[0].append(try server.pgbench(one, connections: 8, seconds: seconds))
                rates[1].append(try server.pgbench(submit, connections: 8, seconds: seconds))
                rates[2].append(64 * (try server.pgbench(many, connections: 1, seconds: seconds)))
                rates[3].append(Servers.rate(of: store, keys: 10_000, seconds: seconds))
                rates[4].append(try server.pgbench(one, connections: 1, seconds: seconds))
                rates[5].append(try Servers.rate(ofProcesses: 4, at: server.url(), keys: 1, seconds: seconds))
                rates[9].append(Servers.rate(ofCallsTo: stores, keys: 10_000, seconds: seconds))
                rates[8].append(try Servers.rate(ofProcesses: 4, at: server.url(), keys: 10_000, seconds: seconds))
            }
            let hot =
                try Double(
                    server.psql(
                        "SELECT 100.0 * n_tup_hot_upd / n_tup_upd FROM pg_stat_user_tables WHERE relname = 'work'"))
                ?? .nan
            let snapshot = try server.holdSnapshot()
            for _ in 0..<3 {
                rates[6].append(try server.pgbench(one, connections: 8, seconds: 2 * seconds))
                rates[7].append(try server.pgbench(submit, connections: 8, seconds: 2 * seconds))
            }
            snapshot.terminate()
            blocking {
                for store in stores + [store] { await store.close() }
            }
            func line(
                _ subject: String, _ side: Int, _ reference: String, _ other: Int, _ target: Line.Target
            ) -> Line {
                Line(
                    subject, Spread(rates[side]), "/s", against: reference, Spread(rates[other]),
                    ratio: Spread(zip(rates[side], rates[other]).map { $0 / $1 }), target: target)
            }
            return [
                line("lull.submit over 8 connections", 1, "the bare upsert", 0, .ratioAtLeast(0.8)),
                line("the same under a held snapshot", 7, "the bare upsert", 6, .ratioAtLeast(0.5)),
                line("8 stores, one call after another", 9, "the bare upsert", 0, .ratioAtLeast(0.35)),
                line("64 tasks at once through one store", 3, "64 rows a statement", 2, .ratioAtLeast(0.8)),
                line("the same", 3, "a row a statement", 4, .ratioAtLeast(5)),
                Line("the same", Spread(rates[3]), "/s", target: .figureAtLeast(30_000)),
                line("64 tasks in each of 4 processes, one key", 5, "10,000 keys", 8, .ratioAtLeast(2)),
                Line("updates that touch no index", Spread(hot), "%", target: .figureAtLeast(95)),
            ]
        }
    }

    static func runs(_ effort: Effort) -> [Line] {
        onServer { server in
            let count = effort.rounds > 5 ? 100_000 : 20_000
            let store = blocking { try await PostgresStore(url: server.url()) }
            var rates: [[Double]] = [[], []]
            for round in 0..<6 {
                _ = blocking {
                    try await store.open(namespace, Servers.rules(isLimited: round % 2 == 1), changingPolicy: true)
                }
                Servers.fill(store, (0..<count).map { "\(round)-\($0)" })
                try server.psql("VACUUM ANALYZE lull.work")
                rates[round % 2].append(Double(count) / (try Servers.drain(server.url(), processes: 4)))
            }
            blocking { await store.close() }
            let ends = try server.psql(
                "SELECT count(*) || ' ' || count(DISTINCT run) FROM lull.ended WHERE how = 'completed'")
            guard ends == "\(6 * count) \(6 * count)" else {
                return [Line("not measured: \(ends) runs have ended, not \(6 * count)", Spread(.nan), "")]
            }
            return Servers.lines(rates[0], limited: rates[1], target: .figureAtLeast(30_000))
        }
    }

    /// How fast a worker makes the calls that wait in the inbox, and how long a status takes meanwhile.
    static func inbox(_ effort: Effort) -> [Line] {
        onServer { server in
            let count = effort.rounds > 5 ? 1_000_000 : 100_000
            let store = blocking { try await PostgresStore(url: server.url()) }
            _ = blocking { try await store.open(namespace, DurableRules(.debounce(wait: .seconds(36000)))) }
            try server.psql(
                """
                SELECT count(lull.submit('\(namespace)', 'key-' || k % 10000, '\(value)'::text, notify => false))
                FROM generate_series(1, \(count)) k;
                VACUUM ANALYZE lull.inbox
                """)
            let (time, longest) = blocking {
                let terms = DurableClaim.Terms(owner: 1, lease: .seconds(3600), maxAttempts: 3)
                let start = ContinuousClock.now
                async let folding: Void = {
                    while try await store.status().first?.entries != 0 {
                        for _ in 0..<20 {
                            _ = await store.exchange([], DurableClaim(namespace: namespace, terms: terms, limit: 64))
                        }
                    }
                }()
                let other = try await PostgresStore(url: server.url())
                var longest = Duration.zero
                while true {
                    let asked = ContinuousClock.now
                    let status = try await other.status().first
                    longest = max(longest, .now - asked)
                    if status?.entries == 0 { break }
                    try await Task.sleep(for: .milliseconds(20))
                }
                try await folding
                let time = ContinuousClock.now - start
                await other.close()
                return (time, longest)
            }
            blocking { await store.close() }
            return [
                Line(
                    "calls made by a worker", Spread(Double(count) / (time / .seconds(1))), "/s",
                    target: .figureAtLeast(30_000)),
                Line(
                    "a status meanwhile, the longest", Spread(longest / .milliseconds(1)), "ms",
                    target: .figureAtMost(100)),
            ]
        }
    }
}

extension TestServer {
    /// Holds a snapshot until the process is terminated.
    fileprivate func holdSnapshot() throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: (Self.programs ?? "") + "/psql")
        process.arguments = [
            "-h", folder, "-U", "lull", "-d", "postgres", "-c", "BEGIN ISOLATION LEVEL REPEATABLE READ",
            "-c", "SELECT count(*) FROM floor", "-c", "SELECT pg_sleep(600)",
        ]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }

    /// The rate of a script over some connections, with unnamed statements, as behind a pooler.
    fileprivate func pgbench(_ script: String, connections: Int, seconds: Int) throws -> Double {
        let file = FileManager.default.temporaryDirectory.appending(path: "lull-\(getpid()).sql")
        try Data(script.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let output = try run(
            "pgbench",
            [
                "-n", "-M", "extended", "-c", "\(connections)", "-j", "\(min(connections, 2))", "-T", "\(seconds)",
                "-f", file.path,
            ]
                + ["postgres"])
        guard let match = output.firstMatch(of: /tps = ([0-9.]+)/), let rate = Double(match.1) else {
            throw NotStarted(description: "pgbench printed no rate")
        }
        return rate
    }
}
