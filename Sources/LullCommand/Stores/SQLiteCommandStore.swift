internal import LullCore
internal import LullDurable
internal import LullSQLite

/// The questions to a store in a file, whether it was opened for reading or for writing.
protocol SQLiteQuestions: CommandReader {
    /// Executes a body that changes nothing, at one instant.
    func read<Answer>(
        _ body: (inout SQLiteTransaction) throws(DurableError) -> Answer
    ) throws(DurableError) -> Answer
}

extension SQLiteQuestions {
    func names() throws(DurableError) -> [String] {
        try read { transaction throws(DurableError) in try transaction.names() }
    }

    func status() throws(DurableError) -> [DurableStatus] {
        try read { transaction throws(DurableError) in try transaction.status() }
    }

    func status(of namespace: String) throws(DurableError) -> DurableStatus {
        try read { transaction throws(DurableError) in try transaction.status(of: namespace) }
    }

    func list(
        in namespace: String, from start: [UInt8], limit: Int
    ) throws(DurableError) -> [DurableListing<[UInt8]>] {
        try read { transaction throws(DurableError) in
            try transaction.list(in: namespace, from: start, limit: limit)
        }
    }

    func ended(
        of key: [UInt8]?, in namespace: String, limit: Int
    ) throws(DurableError) -> [DurableEnd<[UInt8]>] {
        try read { transaction throws(DurableError) in
            try transaction.ended(of: key, in: namespace, limit: limit)
        }
    }

    func workers(in namespace: String) throws(DurableError) -> [DurableWorker] {
        try read { transaction throws(DurableError) in try transaction.workers(in: namespace) }
    }

    func dead(in namespace: String, limit: Int) throws(DurableError) -> [DurableDeadRun<[UInt8]>] {
        try read { transaction throws(DurableError) in try transaction.dead(in: namespace, limit: limit) }
    }

    func health() -> ServerHealth? { nil }
}

/// Reads a store in a file.
struct SQLiteCommandReader: SQLiteQuestions {
    let file: SQLiteReader

    func read<Answer>(
        _ body: (inout SQLiteTransaction) throws(DurableError) -> Answer
    ) throws(DurableError) -> Answer { try file.read(body) }
}

/// A store in a file. What belongs together is one transaction, but for a change of all keys.
struct SQLiteCommandStore: CommandStore, SQLiteQuestions {
    let file: SQLiteFile

    func read<Answer>(
        _ body: (inout SQLiteTransaction) throws(DurableError) -> Answer
    ) throws(DurableError) -> Answer { try file.read(body) }

    func state(of receipt: DurableReceipt) throws(DurableError) -> DurableState {
        try file.read { transaction throws(DurableError) in try transaction.state(of: receipt) }
    }

    // MARK: - Producers

    func open(_ namespace: String, _ policy: NamespacePolicy) throws(DurableError) -> Result<DurableRules, Failure> {
        try file.write { transaction throws(DurableError) in
            let stored = try transaction.rules(of: namespace)
            let given: DurableRules?
            do throws(Failure) {
                given = try policy.rules(over: stored, of: namespace)
            } catch {
                return .failure(error)
            }
            return .success(try transaction.open(namespace, given))
        }
    }

    func submit(_ batch: [DurableSubmission]) throws(DurableError) -> [Result<DurableReceipt, DurableError>] {
        try file.write { transaction throws(DurableError) in
            batch.map { submission in
                Result { () throws(DurableError) in try transaction.submit(submission) }
            }
        }
    }

    func flush(_ keys: [[UInt8]?], in namespace: String) throws(DurableError) -> [Int] {
        try change(.flush, keys, in: namespace)
    }

    func cancel(_ keys: [[UInt8]?], in namespace: String) throws(DurableError) -> [Int] {
        try change(.cancel, keys, in: namespace)
    }

    private func change(
        _ change: DurableChange, _ keys: [[UInt8]?], in namespace: String
    ) throws(DurableError) -> [Int] {
        if keys == [nil] { return [try file.change(change, allIn: namespace)] }
        return try file.write { transaction throws(DurableError) in
            var counts: [Int] = []
            for case let key? in keys { counts.append(try transaction.change(change, key, in: namespace)) }
            return counts
        }
    }

    func flush(submittedBy submitter: Int64, in namespace: String) throws(DurableError) -> OwnFlush {
        try file.write { transaction throws(DurableError) in
            let answer = try transaction.flush(submittedBy: submitter, in: namespace)
            return OwnFlush(flushed: answer.flushed, mixed: answer.mixed, now: transaction.now)
        }
    }

    func cancel(submittedBy submitter: Int64, in namespace: String) throws(DurableError) -> Int {
        try file.write { transaction throws(DurableError) in
            try transaction.cancel(submittedBy: submitter, in: namespace).mixed
        }
    }

    func retry(_ run: Int64, in namespace: String) throws(DurableError) -> DurableRetry {
        try file.write { transaction throws(DurableError) in try transaction.retry(run, in: namespace) }
    }

    func discard(_ run: Int64, in namespace: String) throws(DurableError) -> Bool {
        try file.write { transaction throws(DurableError) in try transaction.discard(run, in: namespace) }
    }

    func announce(_ worker: DurableWorker.Identity, in namespace: String) throws(DurableError) {
        try file.write { transaction throws(DurableError) in try transaction.announce(worker, in: namespace) }
    }

    func forget(_ namespace: String) throws(DurableError) { try file.forget(namespace) }

    // MARK: - For a session

    func exchange(_ reports: [DurableReport], _ claim: DurableClaim?, in namespace: String) -> CommandExchange {
        do throws(DurableError) {
            let (exchange, next) = try file.write { transaction throws(DurableError) in
                (
                    transaction.exchange(reports, claim),
                    claim == nil ? try transaction.nextWake(in: namespace) : nil
                )
            }
            // The session has one worker, which sees every change; it needs no marks.
            return CommandExchange(
                answers: exchange.answers { _ in 0 }, now: exchange.now,
                hasMore: next.map { $0 <= exchange.now } ?? false)
        } catch {
            return CommandExchange(answers: DurableExchange(reports, claim, failed: error))
        }
    }

    func watch(_ namespace: String, after mark: Int64, atMost time: CoreDuration) {}

    var changesDescriptor: Int32 { -1 }

    func hasChanges() throws(DurableError) -> Bool { try file.hasForeignCommits() }

    func check() throws(DurableError) { try file.check() }

    func maintain() { file.maintain() }

    func cleanUp() { file.cleanUp() }
}
