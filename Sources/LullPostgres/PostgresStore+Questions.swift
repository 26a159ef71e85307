internal import Lull
package import LullCore
package import LullDurable

// Looking, and dead runs.

extension PostgresStore {
    /// Returns the state of a submit: see ``StoreCalls/state(of:)``.
    package func state(of receipt: DurableReceipt) async throws(DurableError) -> DurableState {
        try checkText(receipt.namespace, "the name of the namespace")
        var statement = statement("state", 4)
        statement.add(receipt.namespace)
        statement.add(receipt.key)
        statement.add(receipt.generation)
        statement.add(options.microseconds)
        let rows = try await ask(statement, in: receipt.namespace, isRepeatable: true)
        guard let row = rows.first, let name = row.text(0) else { throw .notUnderstood }
        let (attempt, error) = (Int(row.bigint(1) ?? 0), row.text(2))
        return switch name {
        case "pending": .pending
        case "ready": .ready
        case "running": .running(attempt: attempt)
        case "waitingForRetry": .waitingForRetry(attempt: attempt, error: error)
        case "completed": .completed
        case "failed": .failed(error: error)
        case "cancelled": .cancelled
        case "absorbed": .absorbed
        case "dead": .dead(error: error)
        default: .forgotten
        }
    }

    /// Returns all namespaces with their counts: see ``StoreCalls/status()``.
    package func status() async throws(DurableError) -> [DurableStatus] {
        var statement = statement(
            "status", 1,
            selecting: """
                (namespace).name, pending, ready, running, retrying, dead, oldest_due, attempts, lost_leases, \
                runs, executed, failures, restarted, (namespace).paused_at, (namespace).pause_reason, next_start, \
                \(DurableRules.columns.split(separator: ", ").map { "(namespace).\($0)" }.joined(separator: ", "))
                """)
        statement.add(options.microseconds)
        var statuses: [DurableStatus] = []
        for row in try await ask(statement, in: "", isRepeatable: true).rows {
            var status = DurableStatus(namespace: row.text(0) ?? "", rules: try DurableRules(row, at: 16))
            status.pending = Int(row.bigint(1) ?? 0)
            status.ready = Int(row.bigint(2) ?? 0)
            status.running = Int(row.bigint(3) ?? 0)
            status.retrying = Int(row.bigint(4) ?? 0)
            status.dead = Int(row.bigint(5) ?? 0)
            status.oldestDue = row.bigint(6).map { .microseconds($0) }
            let totals = (7...12).map { Int(row.bigint($0) ?? 0) }
            status.add(
                DurableTotals(
                    attempts: totals[0], lostLeases: totals[1], runs: totals[2], executed: totals[3],
                    failures: totals[4], restarted: totals[5]))
            status.pause = row.bigint(13).map { DurablePause(reason: row.text(14), time: .microseconds($0)) }
            status.nextStart = row.bigint(15).map { .microseconds($0) }
            statuses.append(status)
        }
        return statuses
    }

    package func list(
        in namespace: String, prefix: [UInt8], from start: [UInt8], limit: Int
    ) async throws(DurableError) -> [DurableListing<[UInt8]>] {
        try checkText(namespace, "the name of the namespace")
        var statement = statement("list", 5)
        statement.add(namespace)
        statement.add(prefix)
        statement.add(start)
        statement.add(int: Int32(clamping: max(0, limit)))
        statement.add(options.microseconds)
        return try await ask(statement, in: namespace, isRepeatable: true).rows.map { DurableListing($0) }
    }

    package func upcoming(
        in namespace: String, limit: Int
    ) async throws(DurableError) -> [DurableListing<[UInt8]>] {
        try checkText(namespace, "the name of the namespace")
        var statement = statement("upcoming", 3)
        statement.add(namespace)
        statement.add(int: Int32(clamping: max(0, limit)))
        statement.add(options.microseconds)
        return try await ask(statement, in: namespace, isRepeatable: true).rows.map { DurableListing($0) }
            .sortedByChange()
    }

    /// Returns how submits have ended: see ``StoreCalls/ended(of:in:limit:)``.
    package func ended(
        of key: [UInt8]?, in namespace: String, limit: Int
    ) async throws(DurableError) -> [DurableEnd<[UInt8]>] {
        try checkText(namespace, "the name of the namespace")
        var statement = statement("ended", 4)
        statement.add(namespace)
        statement.add(key)
        statement.add(int: Int32(clamping: max(0, limit)))
        statement.add(options.microseconds)
        return try await ask(statement, in: namespace, isRepeatable: true).rows.compactMap { row in
            guard let how = DurableOutcome(row.text(3) ?? "") else { return nil }
            let (first, last) = (row.bigint(1) ?? 0, row.bigint(2) ?? 0)
            return DurableEnd(
                key: row.bytes(0) ?? [], submits: first...max(first, last), how: how, run: row.bigint(4),
                error: row.text(5), age: .microseconds(row.bigint(6) ?? 0))
        }
    }

