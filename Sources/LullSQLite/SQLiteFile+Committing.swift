internal import CLullSQLite
internal import LullDurable

// A writing transaction, from its begin to the answers of its calls: a state machine.
//
//     refused     it did not begin                ──▶ every call is refused
//     unchanged   the calls have written nothing  ──▶ rolled back; every call is answered
//     failed      a statement has failed          ──▶ rolled back; a single call fails, several are repeated, each alone
//     complete    its end is written              ──▶ commit
//
//     commit succeeds                ──▶ every call is answered; with `unknown` if the file no longer has its name
//     commit fails, the disk is full ──▶ rolled back: without its last part it is no commit; every call fails
//     commit fails otherwise         ──▶ the file is uncertain: see CommitRecovery.swift

extension SQLiteFile {
    /// What a transaction has come to when its calls have been made.
    private enum Execution {
        case refused(DurableError)
        case unchanged(Connection)
        case failed(Connection, DurableError)
        case complete(Connection, CommitMark)
    }

    /// Makes calls in one transaction, commits it, and answers each call. The writer lock must be held.
    func commit(_ calls: [any PendingCall], more: () -> [any PendingCall] = { [] }) {
        var calls = calls
        switch execute(&calls, more: more) {
        case .refused(let error):
            connection?.rollBack()
            for call in calls { call.refuse(error) }
        case .unchanged(let connection):
            connection.rollBack()
            finish(calls, nil)
        case .failed(let connection, let error):
            connection.rollBack()
            if calls.count == 1 { return finish(calls, error) }
            // One of them failed, or the disk. Retries each call alone to isolate the failing one.
            for call in calls { commit([call]) }
        case .complete(let connection, let mark):
            finish(calls, end(connection, mark))
        }
    }

    private func finish(_ calls: [any PendingCall], _ failure: DurableError?) {
        for call in calls { call.finish(failure) }
    }

    /// Begins a transaction, makes the calls in it, and writes what the file says of itself.
    private func execute(_ calls: inout [any PendingCall], more: () -> [any PendingCall]) -> Execution {
        let connection: Connection
        let old: Meta
        let reading: StoreTime.Reading
        do throws(DurableError) {
            connection = try openConnection()
            try check()
            connection.latestFailure = nil
            try connection[.begin].run()
            var meta = try Meta(from: connection)
            reading = options.clock.read()
            if !meta.time.isTied(to: reading) { try meta.catchUp(in: connection) }
            old = meta
        } catch {
            return .refused(error)
        }

        var meta = old
        let rows = connection.rowsWritten
        var transaction = transaction(connection, &meta, at: reading)
        perform(&calls, more: more, in: &transaction, &meta)
        if connection.latestFailure == nil {
            try? transaction.deleteReleasedValues(afterWriting: connection.rowsWritten &- rows)
        }
        meta.base = transaction.table.base
        meta.sequence = transaction.table.sequence
        let isUnchanged = connection.rowsWritten == rows && !transaction.hasMovedPages && !meta.differs(from: old)
        if connection.latestFailure == nil, isUnchanged { return .unchanged(connection) }
        let mark: CommitMark
        if let submit = transaction.table.submitMark, meta.canLag(behind: old) {
            mark = submit
        } else {
            meta.lastCommit = .random(in: .min ... .max)
            mark = .number(meta.lastCommit)
            if connection.latestFailure == nil { try? meta.write(to: connection, since: old) }
        }
        if let failure = connection.latestFailure { return .failed(connection, failure) }
        return .complete(connection, mark)
    }

    /// Makes calls until none is left or a statement fails.
    private func perform(
        _ calls: inout [any PendingCall], more: () -> [any PendingCall], in transaction: inout SQLiteTransaction,
        _ meta: inout Meta
    ) {
        var index = 0
        while transaction.table.connection.latestFailure == nil {
            if index == calls.count {
                let new = more()
                if new.isEmpty { return }
                calls += new
                transaction.table.now = meta.time.now(options.clock.read())
            }
            calls[index].perform(in: &transaction)
            index += 1
        }
    }

    /// Commits a transaction.
    ///
    /// - Returns: The error for its callers; nil if it was committed.
    private func end(_ connection: Connection, _ mark: CommitMark) -> DurableError? {
        do throws(DurableError) {
            try connection[.commit].run()
            lastCommit = .now
            // A commit to a file that no longer has its name is not acknowledged.
            return files.loss.map { .unknown($0.reason) }
        } catch {
            // Without room the last part of a commit was not written, and without it there is no commit.
            if connection.latestCode & 0xFF == SQLITE_FULL {
                connection.rollBack()
                return error
            }
            return resolve(mark, after: error)
        }
    }
}
