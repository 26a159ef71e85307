internal import LullCore
package import LullDurable

// Namespaces, and the calls of producers.

extension PostgresStore {
    /// Opens a namespace: see ``StoreCalls/open(_:_:)``.
    @discardableResult
    package func open(_ namespace: String, _ rules: DurableRules?) async throws(DurableError) -> DurableRules {
        try checkText(namespace, "the name of the namespace")
        guard let rules else {
            let rows = try await ask(
                "SELECT \(DurableRules.columns) FROM \(schema).rules($1)", namespace, in: namespace)
            guard let row = rows.first else { throw .noPolicy(namespace: namespace) }
            return try DurableRules(row, at: 0)
        }
        let policy = rules.policy
        var statement = statement("open", 17, selecting: DurableRules.columns)
        statement.add(namespace)
        statement.add(name: policy.kind == .debounce ? "debounce" : "throttle")
        statement.add(policy.wait.microseconds)
        statement.add(policy.maxWait?.microseconds)
        statement.add(policy.edges.contains(.leading))
        statement.add(policy.edges.contains(.trailing))
        statement.add(policy.delayRule == .extend)
        statement.add(policy.maxCount.map { Int64($0) })
        statement.add(policy.spacing.microseconds)
        statement.add(name: rules.combination.name)
        statement.add(rules.maxBatch.map { Int64($0) })
        statement.add(rules.whileRunning.name)
        statement.add(rules.limit.map { Int64($0.starts) })
        statement.add(rules.limit?.period.microseconds)
        statement.add(rules.limit.map { Int64($0.burst) })
        statement.add(rules.maxRunning.map { Int64($0) })
        statement.add(rules.isMerging)
        guard let row = try await ask(statement, in: namespace, isRepeatable: true).first else {
            throw .unusable("the namespace \(namespace) could not be opened")
        }
        let stored = try DurableRules(row, at: 0)
        if stored.lasting != rules.lasting {
            throw .otherPolicy(namespace: namespace, stored: stored, given: rules)
        }
        return rules
    }

    package func shards(of batch: [DurableSubmission]) async -> [Result<Int, DurableError>] {
        batch.map { submission in
            Result { () throws(DurableError) in
                try checkText(submission.namespace, "the name of the namespace")
                try checkText(submission.token, "the token")
                return 0
            }
        }
    }

    package func touchKey(
        _ key: [UInt8], in namespace: String, wait: CoreDuration?
    ) async throws(DurableError) -> Bool {
        var statement = statement("touch_key", 6)
        statement.add(namespace)
        statement.add(key)
        statement.add(wait?.microseconds)
        statement.add(int: Int32(clamping: options.timeLimit.components.seconds * 1000 / 2))
        statement.add(true)
        statement.add(options.microseconds)
        return try await ask(statement, in: namespace, isRepeatable: true).first?.bool(0) ?? false
    }

    /// Flushes or cancels some keys at a time, so that no transaction is long; those that another transaction has
    /// locked come last, each by itself.
    package func changeRows(
        _ change: DurableChange, _ target: ChangeTarget, in namespace: String
    ) async throws(DurableError) -> ChangeSum {
        var keys: [[UInt8]] = []
        if case .keys(let some) = target {
            keys = some
        } else {
            var statement = statement("keys", 6)
            statement.add(namespace)
            statement.add(target.submitter)
            add(target.selection ?? .all, to: &statement)
            keys = try await ask(statement, in: namespace, isRepeatable: true).rows.compactMap { $0.bytes(0) }
        }
        var sum = ChangeSum()
        var busy: [[UInt8]] = []
        for start in stride(from: 0, to: keys.count, by: 500) {
            let some = Array(keys[start..<min(start + 500, keys.count)])
            busy += try await self.change(change, some, target, in: namespace, patience: 0, &sum)
            // Each key that changes by itself adds a row to be summed up.
            if start % 50_000 == 49_500 || start > 0 && start + 500 >= keys.count { await forgetSome(now: true) }
        }
        for key in busy {
            let patience = Int32(clamping: options.timeLimit.components.seconds * 1000 / 2)
            _ = try await self.change(change, [key], target, in: namespace, patience: patience, &sum)
        }
        return sum
    }

