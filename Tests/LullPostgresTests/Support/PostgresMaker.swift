import DurableConformance
import Lull
import LullCore
import LullDurable
import LullPostgres
import TestSupport

/// Stores in schemas of the shared server, on the clock of a test.
final class PostgresMaker: StoreMaker {
    private struct State {
        /// The schemas that no test uses.
        var free: [String] = []
        var used: [String: (schema: String, time: StoreTime)] = [:]
        var count = 0
    }

    private static let state = Guarded(State())

    var isShared: Bool { true }

    var takesStartsFirst: Bool { true }

    func open(_ place: String, _ limits: DurableLimits, _ clock: StoreClock) async throws -> any StoreCalls {
        let server = try TestServer.shared.get()
        let (schema, isNew) = Self.state.change { state -> (String, Bool) in
            if let used = state.used[place] { return (used.schema, false) }
            let free = state.free.popLast()
            if free == nil { state.count += 1 }
            let schema = free ?? "test_\(state.count)"
            state.used[place] = (schema, StoreTime(at: clock.read()))
            return (schema, free == nil)
        }
        if isNew { try PostgresSchema(url: server.url(schema)).apply() }
        var options = ServerOptions()
        options.limits = limits
        options.clock = clock
        options.now = {
            // The time of all stores in the schema, as that of one server.
            Self.state.change { $0.used[place]?.time.now(clock.read()) ?? .origin }
        }
        return try await PostgresStore(server.url(schema), options)
    }

    /// Compares the counts that are kept with those of all rows, which agree at any time.
    func brokenRules(of store: any StoreCalls, isComplete: Bool) async throws -> [String] {
        let sql = try SQL(try TestServer.shared.get())
        return try Self.state.change { $0.used.values.map(\.schema) }.flatMap { schema in
            try sql("SET search_path TO \(schema); \(Self.wrongCounts)").map { row in
                "\(schema): \(row.map { $0 ?? "NULL" }) are counted too many"
            }
        }
    }

    static let wrongCounts = """
        SELECT c.namespace, c.period, sum(c.pending), sum(c.ready), sum(c.running), sum(c.retrying), sum(c.due),
        sum(c.replaced), sum(c.dead)
        FROM (
            SELECT * FROM tallies UNION ALL SELECT * FROM changes
            UNION ALL
            SELECT namespace, wake >> 22, -(pending_count > 0 OR ready_to IS NOT NULL AND ready_due IS NULL)::int,
                -(ready_due IS NOT NULL)::int, -(claimed_by IS NOT NULL)::int,
                -(run_id IS NOT NULL AND claimed_by IS NULL)::int, -(pending_count > 0 AND ready_due IS NULL)::int,
                -(pending_count > 0 AND run_id IS NOT NULL AND claimed_by IS NULL AND error IS NOT NULL)::int, 0, 0
            FROM work
            UNION ALL
            SELECT namespace, 0, 0, 0, 0, 0, 0, 0, -1, 0 FROM dead
        ) c
        GROUP BY c.namespace, c.period
        HAVING sum(c.pending) <> 0 OR sum(c.ready) <> 0 OR sum(c.running) <> 0 OR sum(c.retrying) <> 0
        OR sum(c.due) <> 0
            OR sum(c.replaced) <> 0 OR sum(c.dead) <> 0
        """

    func remove(_ place: String) throws {
        guard let schema = Self.state.change({ $0.used.removeValue(forKey: place)?.schema }) else { return }
        // Not TRUNCATE, which makes new files of each table and index: that takes longer than most tests.
        let tables = "namespaces work collected ended dead tokens batches workers changes tallies".split(separator: " ")
        try SQL(try TestServer.shared.get())(
            "SET search_path TO \(schema);" + tables.map { "DELETE FROM \($0);" }.joined())
        Self.state.change { $0.free.append(schema) }
    }
}
