import DurableConformance
import Lull
import LullCore
import LullDurable
import TestSupport

@testable import LullPostgres

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

    func brokenRules(of store: any StoreCalls, isComplete: Bool) async throws -> [String] {
        let sql = try SQL(try TestServer.shared.get())
        return try Self.state.change { $0.used.values.map(\.schema) }.flatMap { schema in
            try sql.brokenRules(of: schema).map { "\(schema): \($0)" }
        }
    }

    func remove(_ place: String) throws {
        guard let schema = Self.state.change({ $0.used.removeValue(forKey: place)?.schema }) else { return }
        // Not TRUNCATE, which makes new files of each table and index: that takes longer than most tests.
        let tables = "namespaces work numbered inbox ended dead tokens batches workers changes tallies".split(
            separator: " ")
        try SQL(try TestServer.shared.get())(
            "SET search_path TO \(schema);" + tables.map { "DELETE FROM \($0);" }.joined())
        Self.state.change { $0.free.append(schema) }
    }
}
