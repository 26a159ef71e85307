internal import LullCore
internal import LullDurable

// The table `work`, which has a row for each key that is not idle.

/// The columns of `work` beside those of ``RowColumn``, and the parameters for their values. The first three are read,
/// in this order, before the others.
enum WorkColumn: Int32, Column, CaseIterable {
    case id, wake, key
    case namespace, error, pending, ready, run

    static let read: [Self] = [.id, .wake, .key]

    /// The number of the parameter for a value of the column, and its form in SQL.
    var parameter: Int32 { rawValue + 1 }
    var placeholder: String { "?\(parameter)" }

    /// The first parameter of the columns of ``RowColumn``.
    static let firstOfRow = Int32(allCases.count) + 1
}

extension Statement {
    /// Binds some groups of a row's columns, and not the values.
    func bind(_ row: DurableRow, wake: CoreInstant, _ groups: RowUpdate.Groups) {
        var (row, binder) = (row, RowBinder(self, groups))
        row.code(with: &binder)
        if groups.contains(.wake) { bind(.wake, wake.nanoseconds) }
        if groups.contains(.run) { bind(WorkColumn.error.parameter, text: row.run?.errorText) }
    }

    func bind(_ column: WorkColumn, _ value: Int64?) { bind(column.parameter, value) }

    func bind(_ column: WorkColumn, blob bytes: [UInt8]?) { bind(column.parameter, blob: bytes) }

    /// Reads the current row: all of it, or only its columns of ``RowColumn/ofPending``. It leaves the values in the
    /// file.
    ///
    /// - Parameter key: The key, if it is known.
    func entry(key: [UInt8]? = nil, isWhole: Bool = true) throws(DurableError) -> DurableEntry {
        let first = WorkColumn.read.count
        let count = isWhole ? RowColumn.all.count : RowColumn.ofPending.count
        var row = DurableRow(base: 0)
        var reader = RowReader(self, from: first, count: count)
        try row.code(with: &reader)
        if isWhole, !isNull(first + count) { row.run?.error = blob(first + count) }
        // An inconsistent row would be noticed in the middle of a step, and stop the program.
        if let rule = row.checkInvariants().first { throw connection.damage("a key that breaks a rule: \(rule)") }
        return DurableEntry(
            handle: integer(WorkColumn.id), key: key ?? blob(WorkColumn.key), row: row, wake: instant(WorkColumn.wake))
    }
}
