package import LullCore
package import LullDurable

// The calls of a store, by the names of namespaces.

extension SQLiteTransaction {
    // MARK: - Producers

    /// See ``DurableStore/open(_:_:)``.
    package mutating func open(_ name: String, _ rules: DurableRules?) throws(DurableError) -> DurableRules {
        let stored = try connection.namespace(named: name)?.rules
        let opened = try DurableNamespace.open(name, rules, stored: stored)
        if opened != stored { try write(opened, of: name, isNew: stored == nil) }
        return opened
    }

    /// See ``DurableStore/submit(_:)``.
    package mutating func submit(_ submission: DurableSubmission) throws(DurableError) -> DurableReceipt {
        try submission.checkSize(by: limits)
        let namespace = try namespace(submission.namespace)
        try forgetOnce(in: namespace)
        return try submit(submission, in: namespace, at: now)
    }

    /// See ``DurableStore/touch(_:in:wait:)``.
    package mutating func touch(
        _ key: [UInt8], in name: String, wait: CoreDuration?
    ) throws(DurableError) -> Bool {
        try touch(key, wait: wait, in: try namespace(name), at: now)
    }

    /// Flushes or cancels a key: see ``DurableStore/flush(_:in:)`` and ``DurableStore/cancel(_:in:)``.
    package mutating func change(
        _ change: DurableChange, _ key: [UInt8], in name: String
    ) throws(DurableError) -> Int {
        try self.change(change, key, in: try namespace(name), at: now)
    }

    /// See ``DurableStore/flush(submittedBy:in:)``.
    package mutating func flush(
        submittedBy submitter: Int64, in name: String
    ) throws(DurableError) -> (flushed: [(key: [UInt8], generation: Int64)], mixed: Int) {
        try flush(submittedBy: submitter, in: try namespace(name), at: now)
    }

    /// See ``DurableStore/cancel(submittedBy:in:)``.
    package mutating func cancel(
        submittedBy submitter: Int64, in name: String
    ) throws(DurableError) -> (cancelled: Int, mixed: Int) {
        try cancel(submittedBy: submitter, in: try namespace(name), at: now)
    }

    // MARK: - Workers

    /// The answer to a claim: the runs, those that have died, when there may be more, and the pause of the namespace.
    package typealias Claimed = (runs: [DurableRun], dead: [DurableRun], next: CoreInstant?, pause: DurablePause?)

    /// See ``DurableStore/claim(_:)``.
    package mutating func claim(_ claim: DurableClaim) throws(DurableError) -> Claimed {
        let namespace = try namespace(claim.namespace)
        try forgetOnce(in: namespace)
        let (runs, dead, next) = try self.claim(claim, in: namespace, at: now)
        return (runs, dead, next, namespace.pause)
    }

    /// See ``DurableStore/pause(_:reason:)``.
    package mutating func pause(_ name: String, reason: String?) throws(DurableError) -> DurablePause {
        let namespace = try namespace(name)
        let pause = DurablePause(reason, over: namespace.pause, at: wall)
        if pause != namespace.pause { try write(pause, of: namespace) }
        return pause
    }

    /// See ``DurableStore/resume(_:)``.
    package mutating func resume(_ name: String) throws(DurableError) -> Bool {
        let namespace = try namespace(name)
        guard namespace.pause != nil else { return false }
        try write(nil, of: namespace)
        return true
    }

    /// See ``DurableStore/report(_:)``.
    package mutating func report(_ report: DurableReport) throws(DurableError) -> DurableReport.Answer {
        try self.report(report, in: try namespace(report.namespace), at: now)
    }

    /// Looks for interrupted runs: see ``DurableStore/interruptions(of:besides:in:atMost:)``.
    package mutating func interruptions(
        of worker: Int64, besides known: [Int64], in name: String
    ) throws(DurableError) -> DurableInterruptions {
        try interruptions(of: worker, besides: known, in: try namespace(name), at: now)
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
        let claim: Result<Claimed, DurableError>?
        /// The instant of the transaction.
        package let now: CoreInstant

        /// Returns the answers for the caller.
        ///
        /// - Parameter mark: Returns the mark for a claim's answer, from the instant at which there may be more, and
        ///   whether the namespace is paused.
        package func answers(mark: (CoreInstant?, _ isPaused: Bool) -> Int64) -> DurableExchange {
            let claimed = claim.map { result in
                result.map { runs, dead, next, pause in
                    var answer = DurableClaim.Answer(
                        runs: runs, dead: dead, next: next.map { DurableNamespace.time(from: now, to: $0) },
                        mark: mark(next, pause != nil), pause: pause)
                    answer.now = now
                    return answer
                }
            }
            return DurableExchange(reports: reports, claim: claimed)
        }
    }

    /// See ``DurableStore/retry(_:in:)``.
    package mutating func retry(_ run: Int64, in name: String) throws(DurableError) -> DurableRetry {
        try retry(run, in: try namespace(name), at: now)
    }

