internal import LullDurable
internal import LullPostgres
internal import LullRedis
internal import LullSQLite

/// A store with the figures that an operator should watch of its server.
protocol WatchedStore: StoreCalls {
    /// Returns the figures; nil for a store in a file.
    func health() async throws(DurableError) -> [MeasuredFigure]?
}

extension WatchedStore {
    func status(of namespace: String) async throws(DurableError) -> DurableStatus {
        guard let status = try await status().first(where: { $0.namespace == namespace }) else {
            throw .noPolicy(namespace: namespace)
        }
        return status
    }
}

extension SQLiteStore: WatchedStore {
    func health() -> [MeasuredFigure]? { nil }
}

extension PostgresStore: WatchedStore {
    func health() async throws(DurableError) -> [MeasuredFigure]? {
        let health: PostgresStore.Health = try await health()
        let rows = StatusFigure(
            "dead rows", as: "deadRows", "lull_dead_rows", "Rows of the database that vacuum has not removed yet.")
        let oldest = StatusFigure(
            "oldest open transaction", as: "oldestTransaction", "lull_oldest_transaction",
            "How long the oldest transaction is open that keeps vacuum from removing dead rows; 0 if there is none.",
            .duration)
        return [
            MeasuredFigure(rows, .count(health.deadRows)), MeasuredFigure(oldest, .duration(health.oldestTransaction)),
        ]
    }
}

extension RedisStore: WatchedStore {
    func health() async throws(DurableError) -> [MeasuredFigure]? {
        let health: RedisStore.Health = try await health()
        let mode = StatusFigure(
            "durability", "lull_durability", "What the server does with a submit before it answers.", .name)
        let used = StatusFigure("memory", "lull_memory", "The memory that the data of the server takes.", .bytes)
        let limit = StatusFigure(
            "limit", as: "memoryLimit", "lull_memory_limit",
            "The memory at which the server refuses submits; 0 if it has no limit.", .bytes)
        let eviction = StatusFigure(
            "when full", as: "maxmemoryPolicy", "lull_maxmemory_policy",
            "What the server does when its memory is full: with all but noeviction, pending work is lost.", .name)
        let behind = StatusFigure(
            "clock behind", as: "clockBehind", "lull_clock_behind",
            "How far the server's clock is behind the latest instant that was stored; 0 if it is not.", .duration)
        let reopened = StatusFigure(
            "opened again", as: "reopenings", "lull_reopenings",
            "How often a namespace was opened again since the server had lost it.", .none)
        return [
            MeasuredFigure(mode, .name("\(durability)")), MeasuredFigure(used, .number(health.memory)),
            MeasuredFigure(limit, .number(health.memoryLimit)),
            MeasuredFigure(eviction, .name(health.policy ?? "hidden")),
            MeasuredFigure(behind, .duration(health.clockBehind > .zero ? health.clockBehind : nil)),
            MeasuredFigure(reopened, .count(health.reopenings)),
        ]
    }
}
