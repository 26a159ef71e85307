internal import LullDurable

// The recovery of a file after a failed commit: a state machine.
//
//     open ── a commit fails ──▶ uncertain
//     uncertain ── the file is opened again, and its log rewritten, copied and emptied ──▶ open
//     uncertain ── any part of that fails ──▶ uncertain
//
// The calls of the transaction are answered when the file is open again: with their results if the commit's mark is in the file, with
// `refused` if it is not. If the file cannot be opened again, they are answered with `unknown`, and the next call tries again.

/// Whether a file can be used.
enum FileState {
    /// Everything that can be read of the file is on the disk.
    case open(Connection)
    /// A commit has failed, and the file is closed: what its log holds may never have reached the disk, though it can be read.
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
    /// Returns whether the transaction with this mark was the latest to be committed. No other may have been committed since.
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
        try files.reopened(opened)
        // The log has to be on the disk before it is copied: a power cut in between would leave a part of the copy, and nothing to
        // repair it with.
        try opened.rewriteLog()
        guard try opened.checkpoint(truncates: true, within: options.patience) else {
            throw .refused("\(path) is read by another program for too long")
        }
        // A submit that is refused now must not be found in an old log after a power cut: makes sure that the log is empty on the disk, too.
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
            if case .refused = error { return error }
            return .refused("\(error)")
        } catch let second {
            return .unknown("\(error.reason); then \(second.reason)")
        }
    }
}
