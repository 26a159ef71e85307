internal import LullCore
internal import LullDurable

/// The groups of columns that a step has changed, and the sources of the new values: the shape of one UPDATE.
///
/// Only changed groups are written: the most common step, a submit to a key with something pending, leaves both indexes alone. A value
/// that moves from one column to another moves inside the database.
struct Change: Hashable {
    /// The groups of columns that are written.
    struct Groups: OptionSet, Hashable {
        let rawValue: UInt8

        static let gate = Groups(rawValue: 1)
        static let taken = Groups(rawValue: 2)
        static let ready = Groups(rawValue: 4)
        static let run = Groups(rawValue: 8)
        static let wake = Groups(rawValue: 16)
        static let submitter = Groups(rawValue: 32)
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

    private static let columns: [(group: Groups, columns: [WorkColumn])] = [
        (
            .gate,
            [.generation, .phase, .quiet, .latest, .span, .spacing, .pendingCount, .pendingFirst, .pendingLast]
        ),
        (.taken, [.taken]),
        (.ready, [.readyFrom, .readyTo, .readyCount, .readyFirst, .readyDue, .readyEdge, .readySince]),
        (
            .run,
            [
                .runID, .runFrom, .runTo, .runCount, .runFirst, .runDue, .runEdge, .runUntil, .fence, .owner,
                .claimedBy,
                .attempt, .error,
            ]
        ),
        (.wake, [.wake]),
        (.submitter, [.pendingBy]),
    ]

    static let all: Groups = [.gate, .taken, .ready, .run, .wake, .submitter]
    /// The groups of a row with nothing ready and no run.
    static let allPending: Groups = [.gate, .taken, .wake, .submitter]

    /// Returns the columns of some groups.
    static func columns(of groups: Groups) -> [WorkColumn] {
        columns.filter { groups.contains($0.group) }.flatMap(\.columns)
    }

    /// The statement.
    var sql: String {
        var parts = Self.columns(of: groups).map { "\($0.name) = \($0.placeholder)" }
        for (column, source) in [(WorkColumn.pending, pending), (.ready, ready), (.run, run)] {
            if let source { parts.append("\(column.name) = \(Self.expression(source))") }
        }
        return "UPDATE work SET \(parts.joined(separator: ", ")) WHERE id = \(WorkColumn.id.placeholder)"
    }

    private static func expression(_ source: Source) -> String {
        switch source {
        case .nothing: "NULL"
        case .bytes: bytes.placeholder
        case .pending: WorkColumn.pending.name
        case .ready: WorkColumn.ready.name
        case .run: WorkColumn.run.name
        }
    }
}
