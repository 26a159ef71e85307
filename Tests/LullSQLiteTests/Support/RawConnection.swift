import CLullSQLite

/// A connection to the file as any other program opens it.
final class RawConnection {
    struct Failure: Error {
        var why: String
    }

    private var handle: OpaquePointer?

    init(_ path: String, vfs: String? = nil) throws {
        try check(sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs))
        // Leaves the log as it is when it closes, as the store itself does.
        if vfs != nil { _ = lull_sqlite_keep_log(handle) }
    }

    deinit { sqlite3_close_v2(handle) }

    func execute(_ sql: String) throws {
        try check(sqlite3_exec(handle, sql, nil, nil, nil))
    }

    func number(_ sql: String) throws -> Int64 {
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v2(handle, sql, -1, &statement, nil))
        defer { sqlite3_finalize(statement) }
        guard sqlite3_step(statement) == SQLITE_ROW else { throw Failure(why: "no row for \(sql)") }
        return sqlite3_column_int64(statement, 0)
    }

    private func check(_ code: Int32) throws {
        if code != SQLITE_OK { throw Failure(why: String(cString: sqlite3_errmsg(handle))) }
    }
}

extension Place {
    func execute(_ sql: String) throws { try RawConnection(path).execute(sql) }

    func number(_ sql: String) throws -> Int64 { try RawConnection(path).number(sql) }
}
