internal import LullCore

/// The state of a scheduler's client: what has been sent to advance its engine, and has not begun.
///
/// A block means a block or a task. While none is on its way, the client has a deadline if it has an alarm.
///
///     waiting ──send──▶ sent ──begin──▶ waiting
///                       sent ──expire──▶ overdue
///     overdue ──endBookkeeping──▶ sent
///     overdue ──begin──▶ begun ──endBookkeeping──▶ waiting
///                        begun ──send──▶ overdue
enum ClientState: Equatable {
    /// Nothing has been sent.
    case waiting
    /// A block has been sent. At the instant it is overdue.
    case sent(overdueAt: CoreInstant)
    /// A block has been sent, and its queue is taken for blocked: bookkeeping has been sent as well.
    case overdue
    /// The block has begun in the end. Bookkeeping has not.
    case begun

    /// Whether a block is on its way.
    var isSent: Bool {
        switch self {
        case .sent, .overdue: true
        case .waiting, .begun: false
        }
    }

    /// A block is sent.
    mutating func send(overdueAt instant: CoreInstant) {
        switch self {
        case .waiting: self = .sent(overdueAt: instant)
        case .begun: self = .overdue
        case .sent, .overdue: preconditionFailure("a client is sent a second block")
        }
    }

    /// The block has begun.
    mutating func begin() {
        switch self {
        case .sent: self = .waiting
        case .overdue: self = .begun
        case .waiting, .begun: preconditionFailure("a client's block has begun that was not sent")
        }
    }

    /// The block has not begun in time, and bookkeeping is sent.
    mutating func expire() {
        switch self {
        case .sent: self = .overdue
        case .waiting, .overdue, .begun: preconditionFailure("a client without a new block is overdue")
        }
    }

    /// Bookkeeping has advanced the engine. A block that is still on its way gets more time.
    mutating func endBookkeeping(overdueAt instant: CoreInstant) {
        switch self {
        case .overdue: self = .sent(overdueAt: instant)
        case .begun: self = .waiting
        case .waiting, .sent: preconditionFailure("a client's bookkeeping has ended that was not sent")
        }
    }
}
