/// How many submits are pending, waiting and running, under one key or under all, once everything due has been done
/// (<doc:Semantics>, section 5).
package struct CoreState: Equatable {
    /// Submits that are not due yet, or held.
    package internal(set) var pending = 0
    /// Submits that are due and have not started.
    package internal(set) var waiting = 0
    package internal(set) var running = 0
    /// When the first of what is pending falls due; nil if nothing is, or only held.
    package var due: CoreInstant?

    package init() {}
}

extension SlotEngine {
    /// Does what is due at a slot, and returns how things stand there.
    package mutating func state(at index: UInt32, _ instant: CoreInstant) -> CoreState {
        let now = advanceNow(to: instant)
        guard index != .max, applyPendingSweeps(to: index) else { return CoreState() }
        settleUnlessOpen(index, at: now)
        var state = CoreState()
        guard isTaken(index) else { return state }
        let slot = slots[index]
        if slot.pointee.gate.count > 0 { state.pending = size(of: slot.pointee.gate.count) }
        state.due = slot.pointee.gate.due(by: policy)
        executions(of: slot)?.pointee.addCounts(to: &state)
        return state
    }

    /// How things stand under all keys, but for the next due instant.
    package var state: CoreState {
        var state = CoreState()
        state.pending = tally.pending - waitingSubmits
        state.waiting = waitingSubmits
        state.running = tally.running
        return state
    }
}

extension KeyExecutions {
    fileprivate mutating func addCounts(to state: inout CoreState) {
        if let waiting {
            if waiting.isHeld { state.pending += waiting.size } else { state.waiting += waiting.size }
        }
        changeRuns { run in if run.state != .telling, run.phase != .replaced { state.running += run.size } }
    }
}
