internal import LullCore
package import LullDurable

// Dead runs. Each shard has their numbers by when they died.

extension RedisStore {
    /// Returns a dead run as its shard has it.
    private func stored(_ run: Int64, in namespace: String) async throws(DurableError) -> StoredDead? {
        let place = try await place(ofRun: run, in: namespace)
        let bytes = try await ask(Command("HGET", place.key(.past), "d\(run)"), in: namespace).bytes
        return try bytes.map { bytes throws(DurableError) in try StoredDead(bytes) }
    }

    private func place(ofRun run: Int64, in namespace: String) async throws(DurableError) -> ShardPlace {
        let shards = Int64(try await shards(of: namespace))
        return ShardPlace(namespace, Int((run % shards + shards) % shards))
    }

    package func deadRun(
        _ run: Int64, in namespace: String
    ) async throws(DurableError) -> DurableDeadRun<[UInt8]>? {
        guard let dead = try await stored(run, in: namespace) else { return nil }
        let place = try await place(ofRun: run, in: namespace)
        let meta = try await meta(of: place)
        let collects = meta.rules.combination == .collect
        let reads = ValueReads(dead, collects: collects, in: place)
        var replies: [Reply] = []
        for command in reads.commands { replies += try await ask(command, in: namespace).list ?? [] }
        return DurableDeadRun(
            key: dead.key, run: dead.run, stored: reads.values(replies), diedAt: dead.at, at: meta.now)
    }

    package func deadRuns(
        matching selection: DurableSelection, in namespace: String, newestFirst: Bool, limit: Int, withValues: Bool
    ) async throws(DurableError) -> [DurableDeadRun<[UInt8]>] {
        let runs = try await found(matching: selection, in: namespace, newestFirst: newestFirst, limit: limit) {
            DurableDeadRun(key: $0.key, run: $0.run, stored: [], diedAt: $0.at, at: $1)
        }
        guard withValues else { return runs }
        var whole: [DurableDeadRun<[UInt8]>] = []
        // It may have been retried meanwhile.
        for run in runs { if let run = try await deadRun(run.id, in: namespace) { whole.append(run) } }
        return whole
    }

    /// Returns what is wanted of some of the dead runs of a selection.
    private func found<Item: Sendable>(
        matching selection: DurableSelection, in namespace: String, newestFirst: Bool, limit: Int,
        _ item: (_ dead: StoredDead, _ now: CoreInstant) -> Item
    ) async throws(DurableError) -> [Item] {
        var found: [(at: CoreInstant, run: Int64, item: Item)] = []
        for place in try await places(of: namespace) {
            let now = try await meta(of: place).now
            // With the sentinel, which is the last one.
            let last = selection == .all && limit < .max ? max(0, limit) : -1
            let ids = try await ask(
                Command(newestFirst ? "ZREVRANGE" : "ZRANGE", place.key(.dead), "0", "\(last)"), in: namespace)
            var rest = (ids.list ?? []).compactMap(\.number)[...]
            var count = 0
            while count < limit, !rest.isEmpty {
                let some = rest.prefix(1000)
                rest = rest.dropFirst(some.count)
                var command = Command("HMGET", place.key(.past))
                for id in some { command.add("d\(id)") }
                // It may have been retried meanwhile.
                for bytes in (try await ask(command, in: namespace).list ?? []).compactMap(\.bytes) {
                    let dead = try StoredDead(bytes)
                    guard selection.includes(deadRunOf: dead.key, dead.run.error, diedAt: dead.at, at: now) else {
                        continue
                    }
                    found.append((dead.at, dead.run.id, item(dead, now)))
                    count += 1
                }
            }
        }
        found.sort { newestFirst ? ($0.at, $0.run) > ($1.at, $1.run) : ($0.at, $0.run) < ($1.at, $1.run) }
        return found.prefix(max(0, limit)).map(\.item)
    }

    package func retry(_ runs: [Int64], in namespace: String) async throws(DurableError) -> [DurableRetry] {
        var answers: [DurableRetry] = []
        for run in runs {
            if let dead = try await stored(run, in: namespace) {
                answers.append(try await retry(run, of: dead.key, in: namespace))
            } else {
                answers.append(.notFound)
            }
        }
        return answers
    }

    @discardableResult
    package func discard(_ runs: [Int64], in namespace: String) async throws(DurableError) -> Int {
        var count = 0
        for run in runs {
            if let dead = try await stored(run, in: namespace), try await discard(run, of: dead.key, in: namespace) {
                count += 1
            }
        }
        return count
    }
}
