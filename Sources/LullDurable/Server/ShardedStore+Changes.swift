internal import LullCore

// Flushing and cancelling many keys: those that are there, read some at a time, and then each in a step of its own.

extension ShardedStore {
    package func change(
        _ change: DurableChange, _ target: ChangeTarget, in namespace: String
    ) async throws(DurableError) -> ChangeSum {
        switch target {
        case .keys(let keys):
            return ChangeSum(
                of: try await answers(to: keys, in: namespace) { table, key throws(DurableError) in
                    try table.change(change, key, in: table.namespace, at: table.now)
                })
        case .selection(let selection):
            let (keys, began) = try await keys(of: namespace, prefix: selection.prefix) { key, row, meta in
                row.map { selection.includes(key, $0.row, at: meta.now, by: meta.rules) }
                    ?? key.starts(with: selection.prefix)
            }
            let counts = try await answers(to: keys, in: namespace) { table, _ throws(DurableError) in
                var sweep = try table.sweep(of: table.namespace, matching: selection, at: began)
                try table.change(change, &sweep, atMost: 1, in: table.namespace, at: table.now)
                return sweep.count
            }
            return ChangeSum(of: [counts.reduce(0, +)])
        case .submitter(let submitter):
            let (keys, _) = try await keys(of: namespace, prefix: []) { _, row, _ in
                let from = row?.row.pending?.submitter
                return from == .several || from == .one(submitter)
            }
            let sums = try await answers(to: keys, in: namespace) { table, _ throws(DurableError) in
                try table.change(change, submittedBy: submitter, in: table.namespace, at: table.now)
            }
            return sums.reduce(into: ChangeSum(), +=)
        }
    }

    /// Makes a step on each of some keys, a thousand at once, and returns all answers, or throws the first error.
    private func answers<Answer: Sendable>(
        to keys: [[UInt8]], in namespace: String,
        _ body: @escaping @Sendable (inout LoadedTable, [UInt8]) throws(DurableError) -> Answer
    ) async throws(DurableError) -> [Answer] {
        var answers: [Answer] = []
        for some in keys.chunks(of: 1000) {
            let calls = some.map { key in
                KeyCall(namespace, key) { table throws(DurableError) in try body(&table, key) }
            }
            await make(calls)
            for call in calls { answers.append(try call.answer.get()) }
        }
        return answers
    }

    /// Returns keys that satisfy a condition, in the order of their first submits, shard by shard; and when they were
    /// looked for. A key that has nothing but entries of the inbox has no row.
    private func keys(
        of namespace: String, prefix: [UInt8],
        where isIncluded: (_ key: [UInt8], _ row: StoredRow?, _ meta: ShardMeta) -> Bool
    ) async throws(DurableError) -> (keys: [[UInt8]], began: CoreInstant) {
        var keys: [[UInt8]] = []
        let began = try await meta(of: ShardPlace(namespace, 0)).now
        for place in try await places(of: namespace) {
            let meta = try await meta(of: place)
            var found: [(born: Int64, key: [UInt8])] = []
            try await scan(place, prefix: prefix) { key, row in
                if isIncluded(key, row, meta) { found.append((row?.row.born ?? .max, key)) }
            }
            keys += found.sorted { $0.born < $1.born }.map(\.key)
        }
        return (keys, began)
    }

    package func count(
        matching selection: DurableSelection, in namespace: String
    ) async throws(DurableError) -> DurableSelection.Count {
        var count = DurableSelection.Count()
        for place in try await places(of: namespace) {
            let meta = try await meta(of: place)
            try await scan(place, prefix: selection.prefix) { key, row in
                guard let row, selection.includes(key, row.row, at: meta.now, by: meta.rules) else { return }
                count.add(row.row, at: meta.now, by: meta.rules)
            }
        }
        count.dead = try await deadRuns(matching: selection, in: namespace).count
        return count
    }
}

extension Array {
    /// Returns the elements in parts of a size.
    package func chunks(of size: Int) -> [[Element]] {
        stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}