    /// - Returns: The keys that another transaction has locked.
    private func change(
        _ change: DurableChange, _ keys: [[UInt8]], _ target: ChangeTarget, in namespace: String, patience: Int32,
        _ sum: inout ChangeSum
    ) async throws(DurableError) -> [[UInt8]] {
        var statement = statement("change_keys", 8)
        statement.add(namespace)
        statement.add(keys)
        statement.add(change.name(of: target))
        statement.add(target.submitter)
        statement.add(int: patience)
        statement.add(options.microseconds)
        statement.add(target.selection?.microseconds)
        statement.add(target.selection?.error)
        guard let row = try await ask(statement, in: namespace, isRepeatable: false).first else { return [] }
        sum.count += Int(row.bigint(0) ?? 0)
        sum.mixed += Int(row.bigint(1) ?? 0)
        sum.flushed += zip(row.byteStrings(2), row.bigints(3)).map { ($0, $1 ?? 0) }
        return row.byteStrings(4)
    }

    /// Adds the conditions of a selection, and the instant.
    func add(_ selection: DurableSelection, to statement: inout Statement) {
        statement.add([UInt8]?(selection.prefix))
        statement.add(selection.microseconds)
        statement.add(selection.error)
        statement.add(options.microseconds)
    }

    func ask(_ text: String, _ parameter: String, in namespace: String) async throws(DurableError) -> Rows {
        var statement = Statement(text)
        statement.add(parameter)
        return try await ask(statement, in: namespace, isRepeatable: true)
    }
}

extension DurableSelection {
    /// The age in microseconds.
    fileprivate var microseconds: Int64? { age.map { CoreDuration($0).microseconds } }
}

extension DurableRules {
    /// The columns of a namespace, in the order in which they are read.
    static let columns = """
        kind::text, wait, max_wait, on_leading, on_trailing, extends, max_count, combination::text, max_batch, \
        spacing, restart, starts, period, burst, max_running, merges
        """

    /// Reads the columns of a namespace, from one on.
    init(_ row: Row, at column: Int) throws(DurableError) {
        var edges: Edges = []
        if row.bool(column + 3) { edges.insert(.leading) }
        if row.bool(column + 4) { edges.insert(.trailing) }
        let wait = CoreDuration(microseconds: row.bigint(column + 1) ?? 0)
        let maxCount = row.bigint(column + 6).map { Int($0) }
        let combination: Combination =
            switch row.text(column + 7) {
            case "first": .first
            case "collect": .collect
            default: .latest
            }
        do {
            let policy: Policy =
                if row.text(column) == "throttle" {
                    try .throttle(interval: wait, edges: edges, maxCount: maxCount)
                } else {
                    try .debounce(
                        wait: wait, maxWait: row.bigint(column + 2).map { CoreDuration(microseconds: $0) },
                        edges: edges,
                        delayRule: row.bool(column + 5) ? .extend : .restart, maxCount: maxCount,
                        spacing: row.bigint(column + 9).flatMap { $0 > 0 ? CoreDuration(microseconds: $0) : nil })
                }
            try self.init(
                policy, combination: combination, isMerging: row.bool(column + 15),
                maxBatch: row.bigint(column + 8).map { Int($0) },
                limit: row.bigint(column + 11).map { starts in
                    RateLimit(
                        starts: Int(starts), period: CoreDuration(microseconds: row.bigint(column + 12) ?? 0),
                        burst: Int(row.bigint(column + 13) ?? 1))
                }, maxRunning: row.bigint(column + 14).map { Int($0) },
                whileRunning: DurableWhileRunning(name: row.text(column + 10)) ?? .queue)
        } catch {
            throw .unusable("the database has a policy that this version does not understand: \(error)")
        }
    }
}
