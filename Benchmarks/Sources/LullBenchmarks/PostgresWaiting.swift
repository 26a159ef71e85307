import Foundation
import Lull
import LullDurable
import LullPostgres
import Synchronization

// Rows: how late a worker in a database is, and what it costs while nothing happens.

extension Postgres {
    /// How late executions begin whose submits came from another store, as from another process.
    static func lateness(_ effort: Effort) -> [Line] {
        onServer { server in
            let count = effort.rounds > 5 ? 200 : 50
            let lines = [Duration.seconds(1), .milliseconds(50)].map { wait in
                let spread = blocking {
                    try await lateness(of: wait, count: count, at: server.url())
                }
                let what = wait >= .seconds(1) ? "a wait of 1 s" : "a wait of 50 ms"
                return Line("p99 after due, \(what)", spread, "ms", target: .figureAtMost(100))
            }
            return lines
        }
    }

    private static func lateness(of wait: Duration, count: Int, at url: String) async throws -> Spread {
        let producer = try await PostgresStore(url: url)
        let worker = try await PostgresStore(url: url)
        let name = "late-\(wait.components.attoseconds)"
        let submits = try await DurableDebouncer<Int, Int>(for: wait, namespace: name, in: producer)
        let works = try await DurableDebouncer<Int, Int>(for: wait, namespace: name, in: worker)
        let starts = Starts()
        let working = Task { try await works.run { execution in starts.add(execution.key) } }
        var dues: [ContinuousClock.Instant] = []
        for number in 0..<count {
            let receipt = try await submits.submit(number, for: number)
            dues.append(.now + (receipt.dueIn ?? .zero))
            try await Task.sleep(for: .milliseconds(7))
        }
        while starts.count < count { try await Task.sleep(for: .milliseconds(5)) }
        working.cancel()
        _ = await working.result
        await producer.close()
        await worker.close()
        let late = starts.all.map { key, start in
            let (seconds, attoseconds) = (start - dues[key]).components
            return max(0, Double(seconds) * 1000 + Double(attoseconds) / 1e15)
        }.sorted()
        return Spread(late[late.count * 99 / 100])
    }

    /// What workers ask while nothing happens.
    static func idle(_ effort: Effort) -> [Line] {
        onServer { server in
            let (workers, seconds) = (20, effort.rounds > 5 ? 20 : 5)
            let rate = blocking { () async throws -> Double in
                var stores: [PostgresStore] = []
                var tasks: [Task<Void, any Error>] = []
                for _ in 0..<workers {
                    let store = try await PostgresStore(url: server.url())
                    let works = try await DurableDebouncer<Int, Int>(for: .seconds(1), namespace: "idle", in: store)
                    tasks.append(Task { try await works.run { (_: DurableExecution<Int, Int>) in } })
                    stores.append(store)
                }
                let look = "SELECT xact_commit FROM pg_stat_database WHERE datname = 'postgres'"
                try await Task.sleep(for: .seconds(3))
                let before = Double(try server.psql(look)) ?? .nan
                try await Task.sleep(for: .seconds(seconds))
                let after = Double(try server.psql(look)) ?? .nan
                for task in tasks { task.cancel() }
                for store in stores { await store.close() }
                return (after - before) / Double(seconds) / Double(workers)
            }
            return [Line("statements of an idle worker", Spread(rate), "/s", target: .figureAtMost(1.1))]
        }
    }
}

/// When executions began.
private final class Starts: Sendable {
    private let starts = Mutex<[Int: ContinuousClock.Instant]>([:])

    func add(_ key: Int) { starts.withLock { $0[key] = .now } }
    var all: [Int: ContinuousClock.Instant] { starts.withLock { $0 } }
    var count: Int { all.count }
}
