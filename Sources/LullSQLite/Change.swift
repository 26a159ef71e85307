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

    /// The parameter for bytes that come from outside, and the one for the row's id.
    static let bytes: Int32 = 31
    static let id: Int32 = 32

    private static let columns: [(group: Groups, names: [String])] = [
        (.gate, ["generation", "is_open", "quiet", "anchor", "span", "pending_count", "pending_last"]),
        (.taken, ["taken"]),
        (
            .ready,
            ["ready_from", "ready_to", "ready_count", "ready_first", "ready_due", "ready_edge", "ready_since"]
        ),
        (
            .run,
            [
                "run_id", "run_from", "run_to", "run_count", "run_first", "run_due", "run_edge", "run_until", "fence",
                "owner", "claimed_by", "attempt", "error",
            ]
        ),
        (.wake, ["wake"]),
        (.submitter, ["pending_by"]),
    ]

    /// The columns of all groups, and their parameters, in the order of ``bind(_:wake:groups:to:)``.
    static let allColumns = columns.flatMap(\.names).joined(separator: ", ")
    static let allParameters = columns.flatMap(\.names).indices.map { "?\($0 + 1)" }.joined(separator: ", ")

    /// The statement.
    var sql: String {
        var parts: [String] = []
        var number = 0
        for (group, names) in Self.columns {
            for name in names {
                number += 1
                if groups.contains(group) { parts.append("\(name) = ?\(number)") }
            }
        }
        for (name, source) in [("pending", pending), ("ready", ready), ("run", run)] {
            if let source { parts.append("\(name) = \(Self.expression(source))") }
        }
        return "UPDATE work SET \(parts.joined(separator: ", ")) WHERE id = ?\(Self.id)"
    }

    private static func expression(_ source: Source) -> String {
        switch source {
        case .nothing: "NULL"
        case .bytes: "?\(bytes)"
        case .pending: "pending"
        case .ready: "ready"
        case .run: "run"
        }
    }
}
