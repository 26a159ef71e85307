/// A value as a row holds it: its bytes, or a reference to the slot in which the store has them, so that a store need not load
/// what does not move.
///
/// A store that holds the values of ``/LullCore/Combination/collect`` outside the row, each under its generation, need not move
/// them either: the ranges of the pending value, the ready value and the run determine which values belong to which.
package enum DurablePayload: Hashable, Sendable {
    /// The bytes of one value, and the generation of its submit.
    case bytes([UInt8], of: Int64)
    /// All the values that the store has, before this step, in that slot of the row, in order.
    case stored(Slot)

    /// The slots of a row that can hold a value.
    package enum Slot: Hashable, Sendable {
        /// ``DurableRow/pending``.
        case pending
        /// ``DurableRow/ready``.
        case ready
        /// ``DurableRow/run``.
        case run
    }
}
