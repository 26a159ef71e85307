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

    /// What comes to lie in a place: nothing, or some parts, one after another. Four bits for each: an array would be allocated
    /// at every submit.
    struct Sources: Hashable {
        /// A part.
        enum Part: UInt32 {
            /// The bytes that are bound as ``Change/bytes``.
            case bytes = 1
            case pending, ready, run
            /// What is ready, up to the byte that is bound as ``Change/cut`` and with it; and what comes after it.
            case firstReady, readyAfter
        }

        private var code: UInt32 = 0

        mutating func append(_ part: Part) {
            precondition(code >> 28 == 0, "no step puts so many parts together")
            code = code << 4 | part.rawValue
        }

        var last: Part? { Part(rawValue: code & 0xF) }

        /// The parts in order.
        var parts: [Part] {
            stride(from: 28, through: 0, by: -4).compactMap { Part(rawValue: code >> UInt32($0) & 0xF) }
        }
    }

    var groups: Groups = []
    /// What comes to lie in each place; nil where nothing changes.
    var pending: Sources?
    var ready: Sources?
    var run: Sources?

    /// The parameter for bytes that come from outside, and the one for the row's id.
    static let bytes: Int32 = 40
    static let id: Int32 = 41
    /// The parameter for the number of bytes that the first values of what is ready take.
    static let cut: Int32 = 42

    private static let columns: [(group: Groups, names: [String])] = [
        (.gate, ["generation", "is_open", "quiet", "anchor", "span", "pending_count", "pending_last"]),
        (.taken, ["taken"]),
        (
            .ready,
            [
                "ready_from", "ready_to", "ready_count", "ready_first", "ready_due", "ready_edge", "ready_since",
                "ready_generations",
            ]
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
        for (name, sources) in [("pending", pending), ("ready", ready), ("run", run)] {
            if let sources { parts.append("\(name) = \(Self.expression(sources))") }
        }
        return "UPDATE work SET \(parts.joined(separator: ", ")) WHERE id = ?\(Self.id)"
    }

    private static func expression(_ sources: Sources) -> String {
        let terms = sources.parts.map { part in
            switch part {
            case .bytes: "?\(bytes)"
            case .pending: "pending"
            case .ready: "ready"
            case .run: "run"
            case .firstReady: "substr(ready, 1, ?\(cut))"
            case .readyAfter: "substr(ready, ?\(cut) + 1)"
            }
        }
        switch terms.count {
        case 0: return "NULL"
        case 1: return terms[0]
        // Joined, values are text to SQLite, whatever they were before.
        default: return "CAST(\(terms.joined(separator: " || ")) AS BLOB)"
        }
    }
}
