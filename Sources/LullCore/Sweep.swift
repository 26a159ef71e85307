/// A call for all keys, as it is carried out: in portions, so that a shell need not hold its lock for longer than a short
/// while (<doc:Semantics>, section 5).
///
/// The call counts as of the instant at which it was begun. Whatever touches a key meanwhile, a submit as well as the end of
/// an execution, has the call reach that key first; so the answers are those of a call that does everything at once. Only the
/// order between different keys may be another one.
public struct Sweep: Sendable {
    /// What a call does at every key.
    @frozen
    public enum Kind: Hashable, Sendable {
        /// Executes what is pending.
        case flush
        /// Drops what is pending or waiting, and perhaps tells running executions to stop.
        case cancel(running: Bool)
        /// Drops what is due in the far future: the owner has gone, and nothing will ever make it due earlier.
        case dropUnreachable
    }

    @usableFromInline let number: UInt16
    /// The blocks of slots that have not been looked at.
    @usableFromInline var blocks: Range<Int>
    /// The keys that were there when it began, by the order in which their bursts began.
    @usableFromInline var found: [(birth: UInt64, place: UInt32)]
    @usableFromInline var position: Int
    @usableFromInline var isSorted: Bool
    /// Whether every key has been reached.
    @inlinable
    public var isDone: Bool { hasReachedAll }
    @usableFromInline var hasReachedAll: Bool

    @usableFromInline
    init(number: UInt16, blocks: Range<Int>) {
        self.number = number
        self.blocks = blocks
        found = []
        position = 0
        isSorted = false
        hasReachedAll = false
    }

    /// Brings the keys into order once all of them have been found. To be called with no lock held: with millions of keys this
    /// takes a while. Without it, ``Engine/continueSweep(_:limit:)`` does so.
    public mutating func sortIfNeeded() {
        guard blocks.isEmpty, !isSorted else { return }
        found.sort { $0.birth < $1.birth }
        isSorted = true
    }

    /// A call for all keys that is under way, as the engine remembers it.
    @frozen
    @usableFromInline
    struct Mark {
        @usableFromInline let number: UInt16
        @usableFromInline let kind: Kind
        @usableFromInline let at: CoreInstant
        @usableFromInline let ticket: WaiterID?

        @inlinable
        init(number: UInt16, kind: Kind, at: CoreInstant, ticket: WaiterID?) {
            self.number = number
            self.kind = kind
            self.at = at
            self.ticket = ticket
        }
    }
}
