internal import CLullSQLite
internal import LullCore
internal import LullDurable

/// A prepared statement.
///
/// Parameters are bound by their names in the SQL. Those of the table `work`, which every submit writes, are bound by
/// ``WorkColumn``: looking up a name takes time. Columns are read by enumerations in the order of the query, or, where
/// there are few, by number, counted from 0.
final class Statement {
    private let handle: OpaquePointer
    // Proof of `unowned`: a statement lives no longer than the connection, which made and stores it.
    unowned let connection: Connection
    /// The error of a parameter that could not be bound. Running the statement throws it instead of using another
    /// value.
    private var failure = SQLITE_OK

    init(_ handle: OpaquePointer, of connection: Connection) {
        self.handle = handle
        self.connection = connection
    }

    deinit { sqlite3_finalize(handle) }

    // MARK: - Running

    /// Advances to the next row.
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

    /// Runs the statement to its end.
    func run() throws(DurableError) {
        while try next() {}
        reset()
    }

    /// Ends the statement so that it can be used again. Parameters keep their values.
    func reset() {
        sqlite3_reset(handle)
        failure = SQLITE_OK
    }

    // MARK: - Parameters

    /// Returns the number of a parameter; 0, which SQLite refuses, if the SQL has none of that name.
    private func parameter(_ name: StaticString) -> Int32 {
        name.withUTF8Buffer { utf8 in
            utf8.withMemoryRebound(to: CChar.self) { sqlite3_bind_parameter_index(handle, $0.baseAddress) }
        }
    }

    func bind(_ name: StaticString, _ value: Int64?) { bind(parameter(name), value) }

    func bind(_ name: StaticString, _ value: Int) { bind(parameter(name), Int64(value)) }

    func bind(_ name: StaticString, _ instant: CoreInstant) { bind(parameter(name), instant.nanoseconds) }

    func bind(_ name: StaticString, blob bytes: [UInt8]?) { bind(parameter(name), blob: bytes) }

    func bind(_ name: StaticString, text: String?) { bind(parameter(name), text: text) }

    func bind(_ index: Int32, _ value: Int64?) {
        record(value.map { sqlite3_bind_int64(handle, index, $0) } ?? sqlite3_bind_null(handle, index))
    }

    func bind(_ index: Int32, blob bytes: [UInt8]?) {
        guard let bytes else { return record(sqlite3_bind_null(handle, index)) }
        record(bytes.withUnsafeBytes { lull_sqlite_bind_blob(handle, index, $0.baseAddress, Int64($0.count)) })
    }

    func bind(_ index: Int32, text: StaticString) {
        record(text.withUTF8Buffer { lull_sqlite_bind_text(handle, index, $0.baseAddress, Int64($0.count)) })
    }

    func bind(_ index: Int32, text: String?) {
        guard var text else { return record(sqlite3_bind_null(handle, index)) }
        record(text.withUTF8 { lull_sqlite_bind_text(handle, index, $0.baseAddress, Int64($0.count)) })
    }

    private func record(_ code: Int32) {
        if code != SQLITE_OK, failure == SQLITE_OK { failure = code }
    }

    // MARK: - Columns

    func isNull(_ column: some Column) -> Bool { sqlite3_column_type(handle, column.index) == SQLITE_NULL }

    func integer(_ column: some Column) -> Int64 { sqlite3_column_int64(handle, column.index) }

    func integerOrNull(_ column: some Column) -> Int64? { isNull(column) ? nil : integer(column) }

    func instant(_ column: some Column) -> CoreInstant { CoreInstant(nanoseconds: integer(column)) }

    func blob(_ column: some Column) -> [UInt8] {
        let bytes = sqlite3_column_blob(handle, column.index)
        let count = Int(sqlite3_column_bytes(handle, column.index))
        return Array(UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : count))
    }

    /// Returns whether a column has this text.
    func has(_ text: StaticString, in column: some Column) -> Bool {
        guard let bytes = sqlite3_column_text(handle, column.index) else { return false }
        let stored = UnsafeBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column.index)))
        return text.withUTF8Buffer { $0.elementsEqual(stored) }
    }

    func text(_ column: some Column) -> String { String(decoding: blob(column), as: UTF8.self) }

    func textOrNull(_ column: some Column) -> String? { isNull(column) ? nil : text(column) }

    /// Reads a counter: a number from 0 on that can still be incremented.
    func number(_ column: some Column) throws(DurableError) -> Int64 {
        let number = integer(column)
        guard 0...1 << 62 ~= number else { throw connection.damage("the number \(number)") }
        return number
    }

    /// Reads a range of submits.
    func range(
        _ first: some Column, _ last: some Column
    ) throws(DurableError) -> ClosedRange<Int64> {
        let (first, last) = (try number(first), try number(last))
        guard first <= last else { throw connection.damage("a range of submits from \(first) to \(last)") }
        return first...last
    }
}

/// A column of a query's result: one of an enumeration, or a number where there are few.
protocol Column: Sendable {
    /// Counted from 0.
    var index: Int32 { get }
}

extension Int: Column {
    var index: Int32 { Int32(self) }
}

extension Column where Self: RawRepresentable<Int32> {
    var index: Int32 { rawValue }
}
