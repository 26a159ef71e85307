internal import CLullSQLite
internal import LullDurable

// A writing transaction, from its begin to its end: a state machine.
//
//     refused     it did not begin               ──▶ nothing was made
//     unchanged   its body has written nothing   ──▶ rolled back, as good as committed
//     failed      a statement has failed         ──▶ rolled back
//     complete    its last part is written       ──▶ commit
//
//     commit succeeds                ──▶ committed; `unknown` if a file no longer has its name
//     no room, or no right to write  ──▶ rolled back: without its last part it is no commit
//     commit fails otherwise         ──▶ the file is uncertain: see below
//
// The calls of a store that share a transaction are answered when it has ended. If a statement has failed, each is
// repeated alone.

extension SQLiteFile {
    /// What has become of a transaction.
    enum TransactionResult {
        /// It did not begin.
        case refused(DurableError)
        /// A statement has failed, and nothing was recorded.
        case rolledBack(DurableError)
        /// The commit has failed, or its outcome is unknown.
        case commitFailed(DurableError)
        /// It was committed, or there was nothing to commit.
        case committed

        var failure: DurableError? {
            switch self {
            case .refused(let error), .rolledBack(let error), .commitFailed(let error): error
            case .committed: nil
            }
        }
    }

    /// The state of a transaction when its body has been executed.
    private enum BodyResult {
        case refused(DurableError)
        case unchanged(Connection)
        case failed(Connection, DurableError)
        case complete(Connection, CommitMark)
    }

    /// Makes calls in one transaction, commits it, and answers each call. The writer lock must be held.
    func commit(_ calls: [StoreCall], more: () -> [StoreCall]) {
        var calls = calls
        var answers: [StoreCall.Delivery] = []
        let result = transact { transaction in
            while transaction.connection.latestFailure == nil {
                if answers.count == calls.count {
                    let new = more()
                    if new.isEmpty { return }
                    calls += new
                    transaction.advance(to: options.clock.read())
                }
                answers.append(calls[answers.count].perform(&transaction))
            }
        }
        switch result {
        case .refused(let error):
            calls.map { $0.refusal(error) }.answer()
        case .rolledBack where calls.count > 1:
            // One of them failed, or the disk. Retries each call alone to isolate the failing one.
            for call in calls { commit([call], more: { [] }) }
        case .rolledBack, .commitFailed, .committed:
            answers.map { $0(result.failure) }.answer()
        }
    }

    /// Executes a body in one transaction, and commits it. The writer lock must be held.
    func transact(_ body: (inout SQLiteTransaction) -> Void) -> TransactionResult {
        switch execute(body) {
        case .refused(let error):
            connection?.rollBack()
            return .refused(error)
        case .unchanged(let connection):
            connection.rollBack()
            return .committed
        case .failed(let connection, let error):
            connection.rollBack()
            return .rolledBack(error)
        case .complete(let connection, let mark):
            return end(connection, mark).map { .commitFailed($0) } ?? .committed
        }
    }

    /// Begins a transaction, executes the body in it, and writes what the file says of itself.
    private func execute(_ body: (inout SQLiteTransaction) -> Void) -> BodyResult {
        let connection: Connection
        var old: Meta
        let reading: StoreTime.Reading
        do throws(DurableError) {
            connection = try openConnection()
            try check()
            // A log that was cut would have a gap, and end there.
            guard connection.hasWholeLog else { throw files.cutLog }
            connection.latestFailure = nil
            try connection[.begin].run()
            old = try Meta(from: connection)
            reading = options.clock.read()
            if !old.time.isTied(to: reading) { try old.catchUp(in: connection) }
        } catch {
            return .refused(error)
        }

        let rows = connection.rowsWritten
        var transaction = SQLiteTransaction(connection, old, at: reading, limits: options.limits)
        body(&transaction)
        if connection.latestFailure == nil {
            try? transaction.deleteReleasedValues(afterWriting: connection.rowsWritten &- rows)
        }
        if connection.latestFailure == nil { try? transaction.writeCounts() }
        var meta = transaction.meta
        let isUnchanged = connection.rowsWritten == rows && !transaction.hasMovedPages && !meta.differs(from: old)
        if connection.latestFailure == nil, isUnchanged { return .unchanged(connection) }
        let mark: CommitMark
        if let submit = transaction.submitMark, meta.canLag(behind: old) {
            mark = submit
        } else {
            meta.lastCommit = .random(in: .min ... .max)
            mark = .number(meta.lastCommit)
            if connection.latestFailure == nil { try? meta.write(to: connection, since: old) }
        }
        if let failure = connection.latestFailure { return .failed(connection, failure) }
        return .complete(connection, mark)
    }

