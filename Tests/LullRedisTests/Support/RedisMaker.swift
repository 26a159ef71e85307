import DurableConformance
import Lull
import LullCore
import LullDurable
import TestSupport

@testable import LullRedis

/// Stores in databases of the shared server, on the clock of a test.
final class RedisMaker: StoreMaker {
    private struct State {
        /// The databases that no test uses.
        var free = Array((0..<900).reversed())
        var used: [String: (database: Int, time: StoreTime)] = [:]
    }

    /// The number of shards of each namespace.
    private let shards: Int?

    init(shards: Int? = nil) { self.shards = shards }

    private static let state = Guarded(State())
    var isShared: Bool { true }
    var countsByTime: Bool { true }
    var takesStartsFirst: Bool { true }

    func open(_ place: String, _ limits: DurableLimits, _ clock: StoreClock) async throws -> any StoreCalls {
        let server = try TestRedis.shared.get()
        let database = Self.state.change { state in
            if let used = state.used[place] { return used.database }
            let database = state.free.popLast() ?? 0
            state.used[place] = (database, StoreTime(at: clock.read()))
            return database
        }
        var options = ServerOptions()
        options.limits = limits
        options.clock = clock
        options.now = {
            // The time of all stores in the database, as that of one server.
            Self.state.change { $0.used[place]?.time.now(clock.read()) ?? .origin }
        }
        return try await RedisStore(server.url(database), options, shards: shards)
    }

    func brokenRules(of store: any StoreCalls, isComplete: Bool) async throws -> [String] {
        try await (store as? RedisStore)?.brokenRules() ?? ["it is no store in Redis"]
    }

    func remove(_ place: String) throws {
        guard let database = Self.state.change({ $0.used.removeValue(forKey: place)?.database }) else { return }
        try TestRedis.shared.get()("-n", "\(database)", "FLUSHDB")
        Self.state.change { $0.free.append(database) }
    }
}
