package import LullCore
package import LullDurable

/// The calls of a store within one transaction, by the names of namespaces.
package struct SQLiteTransaction {
    var table: SQLiteTable
    /// The present instant, read after other processes could no longer write.
    package var now: CoreInstant { table.now }
    let limits: DurableLimits
    /// The namespace of the latest call: most transactions have one only.
    private var latest: DurableNamespace?
    /// Whether old entries were deleted in this transaction.
    private var hasDeletedOldEntries = false
    /// Whether a namespace of this transaction has values in rows of their own.
    private var collects = false
    /// Whether pages of the file were moved, which writes no row.
    var hasMovedPages = false

    init(_ table: SQLiteTable, limits: DurableLimits) {
        self.table = table
        self.limits = limits
    }

    /// Returns a namespace with the rules that hold for all processes.
    package mutating func namespace(_ name: String) throws(DurableError) -> DurableNamespace {
        if let latest, latest.name == name { return latest }
        guard let found = try table.connection.cachedNamespace(name) else { throw .noPolicy(namespace: name) }
        latest = found
        if found.collects { collects = true }
        return found
    }

    /// Deletes a few of the old entries, once in each transaction with submits or claims.
    private mutating func deleteOldEntries(_ namespace: DurableNamespace) throws(DurableError) {
        if hasDeletedOldEntries { return }
        hasDeletedOldEntries = true
        try table.forget(beyond: limits, in: namespace, at: now)
    }

    /// Deletes values that have ended, twice as many rows as the transaction has written. So they never pile up, however busy the store
    /// is.
    mutating func deleteReleasedValues(afterWriting rows: Int32) throws(DurableError) {
        if collects, rows > 0 { try table.deleteReleasedValues(atMost: max(SQLiteTable.mostDeleted, 2 * Int(rows))) }
    }

    // MARK: - Producers

    /// See ``DurableStore/open(_:_:)``.
    package mutating func open(_ name: String, _ rules: DurableRules?) throws(DurableError) -> DurableRules {
        let stored = try table.connection.namespace(named: name)?.rules
        let opened = try DurableNamespace.open(name, rules, stored: stored)
        if opened != stored {
            try table.connection.write(opened, of: name, isNew: stored == nil)
            latest = nil
            table.connection.clearNamespaceCache()
        }
        return opened
    }

    /// See ``DurableStore/submit(_:)``.
    package mutating func submit(_ submission: DurableSubmission) throws(DurableError) -> DurableReceipt {
        guard submission.value.count <= limits.largestValue else {
            throw .tooLarge(bytes: submission.value.count, limit: limits.largestValue)
        }
        let namespace = try namespace(submission.namespace)
        try deleteOldEntries(namespace)
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
    /// - Returns: The runs, those that have died, and when there may be more.
    package mutating func claim(
        _ claim: DurableClaim
    ) throws(DurableError) -> (runs: [DurableRun], dead: [DurableRun], next: CoreInstant?) {
        let namespace = try namespace(claim.namespace)
        try deleteOldEntries(namespace)
        return try table.claim(claim, in: namespace, at: now)
    }

    /// See ``DurableStore/report(_:)``.
    package mutating func report(_ report: DurableReport) throws(DurableError) -> DurableReport.Answer {
        try table.report(report, in: try namespace(report.namespace), at: now)
    }

    /// Makes several calls of a worker, each with an answer of its own: see ``DurableStore/exchange(_:_:)``.
    package mutating func exchange(_ reports: [DurableReport], _ claim: DurableClaim?) -> Exchange {
        Exchange(
            reports: reports.map { report in
                Result { () throws(DurableError) in try self.report(report) }
            },
            claim: claim.map { claim in
                Result { () throws(DurableError) in try self.claim(claim) }
            }, now: now)
    }

    /// The answers to an exchange.
    package struct Exchange: Sendable {
        let reports: [Result<DurableReport.Answer, DurableError>]
        let claim: Result<(runs: [DurableRun], dead: [DurableRun], next: CoreInstant?), DurableError>?
        /// The instant of the transaction.
        package let now: CoreInstant

        /// Returns the answers for the caller.
        ///
        /// - Parameter mark: Returns the mark for a claim's answer, from the instant at which there may be more.
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

    // MARK: - Queries

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

    /// Returns the earliest instant at which something of a namespace can be claimed; nil if there is none.
    package mutating func nextWake(in name: String) throws(DurableError) -> CoreInstant? {
        try table.nextWake(in: try namespace(name))
    }
}
