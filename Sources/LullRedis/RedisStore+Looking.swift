internal import Lull
package import LullCore
package import LullDurable

// What the store reads of its shards.

extension RedisStore {
    package func names() async throws(DurableError) -> [String] {
        (try await ask(Command("SMEMBERS", Self.names)).list ?? []).compactMap(\.text)
    }

    package func look(at place: ShardPlace, _ meta: ShardMeta) async throws(DurableError) -> ShardLook {
        let now = meta.now.microseconds
        func woken(from first: String) -> Commands.Content {
            .script(.page, place, Command("wake", first, "\(now)", "0", "\(WokenRows.most)"))
        }
        let replies = try await ask(
            [
                woken(from: "-inf"), .command(Command("ZRANGE", place.key(.ready), "0", "0", "WITHSCORES")),
                .command(Command("ZCARD", place.key(.dead))), .script(.inbox, place, Command("1000")),
            ], in: place.namespace)
        let first = try Self.rows(replies[0]).map(\.stored.row)
        var recent: [DurableRow] = []
        if first.count >= WokenRows.most {
            let start = now / CountedRow.period * CountedRow.period
            recent = try Self.rows(try await ask([woken(from: "\(start)")], in: place.namespace)[0]).map(\.stored.row)
        }
        var look = ShardLook(try WokenRows(first) { () throws(DurableError) in recent })
        look.oldestReady = replies[1][1].number.map { CoreInstant(stored: $0) }
        look.dead = max(0, Int(replies[2].number ?? 0) - 1)
        look.entries = max(0, Int(replies[3][0].number ?? 0))
        look.oldestEntry = replies[3][1].number.map { CoreInstant(microseconds: $0) }
        return look
    }

    // MARK: - Rows

    package func page(
        of place: ShardPlace, from start: RowStart, _ prefix: [UInt8], atMost size: Int
    ) async throws(DurableError) -> RowPage {
        var arguments = Command([])
        switch start {
        case .key(let key):
            arguments.add("key")
            arguments.add(Array("[".utf8) + key)
            arguments.add(Self.end(of: prefix))
            arguments.add("0")
        case .rank(let rank): for part in ["wake", "-inf", "(+inf", "\(rank)"] { arguments.add(part) }
        }
        arguments.add("\(size)")
        let reply = try await ask([.script(.page, place, arguments)], in: place.namespace)[0]
        let keys = reply[0].list ?? []
        var page = RowPage()
        if keys.count == size, let last = keys.last?.bytes {
            page.next =
                switch start {
                case .key: .key(last + [0])
                case .rank(let rank): .rank(rank + size)
                }
        }
        page.rows = try Self.rows(reply)[...]
        return page
    }

    /// The rows of a page, in its order.
    private static func rows(_ page: Reply) throws(DurableError) -> [(key: [UInt8], stored: StoredRow)] {
        var rows: [(key: [UInt8], stored: StoredRow)] = []
        for (key, row) in zip(page[0].list ?? [], page[1].list ?? []) {
            // The sentinel has no row, nor has a key with nothing but entries of the inbox.
            guard let key = key.bytes, key != Scripts.sentinel, let bytes = row.bytes else { continue }
            rows.append((key, try StoredRow(bytes)))
        }
        return rows
    }

    /// Returns the end of the keys with a prefix, as the server takes it.
    private static func end(of prefix: [UInt8]) -> [UInt8] {
        var end = prefix[...]
        while end.last == 0xFF { end.removeLast() }
        guard let last = end.popLast() else { return Array("+".utf8) }
        return Array("(".utf8) + end + [last + 1]
    }

    /// Keys are found by when they wake, those with nothing but entries of the inbox among them.
    package func scan(
        _ place: ShardPlace, prefix: [UInt8], _ body: (_ key: [UInt8], _ row: StoredRow?) -> Void
    ) async throws(DurableError) {
        var seen: Set<[UInt8]> = []
        var cursor = "0"
        repeat {
            let reply = try await ask(
                Command("ZSCAN", place.key(.due), cursor, "COUNT", "1000"), in: place.namespace)
            let members = reply[1].list ?? []
            let keys = stride(from: 0, to: members.count - 1, by: 2).compactMap { members[$0].bytes }
                .filter { $0 != Scripts.sentinel && seen.insert($0).inserted }
            cursor = reply[0].text ?? "0"
            for some in keys.chunks(of: 1000) {
                var command = Command("HMGET", place.key(.rows))
                for key in some { command.add(key) }
                let rows = try await ask(command, in: place.namespace)
                for (index, key) in some.enumerated() {
                    body(key, try rows[index].bytes.map { bytes throws(DurableError) in try StoredRow(bytes) })
                }
            }
        } while cursor != "0"
    }

