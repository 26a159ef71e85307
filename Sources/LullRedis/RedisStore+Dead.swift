internal import LullCore
package import LullDurable

// Dead runs. Each shard has their numbers by when they died.

extension RedisStore {
    /// A dead run as a shard has it.
    private struct Dead {
        var key: [UInt8]
        var run: DurableRow.Run
        var at: CoreInstant
        /// Where its values begin.
        var index: Int64

        init?(_ reply: Reply) {
            guard let packed = Packed(reply.bytes), let key = packed[0].bytes, let at = packed[1].number else {
                return nil
            }
            self.key = key
            self.at = CoreInstant(stored: at)
            run = DurableRow.Run(packed[2])
            index = packed[2]["index"].number ?? 0
        }
    }

    /// Returns dead runs: see ``StoreCalls/dead(in:limit:)``.
    package func oldestDeadRuns(
        in namespace: String, limit: Int
    ) async throws(DurableError) -> [DurableDeadRun<[UInt8]>] {
        var found: [DurableDeadRun<[UInt8]>] = []
        for dead in try await deadRuns(matching: .all, in: namespace, newestFirst: false, limit: limit) {
            // It may have been retried meanwhile.
            if let run = try await deadRun(dead.id, in: namespace) { found.append(run) }
        }
        return found
    }

    package func deadRun(
        _ run: Int64, in namespace: String
    ) async throws(DurableError) -> DurableDeadRun<[UInt8]>? {
        let shard = try await shard(ofRun: run, in: namespace)
        let look = try await look(at: namespace, shard)
        let prefix = Scripts.prefix(namespace, shard)
        guard let dead = Dead(try await ask(Command("HGET", prefix + "past", "d\(run)"), in: namespace)) else {
            return nil
        }
        let collects = look.rules.combination == .collect
        var values: [[UInt8]] = []
        let count = collects ? dead.run.value.count : 1
        for start in stride(from: 0, to: count, by: 1000) {
            var command = Command("HMGET", prefix + "values")
            for place in start..<min(start + 1000, count) {
                command.add(Array("\(dead.index + Int64(place)):".utf8) + dead.key)
            }
            values += (try await ask(command, in: namespace).list ?? []).map { reply in
                let bytes = reply.bytes ?? []
                return collects ? Array(bytes.dropFirst(8)) : bytes
            }
        }
        return DurableDeadRun(key: dead.key, run: dead.run, stored: values, diedAt: dead.at, at: look.now)
    }

    package func deadRuns(
        matching selection: DurableSelection, in namespace: String, newestFirst: Bool, limit: Int
    ) async throws(DurableError) -> [DurableDeadRun<[UInt8]>] {
        try await found(matching: selection, in: namespace, newestFirst: newestFirst, limit: limit) { dead, now in
            DurableDeadRun(key: dead.key, run: dead.run, stored: [], diedAt: dead.at, at: now)
        }
    }

    /// Returns what is wanted of some of the dead runs of a selection.
    private func found<Item: Sendable>(
        matching selection: DurableSelection, in namespace: String, newestFirst: Bool, limit: Int,
        _ item: (_ dead: Dead, _ now: CoreInstant) -> Item
    ) async throws(DurableError) -> [Item] {
        var found: [(at: CoreInstant, run: Int64, item: Item)] = []
        for shard in 0..<(try await shards(of: namespace)) {
            let now = try await look(at: namespace, shard).now
            let prefix = Scripts.prefix(namespace, shard)
            // With the sentinel, which is the last one.
            let last = selection == .all && limit < .max ? max(0, limit) : -1
            let ids = try await ask(
                Command(newestFirst ? "ZREVRANGE" : "ZRANGE", prefix + "dead", "0", "\(last)"), in: namespace)
            var rest = (ids.list ?? []).compactMap(\.number)[...]
            var count = 0
            while count < limit, !rest.isEmpty {
                let some = rest.prefix(1000)
                rest = rest.dropFirst(some.count)
                var command = Command("HMGET", prefix + "past")
                for id in some { command.add("d\(id)") }
                // It may have been retried meanwhile.
                for dead in (try await ask(command, in: namespace).list ?? []).compactMap({ Dead($0) })
                where selection.includes(deadRunOf: dead.key, dead.run.error, diedAt: dead.at, at: now) {
                    found.append((dead.at, dead.run.id, item(dead, now)))
                    count += 1
                }
            }
        }
        found.sort { newestFirst ? ($0.at, $0.run) > ($1.at, $1.run) : ($0.at, $0.run) < ($1.at, $1.run) }
        return found.prefix(max(0, limit)).map(\.item)
    }

    /// Retries a dead run: see ``StoreCalls/retry(_:in:)``.
    package func retryRun(_ run: Int64, in namespace: String) async throws(DurableError) -> DurableRetry {
        switch try await end(run, "retry", in: namespace) {
        case "accepted":
            state.signal(.farPast, in: namespace)
            return .accepted
        case "outdated": return .outdated
        case "busy": return .busy
        default: return .notFound
        }
    }

    /// Discards a dead run: see ``StoreCalls/discard(_:in:)``.
    package func discardRun(_ run: Int64, in namespace: String) async throws(DurableError) -> Bool {
        try await end(run, "discard", in: namespace) == "accepted"
    }

    private func end(_ run: Int64, _ what: String, in namespace: String) async throws(DurableError) -> String? {
        let shard = try await shard(ofRun: run, in: namespace)
        return try await self.run(.dead, in: namespace, shard, isRepeatable: false, Command(what, "\(run)")).text
    }

    private func shard(ofRun run: Int64, in namespace: String) async throws(DurableError) -> Int {
        let shards = Int64(try await shards(of: namespace))
        return Int((run % shards + shards) % shards)
    }
}
