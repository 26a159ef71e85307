internal import CLullFiles
internal import CLullSQLite
internal import Lull
internal import LullCore
internal import LullDurable

/// An open database file. Only the thread that opened it may use it.
///
/// Every failure of SQLite becomes a ``DurableError`` and is stored in ``latestFailure``. A writer checks it before the
/// commit, since a statement that failed may have left half of a step behind.
final class Connection {
    let path: String
    /// The latest failure since this was last cleared.
    var latestFailure: DurableError?
    /// SQLite's extended code of the latest failure.
    private(set) var latestCode = SQLITE_OK
    /// Whether the latest failure was that the system refused to write to a file, for its permissions or the like.
    private(set) var refusesWrites = false
    /// The steps that bring a file from each version to the next.
    let migrations: [String]
    private let patience: Duration
    private var isClosed = false
    let handle: OpaquePointer
    /// The number of pages in the log. SQLite's hook writes it, which is why it lies in memory of its own.
    private let pages: UnsafeMutablePointer<Int32>
    /// The prepared statements of ``Query``, and those of ``RowUpdate``.
    private var queries: [Statement?] = []
    private var changes: [RowUpdate: Statement] = [:]
    private var latestChange: (RowUpdate, Statement)?
    /// The namespaces that were read at this `data_version` of the file.
    var namespaceCache: (version: Int64, namespaces: [String: DurableNamespace]) = (0, [:])

    /// Opens a file for reading and writing.
    ///
    /// - Parameter creates: Whether a file that does not exist is created, for its owner alone.
    convenience init(_ path: String, creates: Bool, _ options: SQLiteFile.Options) throws(DurableError) {
        let flags = SQLITE_OPEN_READWRITE | lull_sqlite_open_flags() | (creates ? SQLITE_OPEN_CREATE : 0)
        // A name that begins with a colon means something else to SQLite.
        let path = path.hasPrefix("/") ? path : "./" + path
        // SQLite would let everyone read it. It gives the files beside it the same permissions. A file system that is
        // given by name creates its files itself.
        if creates, options.vfs == nil { lull_create_private(path) }
        try self.init(path, named: path, flags, options.vfs, options)
    }

    /// Opens a file for reading.
    ///
    /// - Parameters:
    ///   - path: The full name of the file.
    ///   - parameters: The parameters of SQLite's URI.
    ///   - vfs: The file system to use if the options name none.
    convenience init(
        reading path: String, _ parameters: String, vfs: String? = nil, _ options: SQLiteFile.Options
    ) throws(DurableError) {
        let uri = "file://\(Self.escaped(path))?mode=ro&\(parameters)"
        try self.init(path, named: uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, options.vfs ?? vfs, options)
    }

    private init(
        _ path: String, named name: String, _ flags: Int32, _ vfs: String?, _ options: SQLiteFile.Options
    ) throws(DurableError) {
        self.path = path
        migrations = options.migrations
        patience = options.patience
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(name, &opened, flags | SQLITE_OPEN_NOMUTEX, vfs)
        guard code == SQLITE_OK, let opened else {
            let why = opened.map { Self.lastMessage($0) } ?? "out of memory"
            sqlite3_close_v2(opened)
            throw .unusable("\(path) cannot be opened: \(why)")
        }
        handle = opened
        pages = .allocate(capacity: 1)
        pages.initialize(to: 0)
        sqlite3_extended_result_codes(handle, 1)
        wait(patience)
        _ = lull_sqlite_keep_log(handle)
        lull_sqlite_count_pages(handle, pages)
    }

    deinit {
        close()
        pages.deallocate()
    }

    /// Returns a path as it is written in a URI.
    private static func escaped(_ path: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"):
                bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Closes the file. The connection must not be used afterwards.
    func close() {
        if isClosed { return }
        isClosed = true
        queries = []
        changes = [:]
        latestChange = nil
        // Unlike `sqlite3_close`, this waits for a statement that lives a little longer.
        sqlite3_close_v2(handle)
    }

    /// Sets how long to wait for another program that has locked the file.
    private func wait(_ time: Duration) {
        sqlite3_busy_timeout(handle, Int32(clamping: CoreDuration(time).nanoseconds / 1_000_000))
    }

    // MARK: - State

    /// The full name of the file, as SQLite derives the names of the files beside it.
    var file: String { sqlite3_db_filename(handle, "main").map { String(cString: $0) } ?? path }

    /// Whether the file can only be read.
    var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }

    /// Whether the name by which the file was opened now means another file, or none.
    var hasMoved: Bool { lull_sqlite_has_moved(handle) != 0 }

    /// Whether a transaction is open.
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// The number of rows that this connection has written.
    var rowsWritten: Int32 { sqlite3_total_changes(handle) }

