@testable import LullCore
@testable import LullEngine

// What the engine of a runtime can do, and no driver with keys and values asks for.

extension Engine {
    /// The number of other keys that are remembered for their spacing alone (<doc:Semantics>, section 3); one whose
    /// spacing has passed by now is included until the next wake-up. They count towards the capacity, too.
    var restingKeyCount: Int { core.restingCount }

    /// The number of keys that anything is kept for. A call for all keys visits each.
    var slotCount: Int { core.keyCount }

    /// The number of executions that are running.
    var runningExecutions: Int { core.runningCount }

    /// Changes the wait: ``SlotEngine/setWait(_:at:)``.
    mutating func setWait(_ wait: CoreDuration, at instant: CoreInstant) throws(PolicyError) -> Actions<
        Key, Value
    > {
        try core.setWait(wait, at: instant)
        return takeActions()
    }

    /// Does what is due under a key, and returns how things stand there.
    mutating func state(of key: Key, at instant: CoreInstant) -> (CoreState, Actions<Key, Value>) {
        let state = core.state(at: slotIndex(of: key), instant)
        return (state, takeActions())
    }

    /// How things stand under all keys, but for the next due instant.
    var state: CoreState { core.state }

    /// Whether nothing is pending, waiting or running under any key, and every outcome has been told.
    var isIdle: Bool { core.isIdle }

    /// Refuses submits from now on.
    mutating func close() { core.close() }

    /// Holds no values from now on: what an interrupted execution gives back starts at once, with the cause `flush`, or
    /// is cancelled, unless a newer value waits. For an engine of which no more submits are expected; a call for all
    /// keys has to follow for what is held already.
    mutating func stopHolding(flushing: Bool) { core.stopHolding(flushing: flushing) }

    /// Carries out a call for all keys at once.
    mutating func sweep(_ kind: Sweep.Kind, at instant: CoreInstant) -> Actions<Key, Value> {
        core.sweep(kind, at: instant)
        return takeActions()
    }

    /// Reports the end of one of the steps of telling the outcome of an execution that has ended.
    ///
    /// - Parameters:
    ///   - run: The execution.
    ///   - instant: As with the end of the execution.
    /// - Returns: What is to be done next: after the last step, what waited for it.
    mutating func told(_ run: RunID, at instant: CoreInstant? = nil) -> Actions<Key, Value> {
        if let instant { core.advanceNow(to: instant) }
        core.told(run)
        return takeActions()
    }

    /// Reports that the handler of an execution is to be called: see ``SlotEngine/confirmStart(of:)``.
    mutating func confirmStart(of run: RunID) { core.confirmStart(of: run) }

    /// Whether an execution has started, and its outcome has not been told.
    func hasStarted(_ run: RunID) -> Bool { state(of: run) != .ended }

    /// Lets a caller wait for the ends of what runs and waits, of one key or of all.
    ///
    /// - Returns: Whether there is anything to wait for. If so, ``Action/resume(_:)`` will be returned for the caller,
    ///   once.
    mutating func addWaiter(_ waiter: WaiterID, for key: Key? = nil) -> Bool {
        if let key { core.addWaiter(waiter, at: slotIndex(of: key)) } else { core.addWaiter(waiter) }
    }

    /// Withdraws a caller that no longer waits: it will not be resumed, and nothing is kept for it.
    ///
    /// - Parameters:
    ///   - waiter: A caller that was added and may have been resumed since; not one of a ``Sweep`` that is under way.
    ///   - key: The key for which it was added; nil if that was for all, which visits every key with executions.
    mutating func removeWaiter(_ waiter: WaiterID, for key: Key? = nil) {
        if let key {
            core.removeWaiter(waiter, at: slotIndex(of: key))
        } else {
            _ = core.removeWaiter(waiter, fromBlocks: 0..<core.keyExecutions.blockCount)
        }
    }
}
