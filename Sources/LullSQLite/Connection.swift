internal import CLullFiles
internal import CLullSQLite
internal import Lull
internal import LullCore
internal import LullDurable

/// One open database file, as the thread that opened it uses it.
///
/// Every failure of SQLite becomes a ``DurableError`` and is kept in ``failed``. A writer checks it before the commit, since a
/// statement that failed may have left half of a step behind.
final class Connection {
    let path: String
    /// What has failed since this was last cleared.
    var failed: DurableError?
    /// SQLite's extended code of what failed last.
    private(set) var failedCode = SQLITE_OK
    /// What brings a file from each version to the next.
    let migrations: [String]
    private let patience: Duration
    private var isClosed = false
    let handle: OpaquePointer
    private let pages: UnsafeMutablePointer<Int32>
    private var fixed: [Statement?] = []
    private var changes: [Change: Statement] = [:]
    private var latestChange: (Change, Statement)?
    /// The namespaces that have been read, while the file had this `data_version`.
    var known: (version: Int64, namespaces: [String: DurableNamespace]) = (0, [:])

    /// Opens a file for reading and writing.
    ///
    /// - Parameter creates: Whether a file that is not there is made.
    convenience init(_ path: String, creates: Bool, _ options: SQLiteFile.Options) throws(DurableError) {
        let flags = SQLITE_OPEN_READWRITE | lull_sqlite_open_flags() | (creates ? SQLITE_OPEN_CREATE : 0)
        // A name that begins with a colon has a meaning of its own for SQLite.
        let path = path.hasPrefix("/") ? path : "./" + path
        try self.init(path, named: path, flags, options.vfs, options)
    }

    /// Opens a file for reading.
    ///
    /// - Parameters:
    ///   - path: The full name of the file.
    ///   - parameters: SQLite's parameters of a URI.
    ///   - vfs: The file system to use instead of that of the options.
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

    /// A path as it stands in a URI.
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

    /// Nothing may be asked of it afterwards.
    func close() {
        if isClosed { return }
        isClosed = true
        fixed = []
        changes = [:]
        latestChange = nil
        // Should a statement live a little longer, this waits for it.
        sqlite3_close_v2(handle)
    }

    /// Sets how long to wait for another program that has locked the file.
    private func wait(_ time: Duration) {
        sqlite3_busy_timeout(handle, Int32(clamping: CoreDuration(time).nanoseconds / 1_000_000))
    }

    // MARK: - What is asked of a connection

    /// The full name of the file, as SQLite derives the names of the files beside it.
    var file: String { sqlite3_db_filename(handle, "main").map { String(cString: $0) } ?? path }

    /// Whether the file can only be read.
    var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }

    /// Whether the file has another name than the one it was opened by, or none.
    var hasMoved: Bool { lull_sqlite_has_moved(handle) != 0 }

    /// Whether a transaction is open.
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// The number of rows that have ever been written.
    var writes: Int32 { sqlite3_total_changes(handle) }

    /// The rowid of the row that was inserted last.
    var inserted: Int64 { sqlite3_last_insert_rowid(handle) }

    /// The number of pages in the write-ahead log after the latest commit of this connection.
    var pagesInLog: Int { Int(pages.pointee) }

    /// Whether the write-ahead log holds anything, from this process or another one.
    var hasLog: Bool { lull_size(file + "-wal") > 0 }

    /// Runs statements that have no parameters and whose results do not matter.
    func execute(_ sql: String) throws(DurableError) {
        try check(sqlite3_exec(handle, sql, nil, nil, nil))
    }

    /// Ends a transaction as if it had never been; SQLite may have done so itself.
    func rollBack() {
        forgetNamespaces()
        if isInTransaction { try? self[.rollback].run() }
    }

    /// A statement that is prepared once.
    subscript(query: Query) -> Statement {
        get throws(DurableError) {
            if fixed.isEmpty { fixed = Array(repeating: nil, count: Query.allCases.count) }
            if let statement = fixed[query.rawValue] { return statement }
            let statement = try prepare(query.sql)
            fixed[query.rawValue] = statement
            return statement
        }
    }

    /// The statement that makes a change to a row.
    subscript(change: Change) -> Statement {
        get throws(DurableError) {
            // Mostly the same change is made again and again.
            if let latestChange, latestChange.0 == change { return latestChange.1 }
            let statement: Statement
            if let known = changes[change] { statement = known } else { statement = try prepare(change.sql) }
            changes[change] = statement
            latestChange = (change, statement)
            return statement
        }
    }

    /// A statement that is used once.
    func prepare(_ sql: String) throws(DurableError) -> Statement {
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil))
        guard let statement else { preconditionFailure("no statement in \(sql)") }
        return Statement(statement, of: self)
    }

    /// Copies what is in the write-ahead log into the file. The writer lock must be held.
    ///
    /// - Parameters:
    ///   - truncates: Whether to leave an empty log. Otherwise as much is copied as can be without waiting.
    ///   - time: How long to wait for readers.
    /// - Returns: Whether all of it was copied.
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

    /// Makes certain that what can be read of the write-ahead log is on the disk, also if a sync of it has failed. The writer lock
    /// must be held.
    func rewriteLog() throws(DurableError) {
        // Other programs know nothing of the writer lock.
        try self[.begin].run()
        defer { rollBack() }
        try check(lull_sqlite_rewrite_log(handle))
    }

    // MARK: - Errors

    func check(_ code: Int32) throws(DurableError) {
        guard code != SQLITE_OK else { return }
        throw failure(code)
    }

    /// SQLite's message for its last failure, in one line and bounded: it may quote a page of a damaged file.
    private static func lastMessage(_ handle: OpaquePointer) -> String {
        let words = String(cString: sqlite3_errmsg(handle)).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return words.count > 160 ? words.prefix(160) + " …" : words
    }

    /// The error for a code, as the caller needs it.
    func failure(_ code: Int32) -> DurableError {
        let why = "\(Self.lastMessage(handle)) (SQLite error \(code))"
        let error: DurableError =
            switch code & 0xFF {
            case SQLITE_FULL: .refused("the disk of \(path) is full")
            case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL:
                .refused("\(path) is locked by another program for too long")
            case SQLITE_READONLY: .refused("\(path) cannot be written: \(why)")
            case SQLITE_TOOBIG: .refused("the values of the key have together become larger than SQLite can take")
            case SQLITE_NOTADB: .unusable("\(path) is not a database of SQLite")
            case SQLITE_CORRUPT: .unusable("\(path) is damaged: \(why)")
            case SQLITE_CANTOPEN: .refused("\(path), or a file beside it, cannot be opened: \(why)")
            case SQLITE_IOERR: .refused("the disk of \(path) failed: \(why)")
            default: .refused("\(path): \(why)")
            }
        failed = error
        failedCode = code
        return error
    }

    /// The error for contents that this program never writes.
    func damage(_ what: String) -> DurableError {
        let error = DurableError.unusable("\(path) is damaged: it holds \(what)")
        failed = error
        return error
    }
}
