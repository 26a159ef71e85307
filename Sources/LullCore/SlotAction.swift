/// What the owner of a ``SlotEngine`` has to do with keys and values.
package enum SlotAction {
    /// Start an execution of a slot's key: with what is pending in the slot; or, if `executions` is not `UInt32.max`, with
    /// this number of the values that wait there, from the front.
    case start(slot: UInt32, executions: UInt32, values: Int, serial: UInt64, Gate.Due)
    /// Move what is pending in a slot to the executions: behind what waits there, if anything does.
    case wait(slot: UInt32, executions: UInt32)
    /// Hand out what is pending in a slot: it is not executed.
    case settle(slot: UInt32, Fate)
    /// Hand out all that waits at the executions of a slot's key: it is not executed.
    case settleWaiting(slot: UInt32, executions: UInt32, Fate)
    /// Cancel a running execution.
    case cancel(RunID)
    /// Resume a caller that waits.
    case resume(WaiterID)
    /// Release the key of a slot, and free the slot.
    case release(slot: UInt32)
    /// Free the executions of a key, of which none runs or waits.
    case retire(executions: UInt32)
}

/// What the owner of a ``SlotEngine`` has to do with a submitted value.
@usableFromInline
package enum Placement {
    /// Put it in the cell of the slot, where nothing is.
    case alone
    /// Put it in place of the pending value, which is superseded.
    case instead
    /// Put it behind the pending values.
    case behind
    /// It is not kept, and has this fate.
    case displaced(Fate)
    /// Nothing was done: take the slow path.
    case undecided

    /// The fate of what is displaced, if anything is.
    package var fateOfDisplaced: Fate? {
        switch self {
        case .instead: .superseded
        case .displaced(let fate): fate
        case .alone, .behind, .undecided: nil
        }
    }
}
