internal import Lull
internal import LullCore
package import LullDurable

// What the store reads of its namespaces.

extension PostgresStore {
    package func names() async throws(DurableError) -> [String] {
        let rows = try await ask(Statement("SELECT \(schema).names()"))
        return rows.first?.texts(0).compactMap(\.self) ?? []
    }

    package func meta(of place: ShardPlace, isWhole: Bool) async throws(DurableError) -> ShardMeta {
        var statement = statement("describe", 3)
        statement.add(place.namespace)
        statement.add(isWhole)
        statement.add(options.microseconds)
        guard let row = try await ask(statement, in: place.namespace).first else { throw .notUnderstood }
        var answer = RowReader(row)
        guard let now = answer.bigint(), let revision = answer.bigint() else { throw .notUnderstood }
        let rules = try DurableRules(parts: answer.bigints())
        let pause = DurablePause(at: answer.bigint(), reason: answer.text(), until: answer.bigint())
        var meta = ShardMeta(
            now: CoreInstant(microseconds: now), settings: revision.bigEndianBytes, rules: rules, pause: pause,
            arrival: answer.bigint().map { CoreInstant(wake: $0) })
        let (periods, names, counts) = (answer.bigints(), answer.texts(), answer.bigints())
        for (index, name) in names.enumerated() {
            guard let name, let period = periods[index], let count = counts[index] else { continue }
            meta.add(Int(count), name, period: period)
        }
        let (workers, hosts, processes, seen) = (
            answer.bigints(), answer.texts(), answer.bigints(), answer.bigints()
        )
        for (index, worker) in workers.enumerated() {
            guard let worker, let at = seen[index] else { continue }
            meta.workers.append(
                (
                    .init(id: worker, host: hosts[index] ?? "", process: processes[index] ?? 0),
                    CoreInstant(microseconds: at)
                ))
        }
        return meta
    }

    package func look(at place: ShardPlace, _ meta: ShardMeta) async throws(DurableError) -> ShardLook {
        var statement = statement("look", 2)
        statement.add(place.namespace)
        statement.add(meta.now.microseconds)
        guard let row = try await ask(statement, in: place.namespace).first else { throw .notUnderstood }
        func rows(_ column: Int) throws(DurableError) -> [DurableRow] {
            var rows: [DurableRow] = []
            for state in row.byteStrings(column) { if let state { rows.append(try StoredRow(state).row) } }
            return rows
        }
        var look = ShardLook(try WokenRows(try rows(0)) { () throws(DurableError) in try rows(1) })
        look.oldestReady = row.bigint(2).map { CoreInstant(microseconds: $0) }
        look.entries = Int(row.bigint(3) ?? 0)
        look.oldestEntry = row.bigint(4).map { CoreInstant(microseconds: $0) }
        look.dead = meta.dead
        return look
    }

    // MARK: - Rows

    package func page(
        of place: ShardPlace, from start: RowStart, _ prefix: [UInt8], atMost size: Int
    ) async throws(DurableError) -> RowPage {
        var question: Statement
        switch start {
        case .key(let key):
            question = statement("rows_by_key", 4)
            question.add(place.namespace)
            question.add(prefix.lexicographicallyPrecedes(key) ? key : prefix)
            question.add(Self.end(of: prefix))
        case .rank(let rank):
            question = statement("rows_by_wake", 3)
            question.add(place.namespace)
            question.add(Int64(rank))
        }
        question.add(int: Int32(clamping: size))
        var page = RowPage()
        for row in try await ask(question, in: place.namespace).rows {
            guard let key = row.bytes(0), let state = row.bytes(1) else { throw .notUnderstood }
            page.rows.append((key, try StoredRow(state)))
        }
        if page.rows.count == size, let last = page.rows.last?.key {
            page.next =
                switch start {
                case .key: .key(last + [0])
                case .rank(let rank): .rank(rank + size)
                }
        }
        return page
    }

    /// Returns the end of the keys with a prefix; nil if it has none.
    private static func end(of prefix: [UInt8]) -> [UInt8]? {
        var end = prefix[...]
        while end.last == 0xFF { end.removeLast() }
        return end.popLast().map { end + [$0 + 1] }
    }

