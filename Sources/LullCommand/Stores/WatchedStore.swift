internal import LullCore
internal import LullDurable
internal import LullPostgres
internal import LullRedis
internal import LullSQLite

/// A store with the figures that an operator should watch of its server.
protocol WatchedStore: StoreForCommands {
    /// Returns the figures; nil for a store in a file.
    func health() async throws(DurableError) -> [Measure]?
}

extension WatchedStore {
    /// Returns the counts of one namespace.
    func status(of namespace: String) async throws(DurableError) -> DurableStatus {
        guard let status = try await status().first(where: { $0.namespace == namespace }) else {
            throw .noPolicy(namespace: namespace)
        }
        return status
    }
}

extension SQLiteStore: WatchedStore {
    func health() -> [Measure]? { nil }
}

extension PostgresStore: WatchedStore {
    func health() async throws(DurableError) -> [Measure]? {
        let health: PostgresStore.Health = try await health()
        return [
            Measure(
                Figure(
                    name: "dead rows", property: "deadRows", metric: "lull_dead_rows",
                    help: "Rows of the database that vacuum has not removed yet."), .count(health.deadRows)),
            Measure(
                Figure(
                    name: "oldest open transaction", property: "oldestTransaction", metric: "lull_oldest_transaction",
                    help: "How long the oldest transaction is open that keeps vacuum from removing dead rows; "
                        + "0 if there is none.",
                    unit: .duration), .duration(health.oldestTransaction)),
        ]
    }
}

extension RedisStore: WatchedStore {
    func health() async throws(DurableError) -> [Measure]? {
        let memory = try await memory()
        return [
            Measure(
                Figure(
                    name: "durability", property: "durability", metric: "lull_durability",
                    help: "What the server does with a submit before it answers.", unit: .name),
                .name("\(durability)")),
            Measure(
                Figure(
                    name: "memory", property: "memory", metric: "lull_memory",
                    help: "The memory that the data of the server takes.", unit: .bytes), .number(memory.used)),
            Measure(
                Figure(
                    name: "limit", property: "memoryLimit", metric: "lull_memory_limit",
                    help: "The memory at which the server refuses submits; 0 if it has no limit.", unit: .bytes),
                .number(memory.limit)),
        ]
    }
}