    /// See ``DurableStore/discard(_:in:)``.
    package mutating func discard(_ run: Int64, in name: String) throws(DurableError) -> Bool {
        try discard(run, in: try namespace(name))
    }

    // MARK: - Queries

    /// See ``DurableStore/state(of:)``.
    package mutating func state(of receipt: DurableReceipt) throws(DurableError) -> DurableState {
        try state(of: receipt, in: try namespace(receipt.namespace), at: now)
    }

    /// See ``DurableStore/status()``.
    package mutating func status() throws(DurableError) -> [DurableStatus] {
        var all: [DurableStatus] = []
        for namespace in try connection.namespaces() { all.append(try status(of: namespace)) }
        return all
    }

    /// See ``DurableStore/list(in:prefix:limit:)``.
    package mutating func list(
        in name: String, prefix: [UInt8], from start: [UInt8] = [], limit: Int
    ) throws(DurableError) -> [DurableListing<[UInt8]>] {
        try list(prefix: prefix, from: start, limit: limit, in: try namespace(name))
    }

    /// See ``StoreForCommands/upcoming(in:limit:)``.
    package mutating func upcoming(in name: String, limit: Int) throws(DurableError) -> [DurableListing<[UInt8]>] {
        try upcoming(limit: limit, in: try namespace(name))
    }

    /// See ``DurableStore/ended(of:in:limit:)``.
    package mutating func ended(
        of key: [UInt8]?, in name: String, limit: Int
    ) throws(DurableError) -> [DurableEnd<[UInt8]>] {
        try ended(of: key, limit: limit, in: try namespace(name))
    }

    /// See ``DurableStore/announce(_:in:)``.
    package mutating func announce(_ worker: DurableWorker.Identity, in name: String) throws(DurableError) {
        let namespace = try namespace(name)
        let deletion = try connection[.forgetWorkers]
        deletion.bind(":namespace", namespace.id)
        deletion.bind(":before", now.nanoseconds - DurableWorker.memory.nanoseconds)
        try deletion.run()
        let statement = try connection[.announceWorker]
        statement.bind(":namespace", namespace.id)
        statement.bind(":worker", worker.id)
        statement.bind(":host", text: worker.host)
        statement.bind(":process", worker.process)
        statement.bind(":now", now)
        try statement.run()
    }

    /// See ``DurableStore/workers(in:)``.
    package mutating func workers(in name: String) throws(DurableError) -> [DurableWorker] {
        let statement = try connection[.announcedWorkers]
        defer { statement.reset() }
        statement.bind(":namespace", try namespace(name).id)
        var announced: [DurableWorker] = []
        while try statement.next() {
            announced.append(
                DurableWorker(
                    .init(id: statement.integer(0), host: statement.text(1), process: statement.integer(2)),
                    seen: DurableNamespace.time(from: statement.instant(3), to: now), running: Int(statement.integer(4))
                ))
        }
        return DurableWorker.listed(announced)
    }

    /// See ``DurableStore/dead(in:limit:)``.
    package mutating func dead(in name: String, limit: Int) throws(DurableError) -> [DurableDeadRun<[UInt8]>] {
        let namespace = try namespace(name)
        var found: [DurableDeadRun<[UInt8]>] = []
        for run in try deadRuns(matching: .all, in: namespace, limit: limit, { _, run, _ in run.id }) {
            if let run = try deadRun(run, in: namespace) { found.append(run) }
        }
        return found
    }

    /// See ``DurableStore/deadRuns(matching:in:)``.
    package mutating func deadRuns(
        matching selection: DurableSelection, in name: String
    ) throws(DurableError) -> [Int64] {
        try deadRuns(matching: selection, in: try namespace(name)) { _, run, _ in run.id }
    }

    /// See ``StoreForCommands/deadRuns(matching:in:newestFirst:limit:)``.
    package mutating func deadRuns(
        matching selection: DurableSelection, in name: String, newestFirst: Bool, limit: Int
    ) throws(DurableError) -> [DurableDeadRun<[UInt8]>] {
        let now = now
        return try deadRuns(
            matching: selection, in: try namespace(name), newestFirst: newestFirst, limit: limit
        ) { key, run, at in
            DurableDeadRun(key: key, run: run, stored: [], diedAt: at, at: now)
        }
    }

    /// See ``StoreForCommands/deadRun(_:in:)``.
    package mutating func deadRun(_ run: Int64, in name: String) throws(DurableError) -> DurableDeadRun<[UInt8]>? {
        try deadRun(run, in: try namespace(name))
    }

    /// Returns the earliest instant at which something of a namespace can be claimed, nil if there is none, and whether
    /// the namespace is paused.
    package mutating func nextWake(in name: String) throws(DurableError) -> (next: CoreInstant?, isPaused: Bool) {
        let namespace = try namespace(name)
        return (try nextWake(in: namespace), namespace.pause != nil)
    }
}