    package func scan(
        _ place: ShardPlace, prefix: [UInt8], _ body: (_ key: [UInt8], _ row: StoredRow?) -> Void
    ) async throws(DurableError) {
        // First those that may have no row: what is folded meanwhile has one then.
        var inboxed = Set(try await keysWithEntries(in: place, prefix: prefix, atMost: 100_000))
        var next: RowStart? = .key(prefix)
        while let start = next {
            let page = try await page(of: place, from: start, prefix, atMost: 1000)
            for (key, stored) in page.rows {
                inboxed.remove(key)
                body(key, stored)
            }
            next = page.next
        }
        for key in inboxed { body(key, nil) }
    }

    package func holders(in place: ShardPlace) async throws(DurableError) -> [Int64: Int] {
        var statement = statement("holders", 1)
        statement.add(place.namespace)
        var holders: [Int64: Int] = [:]
        for row in try await ask(statement, in: place.namespace).rows {
            if let worker = row.bigint(0) { holders[worker] = Int(row.bigint(1) ?? 0) }
        }
        return holders
    }

    package func keysWithEntries(in place: ShardPlace, atMost limit: Int) async throws(DurableError) -> [[UInt8]] {
        try await keysWithEntries(in: place, prefix: [], atMost: limit)
    }

    private func keysWithEntries(
        in place: ShardPlace, prefix: [UInt8], atMost limit: Int
    ) async throws(DurableError) -> [[UInt8]] {
        var statement = statement("keys_with_entries", 4)
        statement.add(place.namespace)
        statement.add([UInt8]?(prefix))
        statement.add(Self.end(of: prefix))
        statement.add(int: Int32(clamping: limit))
        return try await ask(statement, in: place.namespace).rows.compactMap { $0.bytes(0) }
    }

    // MARK: - What has ended

    package func ends(
        of key: [UInt8], in place: ShardPlace, atMost limit: Int
    ) async throws(DurableError) -> [StoredEnd] {
        try await ends(of: key, in: place, limit).map(\.end)
    }

    package func newestEnds(
        in place: ShardPlace, atMost limit: Int
    ) async throws(DurableError) -> [(key: [UInt8], end: StoredEnd)] {
        try await ends(of: nil, in: place, limit)
    }

    private func ends(
        of key: [UInt8]?, in place: ShardPlace, _ limit: Int
    ) async throws(DurableError) -> [(key: [UInt8], end: StoredEnd)] {
        var statement = statement("ends", 3)
        statement.add(place.namespace)
        statement.add(key)
        statement.add(int: Int32(clamping: limit))
        return try await ask(statement, in: place.namespace).rows.compactMap { row in
            StoredEnd(
                first: row.bigint(1), last: row.bigint(2), how: row.text(3), run: row.bigint(4), error: row.text(5),
                at: row.bigint(6)
            ).map { (row.bytes(0) ?? [], $0) }
        }
    }

    package func findDead(
        _ run: Int64, in namespace: String
    ) async throws(DurableError) -> (ShardPlace, StoredDead)? {
        var statement = statement("dead_run", 2, selecting: "dead_run")
        statement.add(namespace)
        statement.add(run)
        guard let bytes = try await ask(statement, in: namespace).first?.bytes(0) else { return nil }
        return (ShardPlace(namespace, 0), try StoredDead(bytes))
    }

    package func scanDead(
        _ place: ShardPlace, newestFirst: Bool, atMost limit: Int, _ body: (StoredDead) -> Bool
    ) async throws(DurableError) {
        let size = min(limit, 1000)
        var last: (at: Int64, run: Int64) = newestFirst ? (.max, .max) : (.min, .min)
        var count = size
        while count == size, size > 0 {
            var statement = statement("dead_runs", 5)
            statement.add(place.namespace)
            statement.add(newestFirst)
            statement.add(last.at)
            statement.add(last.run)
            statement.add(int: Int32(size))
            count = 0
            for row in try await ask(statement, in: place.namespace).rows {
                guard let bytes = row.bytes(0) else { throw .notUnderstood }
                let dead = try StoredDead(bytes)
                if !body(dead) { return }
                last = (dead.at.microseconds, dead.run.id)
                count += 1
            }
        }
    }

    package func values(
        of dead: StoredDead, collects: Bool, in place: ShardPlace
    ) async throws(DurableError) -> [[UInt8]] {
        var statement = statement("numbered_values", 4)
        statement.add(place.namespace)
        statement.add([UInt8]?(dead.key))
        statement.add(dead.place)
        statement.add(dead.place + (collects ? Int64(dead.run.value.count) : 1))
        return try await ask(statement, in: place.namespace).rows.map { row in
            let bytes = row.bytes(0) ?? []
            return collects ? Array(bytes.dropFirst(8)) : bytes
        }
    }

    package func check() {}
}