    /// Reads a name for each run that a worker holds.
    package func holders(in place: ShardPlace) async throws(DurableError) -> [Int64: Int] {
        let held = try await ask(Command("ZRANGE", place.key(.held), "0", "-1"), in: place.namespace)
        var running: [Int64: Int] = [:]
        for member in (held.list ?? []).compactMap(\.bytes) where member != Scripts.sentinel {
            guard let id = Int64(String(decoding: member.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)) else {
                continue
            }
            running[id, default: 0] += 1
        }
        return running
    }

    package func keysWithEntries(in place: ShardPlace, atMost limit: Int) async throws(DurableError) -> [[UInt8]] {
        let reply = try await ask([.script(.inbox, place, Command("\(limit)"))], in: place.namespace)[0]
        return (reply[2].list ?? []).compactMap(\.bytes)
    }

    // MARK: - What has ended

    package func ends(
        of key: [UInt8], in place: ShardPlace, atMost limit: Int
    ) async throws(DurableError) -> [StoredEnd] {
        var ends: [StoredEnd] = []
        for member in try await ask(EndMember.newest(limit, of: key, in: place), in: place.namespace).list ?? [] {
            ends.append(try EndMember.end(member.bytes, of: key))
        }
        return ends
    }

    package func newestEnds(
        in place: ShardPlace, atMost limit: Int
    ) async throws(DurableError) -> [(key: [UInt8], end: StoredEnd)] {
        // With the sentinel, which is the first one.
        let last = limit < .max ? "\(limit)" : "-1"
        var found: [(key: [UInt8], end: StoredEnd)] = []
        let reply = try await ask(Command("ZREVRANGE", place.key(.ended), "1", last), in: place.namespace)
        for bytes in (reply.list ?? []).compactMap(\.bytes) where bytes != Scripts.sentinel {
            found.append(try EndMember.parts(bytes))
        }
        return found
    }

    package func findDead(
        _ run: Int64, in namespace: String
    ) async throws(DurableError) -> (ShardPlace, StoredDead)? {
        let shards = Int64(try await shards(of: namespace))
        let place = ShardPlace(namespace, Int((run % shards + shards) % shards))
        let bytes = try await ask(Command("HGET", place.key(.past), "d\(run)"), in: namespace).bytes
        return try bytes.map { bytes throws(DurableError) in (place, try StoredDead(bytes)) }
    }

    package func scanDead(
        _ place: ShardPlace, newestFirst: Bool, atMost limit: Int, _ body: (StoredDead) -> Bool
    ) async throws(DurableError) {
        // With the sentinel, which is the last one.
        let last = limit < .max ? limit : -1
        let ids = try await ask(
            Command(newestFirst ? "ZREVRANGE" : "ZRANGE", place.key(.dead), "0", "\(last)"), in: place.namespace)
        for some in (ids.list ?? []).compactMap(\.number).chunks(of: 1000) {
            var command = Command("HMGET", place.key(.past))
            for id in some { command.add("d\(id)") }
            // It may have been retried meanwhile.
            for bytes in (try await ask(command, in: place.namespace).list ?? []).compactMap(\.bytes) {
                if !body(try StoredDead(bytes)) { return }
            }
        }
    }

    package func values(
        of dead: StoredDead, collects: Bool, in place: ShardPlace
    ) async throws(DurableError) -> [[UInt8]] {
        let reads = ValueReads(dead, collects: collects, in: place)
        var replies: [Reply] = []
        for command in reads.commands { replies += try await ask(command, in: place.namespace).list ?? [] }
        return reads.values(replies)
    }

    // MARK: - Workers and limits

    package func announce(_ worker: DurableWorker.Identity, in namespace: String) async throws(DurableError) {
        try await change(ShardPlace(namespace, 0), isWhole: true) { record in
            var write = KeyWrite()
            for old in record.workers where old.at.duration(to: record.now) > DurableWorker.memory {
                write.unset("worker:\(old.identity.id)")
            }
            write.set("worker:\(worker.id)", "\(record.now.microseconds) \(worker.process) \(worker.host)")
            return (write, [], ())
        }
    }

    package func setArrival(
        _ arrival: CoreInstant, after meta: ShardMeta, in place: ShardPlace
    ) async throws(DurableError) -> Bool {
        var write = KeyWrite()
        if arrival == .farPast { write.unset("arrival") } else { write.set("arrival", "\(arrival.stored)") }
        let guards = [["HGET", Structure.meta.number, "arrival", meta.arrival.map { "\($0.stored)" } ?? ""]]
        return try await write.isDone(in: place, settings: meta.settings, at: meta.now, guards, by: self)
    }

    package func check() {}
}
