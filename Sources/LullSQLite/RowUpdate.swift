internal import LullCore
internal import LullDurable

/// The groups of columns that a step has changed, and the sources of the new values: the shape of one UPDATE.
///
/// Only changed groups are written: the most common step, a submit to a key with something pending, leaves all indexes
/// alone. A value that moves from one column to another moves inside the database.
struct RowUpdate: Hashable {
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
        /// The bytes that are bound as ``RowUpdate/bytes``.
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
