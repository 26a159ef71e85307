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

    func open(_ place: String, _ limits: DurableLimits, _ clock: StoreClock) async throws -> any DurableStore {
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
        var options = PostgresStore.Options()
        options.limits = limits
        options.clock = clock
        options.now = {
            // The time of all stores in the schema, as that of one server.
            Self.state.change { $0.used[place]?.time.now(clock.read()) ?? .origin }
        }
        return try await PostgresStore(server.url(schema), options)
    }

    func brokenRules(of store: any DurableStore, isComplete: Bool) async throws -> [String] { [] }

    func remove(_ place: String) throws {
        guard let schema = Self.state.change({ $0.used.removeValue(forKey: place)?.schema }) else { return }
        try SQL(try TestServer.shared.get())(
            """
            SET search_path TO \(schema);
            TRUNCATE namespaces, work, collected, ended, dead, tokens, batches, workers
            """)
        Self.state.change { $0.free.append(schema) }
    }
}