    /// The rowid of the row that was inserted last.
    var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }

    /// The number of pages in the write-ahead log after the latest commit of this connection.
    var pagesInLog: Int { Int(pages.pointee) }

    /// Whether the write-ahead log has contents, from this process or another one.
    var hasLog: Bool { lull_size(file + "-wal") > 0 }

    /// Whether the write-ahead log has at least all that was written to it.
    var hasWholeLog: Bool { lull_sqlite_log_is_whole(handle) != 0 }

    /// A hash of the beginning of the file, without its log; 0 if it cannot be read.
    var hash: UInt64 { lull_sqlite_hash(handle) }

    // MARK: - Statements

    /// Runs statements without parameters, and ignores their results.
    func execute(_ sql: String) throws(DurableError) {
        try check(sqlite3_exec(handle, sql, nil, nil, nil))
    }

    /// Undoes the transaction, unless SQLite has done so itself.
    func rollBack() {
        clearNamespaceCache()
        if isInTransaction { try? self[.rollback].run() }
    }

    /// The statement of a query. It is prepared once.
    subscript(query: Query) -> Statement {
        get throws(DurableError) {
            if queries.isEmpty { queries = Array(repeating: nil, count: Query.allCases.count) }
            if let statement = queries[query.rawValue] { return statement }
            let statement = try prepare(query.sql)
            queries[query.rawValue] = statement
            return statement
        }
    }

    /// The statement that changes a row. It is prepared once.
    subscript(change: RowUpdate) -> Statement {
        get throws(DurableError) {
            // Most changes are the same as the one before.
            if let latestChange, latestChange.0 == change { return latestChange.1 }
            let statement: Statement
            if let prepared = changes[change] { statement = prepared } else { statement = try prepare(change.sql) }
            changes[change] = statement
            latestChange = (change, statement)
            return statement
        }
    }

    /// Returns a new statement, for SQL that is used once.
    func prepare(_ sql: String) throws(DurableError) -> Statement {
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil))
        guard let statement else { preconditionFailure("no statement in \(sql)") }
        return Statement(statement, of: self)
    }

    // MARK: - The write-ahead log

    /// Copies the write-ahead log into the file. The writer lock must be held.
    ///
    /// - Parameters:
    ///   - truncates: Whether to empty the log. Otherwise only what can be copied without waiting is copied.
    ///   - time: How long to wait for readers.
    /// - Returns: Whether all of the log was copied.
    func checkpoint(truncates: Bool, within time: Duration) throws(DurableError) -> Bool {
        wait(time)
        defer { wait(patience) }
        var inLog: Int32 = 0
        var copied: Int32 = 0
        let mode = truncates ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
        let code = sqlite3_wal_checkpoint_v2(handle, "main", mode, &inLog, &copied)
        if code & 0xFF == SQLITE_BUSY { return false }
        try check(code)
        if truncates { pages.pointee = 0 }
        return inLog == copied
    }

    /// Writes the write-ahead log to the disk again: what can be read of it may not be there, if a sync of it has
    /// failed. The writer lock must be held.
    func rewriteLog() throws(DurableError) {
        // Other programs do not use the writer lock.
        try self[.begin].run()
        defer { rollBack() }
        try check(lull_sqlite_rewrite_log(handle))
    }

    // MARK: - Errors

    /// Throws the error for a code, unless it means success.
    func check(_ code: Int32) throws(DurableError) {
        guard code != SQLITE_OK else { return }
        throw failure(code)
    }

    /// Returns SQLite's message for its last failure, in one short line: it may quote a page of a damaged file.
    private static func lastMessage(_ handle: OpaquePointer) -> String {
        let words = String(cString: sqlite3_errmsg(handle)).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return words.count > 160 ? words.prefix(160) + " …" : words
    }

    /// Returns the error for a code, and stores it in ``latestFailure``.
    func failure(_ code: Int32) -> DurableError {
        let why = "\(Self.lastMessage(handle)) (SQLite error \(code))"
        let error: DurableError =
            switch code & 0xFF {
            case SQLITE_FULL: .full("the disk of \(path) is full")
            case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL:
                .refused("\(path) is locked by another program for too long")
            case SQLITE_READONLY: .refused("\(path) cannot be written: \(why)")
            case SQLITE_TOOBIG: .refused("the values of the key have together become larger than SQLite can take")
            case SQLITE_NOTADB: .unusable("\(path) is not a database of SQLite")
            case SQLITE_CORRUPT: .unusable("\(path) is damaged: \(why)")
            case SQLITE_CANTOPEN: .refused("\(path), or a file beside it, cannot be opened: \(why)")
            case SQLITE_IOERR: writeRefusal(code) ?? .refused("the disk of \(path) failed: \(why)")
            default: .refused("\(path): \(why)")
            }
        latestFailure = error
        latestCode = code
        refusesWrites = writeRefusal(code) != nil
        return error
    }

    /// Returns the error for a write that the system has refused, so that nothing was written; nil for other failures.
    private func writeRefusal(_ code: Int32) -> DurableError? {
        let number = lull_sqlite_write_error(handle, code)
        let reason = String(cString: strerror(number))
        switch number {
        case EDQUOT: return .full("the disk of \(path) is full: \(reason)")
        case EROFS, EPERM, EACCES: return .refused("\(path) cannot be written: \(reason)")
        default: return nil
        }
    }

    /// Returns the error for contents that this program never writes, and stores it in ``latestFailure``.
    func damage(_ what: String) -> DurableError {
        let error = DurableError.unusable("\(path) is damaged: it holds \(what)")
        latestFailure = error
        return error
    }
}
