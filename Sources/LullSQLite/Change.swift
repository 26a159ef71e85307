internal import LullCore
internal import LullDurable

/// Which parts of a row a step has changed, and where the new values come from: the shape of one UPDATE.
///
/// Only what changed is written, so that the usual step, a submit onto what is pending, leaves both indexes alone. A value that
/// moves from one place of the row to another moves inside the database.
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

    /// The parameter for the one value that may come from outside, wherever it goes.
    static let bytes = WorkColumn.pending

    /// Where the value that comes to lie in a place is from.
    enum Source: UInt8 {
        case nothing
        /// The bytes that are bound as ``Change/bytes``.
        case bytes
        case pending, ready, run
    }

    var groups: Groups = []
    /// What comes to lie in each place; nil where nothing changes.
    var pending: Source?
    var ready: Source?
    var run: Source?

    private static let columns: [(group: Groups, columns: [WorkColumn])] = [
        (.gate, [.generation, .isOpen, .quiet, .anchor, .span, .pendingCount, .pendingLast]),
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

    /// Every group; and those that a row has in which nothing is ready and that has no run.
    static let all: Groups = [.gate, .taken, .ready, .run, .wake, .submitter]
    static let allPending: Groups = [.gate, .taken, .wake, .submitter]

    /// The columns of some groups.
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