    /// Commits a transaction.
    ///
    /// - Returns: The error for the callers; nil if it was committed.
    private func end(_ connection: Connection, _ mark: CommitMark) -> DurableError? {
        do throws(DurableError) {
            try connection[.commit].run()
            lastCommit = .now
            // A commit to files that no longer have their names is not acknowledged.
            guard let loss = lossOfCommit(connection) else { return nil }
            nextCheck = .now
            return .unknown(loss.reason)
        } catch {
            // Without room, or the right, the last part of a commit was not written, and without it there is no commit.
            if connection.latestCode & 0xFF == SQLITE_FULL || connection.refusesWrites {
                connection.rollBack()
                return error
            }
            return resolve(mark, after: error)
        }
    }
}

// The recovery of a file after a failed commit: a state machine.
//
//     open ── a commit fails ──▶ uncertain
//     uncertain ── the file is opened again, and its log rewritten, copied and emptied ──▶ open
//     uncertain ── any part of that fails ──▶ uncertain
//
// The calls of the transaction are answered when the file is open again: with their results if the commit's mark is in
// the file, with `refused` if it is not. If the file cannot be opened again, they are answered with `unknown`, and the
// next call tries again.

/// Whether a file can be used.
enum FileState {
    /// Everything that can be read of the file is on the disk.
    case open(Connection)
    /// A commit has failed, and the file is closed: what its log holds may never have reached the disk, though it can
    /// be read.
    case uncertain

    /// The connection to an open file.
    var connection: Connection? {
        switch self {
        case .open(let connection): connection
        case .uncertain: nil
        }
    }

    /// A commit has failed: closes the file.
    mutating func commitFailed() {
        switch self {
        case .open(let connection):
            connection.close()
            self = .uncertain
        case .uncertain: preconditionFailure("a commit needs an open file")
        }
    }

    /// The file has been opened again, and its log is certain.
    mutating func recovered(_ connection: Connection) {
        switch self {
        case .uncertain: self = .open(connection)
        case .open: preconditionFailure("an open file needs no recovery")
        }
    }
}

/// Evidence that a transaction is in the file: a value that no other transaction can have written.
enum CommitMark: Equatable {
    /// The random number in `meta`.
    case number(Int64)
    /// The generation to which a submit has raised a row. Most transactions write such a row anyway.
    case submit(row: Int64, generation: Int64)
}

extension Connection {
    /// Returns whether the transaction with this mark was the latest to be committed. No other may have been committed
    /// since.
    func contains(_ mark: CommitMark) throws(DurableError) -> Bool {
        switch mark {
        case .number(let number):
            try self.number("SELECT count(*) FROM meta WHERE last_commit = \(number)") == 1
        case .submit(let row, let generation):
            try number("SELECT count(*) FROM work WHERE id = \(row) AND generation = \(generation)") == 1
        }
    }
}

extension SQLiteFile {
    /// Returns the connection, after recovering the file if its last commit failed. The writer lock must be held.
    func openConnection() throws(DurableError) -> Connection {
        if let connection { return connection }
        try files.checkIdentity()
        let opened = try Self.connect(path, creates: false, options)
        try files.opened(opened)
        try checkLog(of: opened)
        // The log has to be on the disk before it is copied: a power cut in between would leave a part of the copy, and
        // nothing to repair it with.
        try opened.rewriteLog()
        guard try checkpoint(opened, truncates: true, within: options.patience) else {
            throw .refused("\(path) is read by another program for too long")
        }
        // A submit that is refused now must not be found in an old log after a power cut: makes sure that the log is
        // empty on the disk, too.
        try opened.rewriteLog()
        state.recovered(opened)
        return opened
    }

    /// Recovers the file after a commit has failed, and finds out whether it was made.
    ///
    /// - Returns: The error for the callers; nil if the commit was made.
    func resolve(_ mark: CommitMark, after error: DurableError) -> DurableError? {
        state.commitFailed()
        do throws(DurableError) {
            if try openConnection().contains(mark) { return nil }
            switch error {
            case .refused, .full: return error
            default: return .refused("\(error)")
            }
        } catch let second {
            return .unknown("\(error.reason); then \(second.reason)")
        }
    }
}