    /// What an operator of the database should watch.
    package struct Health: Sendable {
        /// The dead rows of Lull's tables that vacuum has not removed yet.
        package let deadRows: Int64
        /// How long the oldest transaction is open that keeps vacuum from removing them, of those that the schema's
        /// owner may see.
        package let oldestTransaction: Duration?
    }

    package func health() async throws(DurableError) -> Health {
        let rows = try await ask(Statement("SELECT * FROM \(schema).health()"), in: "", isRepeatable: true)
        return Health(
            deadRows: rows.first?.bigint(0) ?? 0, oldestTransaction: rows.first?.bigint(1).map { .microseconds($0) })
    }

    package func presentInstant(in namespace: String) async throws(DurableError) -> CoreInstant {
        let rows = try await ask(Statement("SELECT present FROM \(schema).health()"), in: "", isRepeatable: true)
        return CoreInstant(microseconds: rows.first?.bigint(0) ?? 0)
    }

    /// Records that a worker is there: see ``StoreCalls/announce(_:in:)``.
    package func announce(_ worker: DurableWorker.Identity, in namespace: String) async throws(DurableError) {
        try checkText(namespace, "the name of the namespace")
        var statement = statement("announce", 6, selecting: "announce")
        statement.add(namespace)
        statement.add(worker.id)
        statement.add(worker.host)
        statement.add(worker.process)
        statement.add(DurableWorker.memory.nanoseconds / 1000)
        statement.add(options.microseconds)
        _ = try await ask(statement, in: namespace, isRepeatable: true)
    }

    /// Returns the workers: see ``StoreCalls/workers(in:)``.
    package func workers(in namespace: String) async throws(DurableError) -> [DurableWorker] {
        try checkText(namespace, "the name of the namespace")
        var statement = statement("workers", 2)
        statement.add(namespace)
        statement.add(options.microseconds)
        return DurableWorker.listed(
            try await ask(statement, in: namespace, isRepeatable: true).rows.map { row in
                DurableWorker(
                    .init(id: row.bigint(0) ?? 0, host: row.text(1) ?? "", process: row.bigint(2) ?? 0),
                    seen: .microseconds(row.bigint(3) ?? 0), running: Int(row.bigint(4) ?? 0))
            })
    }

    /// Returns dead runs: see ``StoreCalls/dead(in:limit:)``.
    package func oldestDeadRuns(
        in namespace: String, limit: Int
    ) async throws(DurableError) -> [DurableDeadRun<[UInt8]>] {
        try checkText(namespace, "the name of the namespace")
        var statement = statement("dead", 3)
        statement.add(namespace)
        statement.add(int: Int32(clamping: max(0, limit)))
        statement.add(options.microseconds)
        return try await ask(statement, in: namespace, isRepeatable: true).rows.map { DurableDeadRun($0) }
    }

    package func deadRuns(
        matching selection: DurableSelection, in namespace: String, newestFirst: Bool, limit: Int
    ) async throws(DurableError) -> [DurableDeadRun<[UInt8]>] {
        try checkText(namespace, "the name of the namespace")
        var statement = statement("dead_runs", 7)
        statement.add(namespace)
        add(selection, to: &statement)
        statement.add(newestFirst)
        statement.add(int: Int32(clamping: max(0, limit)))
        return try await ask(statement, in: namespace, isRepeatable: true).rows.map { DurableDeadRun($0) }
    }

    package func deadRun(
        _ run: Int64, in namespace: String
    ) async throws(DurableError) -> DurableDeadRun<[UInt8]>? {
        try checkText(namespace, "the name of the namespace")
        var statement = statement("dead_run", 3)
        statement.add(namespace)
        statement.add(run)
        statement.add(options.microseconds)
        return try await ask(statement, in: namespace, isRepeatable: true).first.map { DurableDeadRun($0) }
    }

