/// A column of the table `work`, and the parameter for its value.
///
/// The cases are in the order in which a whole row is read: first the columns that matter while nothing is ready and there is no run,
/// since reading a column takes time. The cases after `key` are written, and read by queries of their own.
enum WorkColumn: Int32, Column, CaseIterable {
    case id, wake, born, generation, taken, phase, quiet, latest, span, spacing, pendingCount, pendingFirst,
        pendingLast,
        readyFrom, runID, pendingBy
    case readyTo, readyCount, readyFirst, readyDue, readyEdge, readySince
    case runFrom, runTo, runCount, runFirst, runDue, runEdge, runUntil, fence, owner, claimedBy, attempt, error
    case key
    case namespace, pending, ready, run

    /// The columns that are read first, and the only ones if nothing is ready and there is no run.
    static let ofPending = allCases.prefix { $0 != .readyTo }
    /// The columns of a whole row.
    static let ofRow = allCases.prefix { $0 != .namespace }

    /// The name of the column in the file.
    var name: String {
        switch self {
        case .id: "id"
        case .wake: "wake"
        case .born: "born"
        case .generation: "generation"
        case .taken: "taken"
        case .phase: "phase"
        case .quiet: "quiet"
        case .latest: "latest"
        case .span: "span"
        case .spacing: "spacing"
        case .pendingCount: "pending_count"
        case .pendingFirst: "pending_first"
        case .pendingLast: "pending_last"
        case .readyFrom: "ready_from"
        case .runID: "run_id"
        case .pendingBy: "pending_by"
        case .readyTo: "ready_to"
        case .readyCount: "ready_count"
        case .readyFirst: "ready_first"
        case .readyDue: "ready_due"
        case .readyEdge: "ready_edge"
        case .readySince: "ready_since"
        case .runFrom: "run_from"
        case .runTo: "run_to"
        case .runCount: "run_count"
        case .runFirst: "run_first"
        case .runDue: "run_due"
        case .runEdge: "run_edge"
        case .runUntil: "run_until"
        case .fence: "fence"
        case .owner: "owner"
        case .claimedBy: "claimed_by"
        case .attempt: "attempt"
        case .error: "error"
        case .key: "key"
        case .namespace: "namespace"
        case .pending: "pending"
        case .ready: "ready"
        case .run: "run"
        }
    }

    /// The number of the parameter for a value of the column, and its form in SQL.
    var parameter: Int32 { rawValue + 1 }
    var placeholder: String { "?\(parameter)" }
}

/// The columns of a value that is ready or in a run: in `work`, and in `dead`.
struct ValueColumns<Name: Column>: Sendable {
    let from: Name
    let to: Name
    let count: Name
    let first: Name
    let due: Name
    let edge: Name
}

extension ValueColumns<WorkColumn> {
    static var ready: Self {
        Self(from: .readyFrom, to: .readyTo, count: .readyCount, first: .readyFirst, due: .readyDue, edge: .readyEdge)
    }
    static var run: Self {
        Self(from: .runFrom, to: .runTo, count: .runCount, first: .runFirst, due: .runDue, edge: .runEdge)
    }
}
