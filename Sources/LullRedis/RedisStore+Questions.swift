internal import Lull
package import LullCore
package import LullDurable

// Looking.

extension RedisStore {
    package func status() async throws(DurableError) -> [DurableStatus] {
        let names = (try await ask(Command("SMEMBERS", Self.names)).list ?? []).compactMap(\.text)
        var statuses: [DurableStatus] = []
        for name in names.sorted() {
            let places: [ShardPlace]
            do throws(DurableError) { places = try await self.places(of: name) } catch .noPolicy { continue }
            var status: DurableStatus?
            for place in places {
                let meta = try await meta(of: place, isWhole: true)
                var sum = status ?? DurableStatus(namespace: name, rules: meta.rules)
                sum.add(meta.totals)
                // All shards have it, but while it begins or ends.
                sum.pause = sum.pause ?? meta.pause
                if let arrival = meta.arrival { sum.noteStarts(after: arrival, at: meta.now) }
                try await count(place, meta, &sum)
                status = sum
            }
            if let status { statuses.append(status) }
        }
        return statuses
    }

    /// Adds the counts of a shard.
    private func count(
        _ place: ShardPlace, _ meta: ShardMeta, _ status: inout DurableStatus
    ) async throws(DurableError) {
        let now = meta.now.microseconds
        let present = now / CountedRow.period
        let replies = try await ask(
            [
                .script(.page, place, Command("wake", "-inf", "\(now)", "0", "\(WokenRows.most)")),
                .command(Command("ZRANGE", place.key(.ready), "0", "0", "WITHSCORES")),
                .command(Command("ZCARD", place.key(.dead))), .script(.inbox, place, Command("1000")),
            ], in: place.namespace)
        let first = try Self.rows(replies[0]).map(\.stored.row)
        var recent: [DurableRow] = []
        if first.count >= WokenRows.most {
            let from = "\(present * CountedRow.period)"
            let page = try await ask(
                [.script(.page, place, Command("wake", from, "\(now)", "0", "\(WokenRows.most)"))], in: place.namespace)
            recent = try Self.rows(page[0]).map(\.stored.row)
        }
        status.dead += max(0, Int(replies[2].number ?? 0) - 1)
        status.entries += max(0, Int(replies[3][0].number ?? 0))
        if let oldest = replies[3][1].number {
            let age = DurableNamespace.time(from: CoreInstant(microseconds: oldest), to: meta.now)
            status.oldestEntry = max(status.oldestEntry ?? .zero, age)
        }
        status.add(
            meta.tallies, present: present, try WokenRows(first) { () throws(DurableError) in recent },
            oldestReady: replies[1][1].number.map { CoreInstant(stored: $0) }, at: meta.now)
    }

    /// The rows of a page, in its order.
    static func rows(_ page: Reply) throws(DurableError) -> [(key: [UInt8], stored: StoredRow)] {
        var rows: [(key: [UInt8], stored: StoredRow)] = []
        for (key, row) in zip(page[0].list ?? [], page[1].list ?? []) {
            // The sentinel has no row, nor has a key with nothing but entries of the inbox.
            guard let key = key.bytes, key != Scripts.sentinel, let bytes = row.bytes else { continue }
            rows.append((key, try StoredRow(bytes)))
        }
        return rows
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
            for member in try await ask(EndMember.newest(100_000, of: key, in: place), in: namespace).list ?? [] {
                found.append((key, try EndMember.end(member.bytes, of: key)))
            }
        } else {
            now = try await meta(of: ShardPlace(namespace, 0)).now
            for place in try await places(of: namespace) {
                // With the sentinel, which is the first one. More may have ended at one instant than are asked for.
                let last = limit < .max / 2 ? "\(limit + 100)" : "-1"
                for member in try await ask(
                    Command("ZREVRANGE", place.key(.ended), "1", last), in: namespace
                ).list ?? [] {
                    guard let bytes = member.bytes, bytes != Scripts.sentinel else { continue }
                    found.append(try EndMember.parts(bytes))
                }
            }
        }
        found.sort { ($0.end.at, $0.end.submits.upperBound) > ($1.end.at, $1.end.submits.upperBound) }
        return found.prefix(limit).map { key, end in
            DurableEnd(
                key: key, submits: end.submits, how: end.how, run: end.run, error: end.errorText,
                age: DurableNamespace.time(from: end.at, to: now))
        }
    }

    package func presentInstant(in namespace: String) async throws(DurableError) -> CoreInstant {
        try await meta(of: ShardPlace(namespace, 0)).now
    }

    package func check() {}

    package func announce(_ worker: DurableWorker.Identity, in namespace: String) async throws(DurableError) {
        try await change(ShardPlace(namespace, 0), isWhole: true) { meta in
            var write = KeyWrite()
            for old in meta.workers where old.at.duration(to: meta.now) > DurableWorker.memory {
                write.unset(old.field)
            }
            write.set("worker:\(worker.id)", "\(meta.now.microseconds) \(worker.process) \(worker.host)")
            return (write, [], ())
        }
    }

    /// Reads a name for each run that a worker holds.
    package func workers(in namespace: String) async throws(DurableError) -> [DurableWorker] {
        var announced: [DurableWorker] = []
        var running: [Int64: Int] = [:]
        for place in try await places(of: namespace) {
            let meta = try await meta(of: place, isWhole: true)
            for worker in meta.workers {
                let seen = DurableNamespace.time(from: worker.at, to: meta.now)
                announced.append(DurableWorker(worker.identity, seen: seen, running: 0))
            }
            let held = try await ask(Command("ZRANGE", place.key(.held), "0", "-1"), in: namespace)
            for member in (held.list ?? []).compactMap(\.bytes) where member != Scripts.sentinel {
                guard let id = Int64(String(decoding: member.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)) else {
                    continue
                }
                running[id, default: 0] += 1
            }
        }
        for index in announced.indices { announced[index].running = running[announced[index].identity.id] ?? 0 }
        return DurableWorker.listed(announced)
    }
}