    /// Counts a selection: see ``StoreCalls/count(matching:in:)``.
    package func count(
        matching selection: DurableSelection, in namespace: String
    ) async throws(DurableError) -> DurableSelectionCount {
        try checkText(namespace, "the name of the namespace")
        var statement = statement("count_selected", 5, selecting: "flushable, cancellable, dead")
        statement.add(namespace)
        add(selection, to: &statement)
        let row = try await ask(statement, in: namespace, isRepeatable: true).first
        var found = DurableSelectionCount()
        found.flushable = Int(row?.bigint(0) ?? 0)
        found.cancellable = Int(row?.bigint(1) ?? 0)
        found.dead = Int(row?.bigint(2) ?? 0)
        return found
    }

    /// Retries a dead run: see ``StoreCalls/retry(_:in:)``.
    package func retryRun(_ run: Int64, in namespace: String) async throws(DurableError) -> DurableRetry {
        try checkText(namespace, "the name of the namespace")
        var statement = statement("retry", 3, selecting: "retry")
        statement.add(namespace)
        statement.add(run)
        statement.add(options.microseconds)
        switch try await ask(statement, in: namespace, isRepeatable: false).first?.text(0) {
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
        try checkText(namespace, "the name of the namespace")
        var statement = statement("discard", 2, selecting: "discard")
        statement.add(namespace)
        statement.add(run)
        return try await ask(statement, in: namespace, isRepeatable: false).first?.bool(0) ?? false
    }

    /// Pauses a namespace: see ``StoreCalls/pause(_:reason:)``.
    @discardableResult
    package func pause(_ namespace: String, reason: String?) async throws(DurableError) -> DurablePause {
        try checkText(namespace, "the name of the namespace")
        var statement = statement("pause", 3, selecting: "reason, since")
        statement.add(namespace)
        statement.add(DurablePause.kept(reason))
        statement.add(options.microseconds)
        guard let row = try await ask(statement, in: namespace, isRepeatable: true).first, let since = row.bigint(1)
        else { throw .notUnderstood }
        return DurablePause(reason: row.text(0), time: .microseconds(since))
    }

    /// Ends the pause of a namespace: see ``StoreCalls/resume(_:)``.
    @discardableResult
    package func resume(_ namespace: String) async throws(DurableError) -> Bool {
        try checkText(namespace, "the name of the namespace")
        var statement = statement("resume", 1, selecting: "resume")
        statement.add(namespace)
        let wasPaused = try await ask(statement, in: namespace, isRepeatable: false).first?.bool(0) ?? false
        state.changeAndWake { $0.wakeSignal.signalResumption(in: namespace) }
        return wasPaused
    }

    /// Forgets a namespace: see ``StoreCalls/forget(_:)``. Its row stays in the database, and shows it
    /// again if a transaction that was open meanwhile has submitted to it.
    package func forget(_ namespace: String) async throws(DurableError) {
        try checkText(namespace, "the name of the namespace")
        while true {
            var statement = statement("forget_namespace", 1, selecting: "forget_namespace")
            statement.add(namespace)
            switch try await ask(statement, in: namespace, isRepeatable: false).first?.text(0) {
            case "forgotten": return state.change { $0.known.resume[namespace] = nil }
            case "work":
                // What it had may have ended since.
                if let status = try await status().first(where: { $0.namespace == namespace }), status.hasWork {
                    throw .hasWork(status)
                }
            default: continue
            }
        }
    }
}

extension DurableListing<[UInt8]> {
    /// Reads a row of the functions `list` and `upcoming`.
    fileprivate init(_ row: Row) {
        func duration(_ column: Int) -> Duration? { row.bigint(column).map { .microseconds($0) } }
        let run = row.bigint(4).map { id in
            DurableListedRun(
                id: id, attempt: Int(row.bigint(5) ?? 0), error: row.text(7), submits: Int(row.bigint(8) ?? 0),
                worker: row.bigint(6), runningFor: duration(13), retryIn: duration(9), leaseFor: duration(10))
        }
        self.init(
            key: row.bytes(0) ?? [], pending: Int(row.bigint(1) ?? 0), pendingFor: duration(11), dueIn: duration(2),
            ready: Int(row.bigint(3) ?? 0), readyFor: duration(12), run: run)
    }
}

extension DurableDeadRun<[UInt8]> {
    /// Reads a row of the functions `dead`, `dead_run` and `dead_runs`.
    fileprivate init(_ row: Row) {
        let (first, last) = (row.bigint(3) ?? 0, row.bigint(4) ?? 0)
        self.init(
            id: row.bigint(0) ?? 0, key: row.bytes(1) ?? [], stored: row.byteStrings(2),
            submits: first...max(first, last), count: Int(row.bigint(5) ?? 0), attempts: Int(row.bigint(6) ?? 0),
            error: row.text(7), age: .microseconds(row.bigint(8) ?? 0))
    }
}
