internal import LullCore
package import LullDurable

// Flushing and cancelling many keys: those that are there, read some at a time, and then each in a step of its own.

extension RedisStore {
    /// How many keys are read and changed at once.
    private static let most = 1000

    package func change(
        _ change: DurableChange, _ target: ChangeTarget, in namespace: String
    ) async throws(DurableError) -> ChangeSum {
        switch target {
        case .keys(let keys): return ChangeSum(of: try await self.change(change, keys, in: namespace))
        case .selection(let selection):
            let (keys, began) = try await keys(of: namespace) { key, row, meta in
                row.map { selection.includes(key, $0.row, at: meta.now, by: meta.rules) }
                    ?? key.starts(with: selection.prefix)
            }
            var count = 0
            for some in keys.chunks(of: Self.most) {
                count += try await self.change(change, some, matching: selection, since: began, in: namespace)
            }
            return ChangeSum(of: [count])
        case .submitter(let submitter):
            let (keys, _) = try await keys(of: namespace) { _, row, _ in
                let from = row?.row.pending?.submitter
                return from == .several || from == .one(submitter)
            }
            var all = ChangeSum()
            for some in keys.chunks(of: Self.most) {
                all += try await self.change(change, some, submittedBy: submitter, in: namespace)
            }
            return all
        }
    }

    /// Returns keys that satisfy a condition, in the order of their first submits, shard by shard; and when they were
    /// looked for. A key that has nothing but entries of the inbox has no row.
    private func keys(
        of namespace: String, where isIncluded: (_ key: [UInt8], _ row: StoredRow?, _ meta: ShardMeta) -> Bool
    ) async throws(DurableError) -> (keys: [[UInt8]], began: CoreInstant) {
        var keys: [[UInt8]] = []
        let began = try await meta(of: ShardPlace(namespace, 0)).now
        for place in try await places(of: namespace) {
            let meta = try await meta(of: place)
            var found: [(born: Int64, key: [UInt8])] = []
            try await scan(place) { key, row in
                if isIncluded(key, row, meta) { found.append((row?.row.born ?? .max, key)) }
            }
            keys += found.sorted { $0.born < $1.born }.map(\.key)
        }
        return (keys, began)
    }

    package func count(
        matching selection: DurableSelection, in namespace: String
    ) async throws(DurableError) -> DurableSelectionCount {
        var count = DurableSelectionCount()
        for place in try await places(of: namespace) {
            let meta = try await meta(of: place)
            try await scan(place) { key, row in
                guard let row, selection.includes(key, row.row, at: meta.now, by: meta.rules) else { return }
                count.add(row.row, at: meta.now, by: meta.rules)
            }
        }
        count.dead = try await deadRuns(matching: selection, in: namespace).count
        return count
    }

    /// Calls a function for each key that is due some time: with its row, or without, if it has only entries of the
    /// inbox. Those that change meanwhile may be seen before or after.
    func scan(_ place: ShardPlace, _ body: (_ key: [UInt8], _ row: StoredRow?) -> Void) async throws(DurableError) {
        var seen: Set<[UInt8]> = []
        var cursor = "0"
        repeat {
            let reply = try await ask(
                Command("ZSCAN", place.key(.due), cursor, "COUNT", "\(Self.most)"), in: place.namespace)
            let members = reply[1].list ?? []
            let keys = stride(from: 0, to: members.count - 1, by: 2).compactMap { members[$0].bytes }
                .filter { $0 != Scripts.sentinel && seen.insert($0).inserted }
            cursor = reply[0].text ?? "0"
            for some in keys.chunks(of: Self.most) {
                var command = Command("HMGET", place.key(.rows))
                for key in some { command.add(key) }
                let rows = try await ask(command, in: place.namespace)
                for (index, key) in some.enumerated() {
                    body(key, try rows[index].bytes.map { bytes throws(DurableError) in try StoredRow(bytes) })
                }
            }
        } while cursor != "0"
    }
}

extension Array {
    /// Returns the elements in parts of a size.
    func chunks(of size: Int) -> [[Element]] {
        stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}
