internal import LullCore
internal import LullDurable

// The table `work`, which has a row for each key that is not idle: how a step changes it, and how a row is read.

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

/// The groups of columns that a step has changed, and the sources of the new values: the shape of one UPDATE.
///
/// Only changed groups are written: the most common step, a submit to a key with something pending, leaves all indexes
/// alone. A value that moves from one column to another moves inside the database.
struct Change: Hashable {
    /// The groups of columns that are written.
    struct Groups: OptionSet, Hashable {
        let rawValue: UInt8

        static let row = Groups(rawValue: 1)
        static let pending = Groups(rawValue: 2)
        static let ready = Groups(rawValue: 4)
        static let run = Groups(rawValue: 8)
        static let wake = Groups(rawValue: 16)
        static let all: Groups = [.row, .pending, .ready, .run, .wake]

        /// The beginning of the names of the columns of one group.
        var prefix: String {
            switch self {
            case .pending: "pending_"
            case .ready: "ready_"
            case .run: "run_"
            default: ""
            }
        }

        /// The number of the columns of one group.
        var columnCount: Int {
            switch self {
            case .pending: Self.pendingCount
            case .ready: Self.readyCount
            case .run: RowColumn.ofRun.count
            default: preconditionFailure("the group is always there")
            }
        }

        private static let pendingCount = RowColumn.all.count { $0.group == .pending }
        private static let readyCount = RowColumn.all.count { $0.group == .ready }
    }

    /// The parameter for the one value that may come from the caller, whatever column it goes to.
    static let bytes = WorkColumn.pending

    /// The source of the new value of a column.
    enum Source: UInt8 {
        case nothing
        /// The bytes that are bound as ``Change/bytes``.
        case bytes
        case pending, ready, run
    }

    var groups: Groups = []
    /// The sources of the values that change; nil for those that stay.
    var pending: Source?
    var ready: Source?
    var run: Source?

    /// Returns the groups that differ, without the values.
    init(_ new: DurableEntry, from old: DurableEntry) {
        let (row, before) = (new.row, old.row)
        groups = .row
        if row.gate.count != before.gate.count || row.gate.first != before.gate.first
            || row.pending != before.pending
        {
            groups.insert(.pending)
        }
        if row.ready != before.ready { groups.insert(.ready) }
        if row.run != before.run { groups.insert(.run) }
        if new.wake != old.wake { groups.insert(.wake) }
    }

    /// The statement.
    var sql: String {
        var parts: [String] = []
        for (index, column) in RowColumn.all.enumerated() where groups.contains(column.group) {
            parts.append("\(column.name) = ?\(WorkColumn.firstOfRow + Int32(index))")
        }
        for (column, group) in [(WorkColumn.wake, Groups.wake), (.error, .run)] where groups.contains(group) {
            parts.append("\(column) = \(column.placeholder)")
        }
        for (column, source) in [(WorkColumn.pending, pending), (.ready, ready), (.run, run)] {
            if let source { parts.append("\(column) = \(Self.expression(source))") }
        }
        return "UPDATE work SET \(parts.joined(separator: ", ")) WHERE id = \(WorkColumn.id.placeholder)"
    }

    private static func expression(_ source: Source) -> String {
        switch source {
        case .nothing: "NULL"
        case .bytes: bytes.placeholder
        case .pending: "\(WorkColumn.pending)"
        case .ready: "\(WorkColumn.ready)"
        case .run: "\(WorkColumn.run)"
        }
    }

    /// The statement that inserts a row, of which some groups are there.
    static func insertion(_ groups: Groups) -> String {
        let numbered = RowColumn.all.enumerated().filter { groups.contains($1.group) }
        var columns = WorkColumn.allCases.filter { $0 != .id }
        if !groups.contains(.run) { columns.removeAll { [.error, .ready, .run].contains($0) } }
        let names = columns.map { "\($0)" } + numbered.map(\.element.name)
        let values = columns.map(\.placeholder) + numbered.map { "?\(WorkColumn.firstOfRow + Int32($0.offset))" }
        return "INSERT INTO work (\(names.joined(separator: ", "))) VALUES (\(values.joined(separator: ", ")))"
    }
}

extension Statement {
    /// Binds some groups of a row's columns, and not the values.
    func bind(_ row: DurableRow, wake: CoreInstant, _ groups: Change.Groups) {
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
