internal import Lull
package import LullCore

// Looking.

extension ShardedStore {
    package func status() async throws(DurableError) -> [DurableStatus] {
        var statuses: [DurableStatus] = []
        for name in try await names().sorted() {
            let places: [ShardPlace]
            do throws(DurableError) { places = try await self.places(of: name) } catch .noPolicy { continue }
            var status: DurableStatus?
            for place in places {
                let meta = try await meta(of: place, isWhole: true)
                var sum = status ?? DurableStatus(namespace: name, rules: meta.rules)
                sum.add(meta.totals)
                // All shards have it, but while it begins or ends.
                if sum.pause == nil { sum.note(meta.pause, at: meta.now) }
                if let arrival = meta.arrival { sum.noteStarts(after: arrival, at: meta.now) }
                sum.add(try await look(at: place, meta), meta)
                status = sum
            }
            if let status { statuses.append(status) }
        }
        return statuses
    }

    package func ended(
        of key: [UInt8]?, in namespace: String, limit: Int
    ) async throws(DurableError) -> [DurableEnd<[UInt8]>] {
        let limit = max(0, limit)
        var found: [(key: [UInt8], end: StoredEnd)] = []
        let now: CoreInstant
        if let key {
            let place = try await place(of: key, in: namespace)
            now = try await meta(of: place).now
            // Those of a dead run that was retried are not the newest, though they may have the latest instant.
            found = try await ends(of: key, in: place, atMost: 100_000).map { (key, $0) }
        } else {
            now = try await meta(of: ShardPlace(namespace, 0)).now
            for place in try await places(of: namespace) {
                // More may have ended at one instant than are asked for.
                found += try await newestEnds(in: place, atMost: limit < .max / 2 ? limit + 100 : .max)
            }
        }
        return found.newest(limit, at: now)
    }

    package func presentInstant(in namespace: String) async throws(DurableError) -> CoreInstant {
        try await meta(of: ShardPlace(namespace, 0)).now
    }

    package func workers(in namespace: String) async throws(DurableError) -> [DurableWorker] {
        var announced: [DurableWorker] = []
        var running: [Int64: Int] = [:]
        for place in try await places(of: namespace) {
            let meta = try await meta(of: place, isWhole: true)
            for worker in meta.workers {
                let seen = DurableNamespace.time(from: worker.at, to: meta.now)
                announced.append(DurableWorker(worker.identity, seen: seen, running: 0))
            }
            running.merge(try await holders(in: place), uniquingKeysWith: +)
        }
        for index in announced.indices { announced[index].running = running[announced[index].identity.id] ?? 0 }
        return DurableWorker.listed(announced)
    }

    package func meta(of place: ShardPlace) async throws(DurableError) -> ShardMeta {
        try await meta(of: place, isWhole: false)
    }
}

extension DurableStatus {
    /// Adds what a shard has.
    fileprivate mutating func add(_ look: ShardLook, _ meta: ShardMeta) {
        dead += look.dead
        entries += look.entries
        if let oldest = look.oldestEntry {
            oldestEntry = max(oldestEntry ?? .zero, DurableNamespace.time(from: oldest, to: meta.now))
        }
        add(
            meta.tallies, present: meta.now.microseconds / CountedRow.period, look.woken,
            oldestReady: look.oldestReady, at: meta.now)
    }
}
