internal import CLullSQLite
internal import LullDurable

/// A prepared statement. Parameters are counted from 1 and columns from 0, as SQLite does.
final class Statement {
    private let handle: OpaquePointer
    /// A statement lives no longer than the connection that made it and that keeps it.
    unowned let connection: Connection
    /// A parameter that could not be bound is reported when the statement runs: without it, it would run with another value.
    private var failure = SQLITE_OK

    init(_ handle: OpaquePointer, of connection: Connection) {
        self.handle = handle
        self.connection = connection
    }

    deinit { sqlite3_finalize(handle) }

    // MARK: - Running

    /// Goes on to the next row.
    ///
    /// - Returns: Whether there is one.
    func next() throws(DurableError) -> Bool {
        guard failure == SQLITE_OK else {
            defer { reset() }
            throw connection.failure(failure)
        }
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code:
            defer { reset() }
            throw connection.failure(code)
        }
    }

    /// Runs to the end.
    func run() throws(DurableError) {
        while try next() {}
        reset()
    }

    /// Ends the statement, so that it can be used again. Parameters keep their values.
    func reset() {
        sqlite3_reset(handle)
        failure = SQLITE_OK
    }

    // MARK: - Parameters

    func bind(_ index: Int32, _ value: Int64) {
        note(sqlite3_bind_int64(handle, index, value))
    }

    func bind(_ index: Int32, _ value: Int64?) {
        if let value { bind(index, value) } else { note(sqlite3_bind_null(handle, index)) }
    }

    func bind(_ index: Int32, _ value: Int) {
        bind(index, Int64(value))
    }

    func bind(_ index: Int32, blob bytes: [UInt8]?) {
        guard let bytes else { return note(sqlite3_bind_null(handle, index)) }
        note(bytes.withUnsafeBytes { lull_sqlite_bind_blob(handle, index, $0.baseAddress, Int64($0.count)) })
    }

    func bind(_ index: Int32, text: String?) {
        guard var text else { return note(sqlite3_bind_null(handle, index)) }
        note(text.withUTF8 { lull_sqlite_bind_text(handle, index, $0.baseAddress, Int64($0.count)) })
    }

    private func note(_ code: Int32) {
        if code != SQLITE_OK, failure == SQLITE_OK { failure = code }
    }

    // MARK: - Columns

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    func integerOrNull(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }

    func blob(_ column: Int32) -> [UInt8] {
        let bytes = sqlite3_column_blob(handle, column)
        let count = Int(sqlite3_column_bytes(handle, column))
        return Array(UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : count))
    }

    func text(_ column: Int32) -> String { String(decoding: blob(column), as: UTF8.self) }

    func textOrNull(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }
}
