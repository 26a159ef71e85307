/// A number that the driver chooses for a caller that waits for executions to end.
package typealias WaiterID = Int

/// Identifies a running execution. No two executions of an engine have the same id.
@frozen
@usableFromInline
package struct RunID: Hashable, Sendable {
    /// The slot of its key.
    package let slot: UInt32
    /// The number of the execution, counted by the engine.
    package let serial: UInt64

    package init(slot: UInt32, serial: UInt64) {
        self.slot = slot
        self.serial = serial
    }
}

/// How far an execution has got.
@frozen
package enum RunState: Hashable, Sendable {
    /// It has started and not ended.
    case running
    /// It is running, and is to be cancelled: ``SlotAction/cancel(_:)`` was returned for it.
    case cancelling
    /// The same, under ``OverlapPolicy/restart``: if its handler throws, its values go back.
    case interrupting
    /// It is running, and is to be cancelled, since its time limit is over: if its handler throws, it has failed.
    case expired
    /// Its handler has ended, and its outcome is being told: see ``SlotEngine/told(_:)``.
    case telling
    /// It has ended, and its outcome has been told.
    case ended

    /// Whether it is to be cancelled.
    package var isCancelling: Bool { self == .cancelling || self == .interrupting || self == .expired }

    /// Whether its handler fails if it throws: one that was cancelled does not, unless its time limit was the reason.
    package var failsByThrowing: Bool { self != .cancelling && self != .interrupting }

    /// Whether the handler has not ended.
    package var isRunning: Bool { self == .running || isCancelling }
}

/// How an execution ended, as reported with ``SlotEngine/ended(_:_:telling:)``.
@frozen
package enum Ending: Hashable, Sendable {
    /// The handler returned.
    case returned
    /// The handler threw.
    case threw
    /// The handler was not called: the value equals the one that its key has executed last.
    case unchanged
}

/// The outcome of the submits of an execution that has ended.
@frozen
package enum Verdict: Hashable, Sendable {
    /// The handler returned.
    case executed
    /// The handler threw, perhaps since its time limit was over.
    case failed
    /// It was cancelled for a newer value, and threw.
    case superseded
    /// It was cancelled by `cancel(running: true)`, and threw.
    case cancelled
    /// It was interrupted under ``OverlapPolicy/restart``, and threw: its submits are pending again.
    case interrupted
    /// Its value was unchanged.
    case absorbed
    /// Its submits had ended before: ``SlotAction/replace(_:_:)`` was returned for it.
    case replaced
}
