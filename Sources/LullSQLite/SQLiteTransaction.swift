package import LullCore
package import LullDurable

/// The calls of a store, within one transaction.
package struct SQLiteTransaction {
    var table: SQLiteTable
    /// The present instant, read when no other process could write any more.
    package var now: CoreInstant { table.now }
    let limits: DurableLimits
    /// The namespace that the calls of this transaction were about so far: mostly the same one.
    private var latest: DurableNamespace?
    private var hasForgotten = false
    /// Whether it had to do with values in rows of their own.
    private var collects = false
    /// Whether pages of the file were moved, which changes no row.
    var hasMovedPages = false

    init(_ table: SQLiteTable, limits: DurableLimits) {
        self.table = table
        self.limits = limits
    }

    /// A namespace, with the rules that hold for all processes.
    package mutating func namespace(_ name: String) throws(DurableError) -> DurableNamespace {
        if let latest, latest.name == name { return latest }
        guard let found = try table.connection.knownNamespace(name) else { throw .noPolicy(namespace: name) }
        latest = found
        if found.collects { collects = true }
        return found
    }

    /// Forgets what is old, a little in each transaction that has to do with keys.
    private mutating func forget(_ namespace: DurableNamespace) throws(DurableError) {
        if hasForgotten { return }
        hasForgotten = true
        try table.forget(beyond: limits, in: namespace, at: now)
    }

    /// Deletes values that have ended, twice as many rows as the transaction has written: so they never pile up, however
    /// busy the store is.
    mutating func deleteSpentValues(afterWriting rows: Int32) throws(DurableError) {
        if collects, rows > 0 { try table.deleteSpentValues(atMost: max(SQLiteTable.mostDeleted, 2 * Int(rows))) }
    }

    // MARK: - Producers

    /// See ``DurableStore/open(_:_:)``.
    package mutating func open(_ name: String, _ rules: DurableRules?) throws(DurableError) -> DurableRules {
        let stored = try table.connection.namespace(named: name)?.rules
        let opened = try DurableNamespace.open(name, rules, stored: stored)
        if opened != stored {
            try table.connection.keep(opened, of: name, isNew: stored == nil)
            latest = nil
            table.connection.forgetNamespaces()
        }
        return opened
    }

    /// See ``DurableStore/submit(_:)``.
    package mutating func submit(_ submission: DurableSubmission) throws(DurableError) -> DurableReceipt {
        guard submission.value.count <= limits.largestValue else {
            throw .tooLarge(bytes: submission.value.count, limit: limits.largestValue)
        }
        let namespace = try namespace(submission.namespace)
        try forget(namespace)
        return try table.submit(submission, in: namespace, at: now)
    }

    /// See ``DurableStore/flush(_:in:)``.
    package mutating func flush(_ key: [UInt8]?, in name: String) throws(DurableError) -> Int {
        try table.flush(key, in: try namespace(name), at: now)
    }

    /// See ``DurableStore/cancel(_:in:)``.
    package mutating func cancel(_ key: [UInt8]?, in name: String) throws(DurableError) -> Int {
        try table.cancel(key, in: try namespace(name), at: now)
    }

    /// See ``DurableStore/flush(submittedBy:in:)``.
    package mutating func flush(
        submittedBy submitter: Int64, in name: String
    ) throws(DurableError) -> (flushed: [(key: [UInt8], generation: Int64)], mixed: Int) {
        try table.flush(submittedBy: submitter, in: try namespace(name), at: now)
    }

    /// See ``DurableStore/cancel(submittedBy:in:)``.
    package mutating func cancel(
        submittedBy submitter: Int64, in name: String
    ) throws(DurableError) -> (cancelled: Int, mixed: Int) {
        try table.cancel(submittedBy: submitter, in: try namespace(name), at: now)
    }

    // MARK: - Workers

    /// See ``DurableStore/claim(_:)``.
    ///
    /// - Returns: The runs, and when there may be more.
    package mutating func claim(
        _ claim: DurableClaim
    ) throws(DurableError) -> (runs: [DurableRun], dead: [DurableRun], next: CoreInstant?) {
        let namespace = try namespace(claim.namespace)
        try forget(namespace)
        return try table.claim(claim, in: namespace, at: now)
    }

    /// See ``DurableStore/report(_:)``.
    package mutating func report(_ report: DurableReport) throws(DurableError) -> DurableReport.Answer {
        try table.report(report, in: try namespace(report.namespace), at: now)
    }

    /// The calls of a worker that go together, each with an answer of its own: see ``DurableStore/exchange(_:_:)``.
    package mutating func exchange(_ reports: [DurableReport], _ claim: DurableClaim?) -> Exchange {
        Exchange(
            reports: reports.map { report in
                Result { () throws(DurableError) in try self.report(report) }
            },
            claim: claim.map { claim in
                Result { () throws(DurableError) in try self.claim(claim) }
            }, now: now)
    }

    /// The answers to such calls.
    package struct Exchange: Sendable {
        let reports: [Result<DurableReport.Answer, DurableError>]
        let claim: Result<(runs: [DurableRun], dead: [DurableRun], next: CoreInstant?), DurableError>?
        /// The instant of the transaction.
        package let now: CoreInstant

        /// The answers as the caller gets them.
        ///
        /// - Parameter mark: Marks the answer to the claim, which says when there may be more.
        package func answers(mark: (CoreInstant?) -> Int64) -> DurableExchange {
            let claimed = claim.map { result in
                result.map { runs, dead, next in
                    DurableClaim.Answer(
                        runs: runs, dead: dead, next: next.map { DurableNamespace.time(from: now, to: $0) },
                        mark: mark(next))
                }
            }
            return DurableExchange(reports: reports, claim: claimed)
        }
    }

    /// See ``DurableStore/retry(_:in:)``.
    package mutating func retry(_ run: Int64, in name: String) throws(DurableError) -> DurableRetry {
        try table.retry(run, in: try namespace(name), at: now)
    }

    /// See ``DurableStore/discard(_:in:)``.
    package mutating func discard(_ run: Int64, in name: String) throws(DurableError) -> Bool {
        try table.discard(run, in: try namespace(name))
    }

    // MARK: - Questions

    /// See ``DurableStore/state(of:)``.
    package mutating func state(of receipt: DurableReceipt) throws(DurableError) -> DurableState {
        try table.state(of: receipt, in: try namespace(receipt.namespace), at: now)
    }

    /// See ``DurableStore/status()``.
    package mutating func status() throws(DurableError) -> [DurableStatus] {
        var all: [DurableStatus] = []
        for namespace in try table.connection.namespaces() { all.append(try table.status(of: namespace)) }
        return all
    }

    /// The counts of one namespace.
    package mutating func status(of name: String) throws(DurableError) -> DurableStatus {
        try table.status(of: try namespace(name))
    }

    /// See ``DurableStore/list(in:prefix:limit:)``.
    package mutating func list(
        in name: String, prefix: [UInt8], limit: Int
    ) throws(DurableError) -> [DurableListing<[UInt8]>] {
        try table.list(prefix: prefix, limit: limit, in: try namespace(name))
    }

    /// See ``DurableStore/dead(in:limit:)``.
    package mutating func dead(in name: String, limit: Int) throws(DurableError) -> [DurableDeadRun<[UInt8]>] {
        try table.dead(limit: limit, in: try namespace(name))
    }

    /// When something of a namespace can be claimed, at the earliest.
    package mutating func nextWake(in name: String) throws(DurableError) -> CoreInstant? {
        try table.nextWake(in: try namespace(name))
    }
}
