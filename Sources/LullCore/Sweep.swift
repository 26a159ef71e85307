/// A call for all keys that is carried out in portions, so that a driver holds its lock only briefly (<doc:Semantics>,
/// section 5).
///
/// The call counts as of the instant at which it began. Whatever touches a key meanwhile, whether a submit or the end
/// of an execution, first applies the call to that key: the answers are those of a call that does everything at once.
/// Only the order between different keys may differ.
package struct Sweep: Sendable {
    /// The effect of a call at every key.
    @frozen
    package enum Kind: Hashable, Sendable {
        /// Executes what is pending.
        case flush
        /// Drops what is pending or waiting; with `running`, cancels running executions too.
        case cancel(running: Bool)
        /// Drops what is due in the far future: the owner is released, and nothing will ever make it due earlier.
        case dropUnreachable
    }

    let number: UInt16
    /// The blocks of slots that have not been visited.
    var blocks: Range<Int>
    /// The keys that were there when it began, with the numbers of their bursts.
    var found: [(burst: UInt64, slot: UInt32)] = []
    /// How many of them it has been applied to.
    var position = 0
    private var isSorted = false
    /// Whether the call has been applied to every key.
    package var isDone: Bool { hasFinished }
    var hasFinished = false

    init(number: UInt16, blocks: Range<Int>) {
        self.number = number
        self.blocks = blocks
    }

    /// Sorts the keys by burst once all of them have been found. Call it without holding a lock: with millions of keys
    /// it takes a while. Otherwise, `Engine.continueSweep(_:limit:)` does it.
    package mutating func sortIfNeeded() {
        guard blocks.isEmpty, !isSorted else { return }
        Self.sortByBurst(&found)
        isSorted = true
    }

    static func sortByBurst(_ keys: inout [(burst: UInt64, slot: UInt32)]) {
        keys.sort { $0.burst < $1.burst }
    }

    /// A call for all keys that is under way, as the engine keeps it.
    struct Mark {
        let number: UInt16
        let kind: Kind
        let at: CoreInstant
        let waiter: WaiterID?
    }
}
