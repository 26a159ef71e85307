internal import CLullFiles
internal import CLullSQLite
internal import LullCore
package import LullDurable

/// Reads a store in one file, and changes nothing.
///
/// It takes no lock that a writer waits for, creates no file and needs no permission to write, and therefore answers on
/// a full disk, on a read-only one, and beside a writer that is stuck. Every query opens the file again, so that the
/// answer comes from the file that has the name now.
package struct SQLiteReader: Sendable {
    private let path: String
    private let options: SQLiteFile.Options

    /// Creates a reader of a file that exists. Each query checks whether it is one of Lull's.
    package init(_ path: String, _ options: SQLiteFile.Options = SQLiteFile.Options()) throws(DurableError) {
        self.path = path
        self.options = options
        try SQLiteFile.inspect(path, creates: false, options)
    }

    /// Makes a query.
    ///
    /// - Parameter body: Called again if the file was changed meanwhile.
    package func read<Answer>(
        _ body: (inout SQLiteTransaction) throws(DurableError) -> Answer
    ) throws(DurableError) -> Answer {
        do throws(DurableError) {
            return try readInAnyState(body)
        } catch {
            // A query records nothing that could be refused.
            switch error {
            case .refused(let why), .full(let why): throw .unusable(why)
            default: throw error
            }
        }
    }

    /// Makes a call of a store, and answers its caller.
    func make(_ call: StoreCall) {
        if call.writes { return call.refusal(.unusable("\(path) was opened for reading"))() }
        do throws(DurableError) {
            let deliver = try read { transaction throws(DurableError) in call.perform(&transaction) }
            deliver(nil)()
        } catch {
            call.refusal(error)()
        }
    }

    private func readInAnyState<Answer>(
        _ body: (inout SQLiteTransaction) throws(DurableError) -> Answer
    ) throws(DurableError) -> Answer {
        let end = ContinuousClock.now.advanced(by: options.patience)
        while true {
            guard let name = lull_full_name(path) else { throw .unusable("there is no file \(path)") }
            let file = String(cString: name)
            free(name)
            for suffix in ["", "-wal", "-shm"] {
                let code = lull_why_unreadable(file + suffix)
                if code != 0 { throw .unusable("\(path)\(suffix) cannot be read: \(String(cString: strerror(code)))") }
            }
            guard lull_size(file + "-journal") == 0 else {
                throw .unusable("\(path) was left half made: whatever works or submits there mends it")
            }
            let before = Marks(of: file)
            // Without a log the file is not in use, whatever else was left; and SQLite would create a log.
            if before.hasIndex, before.log.exists { return try readShared(file, body) }
            let result = readUnused(file, before, body)
            if before == Marks(of: file) { return try result.get() }
            guard ContinuousClock.now < end else { throw .refused("\(path) changes again and again while it is read") }
        }
    }

    /// Reads a file that other processes may be using: the index of the log says what has been committed.
    private func readShared<Answer>(
        _ file: String, _ body: (inout SQLiteTransaction) throws(DurableError) -> Answer
    ) throws(DurableError) -> Answer {
        let connection = try Connection(reading: file, "readonly_shm=1", options)
        do throws(DurableError) {
            return try query(connection, body)
        } catch {
            // An index that no reader has used yet, or whose last writer was killed while it wrote, has to be rebuilt
            // first. That changes nothing that is stored, and needs permission to write the index.
            guard connection.latestCode & 0xFF == SQLITE_READONLY else { throw error }
        }
        return try query(try Connection(reading: file, "", options), body)
    }

    /// Reads a file that is not in use: it has no log, or no index of its log, and this creates none. A process that
    /// opens the file creates them, which shows that what was read meanwhile is not valid.
    private func readUnused<Answer>(
        _ file: String, _ marks: Marks, _ body: (inout SQLiteTransaction) throws(DurableError) -> Answer
    ) -> Result<Answer, DurableError> {
        Result { () throws(DurableError) in
            if marks.log.size == 0 { return try query(try Connection(reading: file, "immutable=1", options), body) }
            let connection = try Connection(reading: file, "", vfs: "unix-none", options)
            // In this mode SQLite keeps the index in memory.
            try connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            return try query(connection, body)
        }
    }

    private func query<Answer>(
        _ connection: Connection, _ body: (inout SQLiteTransaction) throws(DurableError) -> Answer
    ) throws(DurableError) -> Answer {
        defer { connection.close() }
        try connection.execute("PRAGMA mmap_size = 0")
        try connection[.beginReading].run()
        defer { connection.rollBack() }
        switch try connection.kind() {
        case .empty: throw .unusable("\(path) is empty: nothing has been stored in it yet")
        case .ours(let version) where version < options.migrations.count:
            throw .unusable(
                "\(path) was written by an older version of Lull: its schema is \(version), this version reads "
                    + "\(options.migrations.count). Whatever works or submits there brings it up to date")
        case .ours: break
        }
        // The time advances without being written.
        var transaction = SQLiteTransaction(
            connection, try Meta(from: connection), at: options.clock.read(), limits: options.limits)
        return try body(&transaction)
    }

    /// Properties that show whether another process has opened a file that was not in use.
    private struct Marks: Equatable {
        let file: FileMark
        let log: FileMark
        /// Whether the file is in use, or the index of its log was left behind.
        let hasIndex: Bool

        init(of file: String) {
            self.file = FileMark(of: file)
            log = FileMark(of: file + "-wal")
            hasIndex = FileMark(of: file + "-shm").exists
        }
    }
}
