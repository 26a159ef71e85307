/// Something that the driver has to do for the engine, in the order given. What runs code of the user's waits until the
/// driver has released its lock.
package enum Action<Key, Value> {
    /// Run the handler, and report its end with ``Engine/ended(_:_:telling:at:)``.
    case start(Execution<Key, Value>)
    /// Cancel a running execution cooperatively.
    case cancel(RunID)
    /// Report to the callers that wait for the outcome of an execution what has become of it: a newer value has
    /// replaced it.
    case replace(RunID, NotExecutedError)
    /// Report what has become of these values of a key to the callers that wait for their outcome.
    case resolve(Key, Batch<Value>, NotExecutedError)
    /// Resume the caller that waits: see ``Engine/addWaiter(_:for:)``.
    case resume(WaiterID)
    /// Do nothing: the key is handed out so that its last reference is released outside the driver's lock.
    case release(Key)
}

extension Action: Sendable where Key: Sendable, Value: Sendable {}

/// A number that the driver chooses for a caller that waits for executions to end.
package typealias WaiterID = Int

/// An action for the driver to carry out after an event.
///
/// After a submit that joins what is pending, by far the most frequent event, this is at most a displaced value; it
/// costs no allocation.
package struct Actions<Key, Value> {
    /// The value that the submitted one displaced, or the submitted one itself if it was not kept. It is handed out
    /// also so that it is released outside the driver's lock.
    package var displaced: Value?

    /// Everything else, in order.
    package var more: [Action<Key, Value>] = []
    /// How many of ``more``, from the first on, come from what was due before the call rather than from the call.
    package internal(set) var dueBefore = 0
    /// The fate of ``displaced``.
    package var fate = NotExecutedError.superseded
    /// The execution that the submitted value has joined: it is not kept then.
    package var joined: RunID?
    /// Whether ``Engine/alarm`` has moved, so that the driver must set its timer again.
    package var movesAlarm = false

    init() {}

    /// Whether there is nothing to do beyond releasing ``displaced``.
    package var isQuiet: Bool { !movesAlarm && more.isEmpty }
}

extension Actions: Sendable where Key: Sendable, Value: Sendable {}

/// One run of the handler for one key, as the engine asks for it.
@frozen
package struct Execution<Key, Value> {
    /// Identifies the execution when its end is reported with ``Engine/ended(_:_:telling:at:)``.
    package var run: RunID
    /// The key of the value.
    package var key: Key
    /// The value, or the values in order.
    package var batch: Batch<Value>
    /// The number of submits behind it.
    package var count: Int
    /// Why the value fell due.
    package var cause: Cause
    /// The instant at which it was due.
    package var at: CoreInstant
    /// The instant of the oldest submit behind it.
    package var first: CoreInstant

    init(run: RunID, key: Key, batch: Batch<Value>, due: Gate.Due) {
        self.run = run
        self.key = key
        self.batch = batch
        count = due.count
        cause = due.cause
        at = due.at
        first = due.first
    }
}

extension Execution: Sendable where Key: Sendable, Value: Sendable {}

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
    /// It is running, and is to be cancelled: ``Action/cancel(_:)`` was returned for it.
    case cancelling
    /// The same, under ``OverlapPolicy/restart``: if its handler throws, its values go back.
    case interrupting
    /// Its handler has ended, and its outcome is being told: see ``Engine/told(_:at:)``.
    case telling
    /// It has ended, and its outcome has been told.
    case ended

    /// Whether it is to be cancelled.
    package var isCancelling: Bool { self == .cancelling || self == .interrupting }

    /// Whether the handler has not ended.
    package var isRunning: Bool { self == .running || isCancelling }
}

/// How an execution ended, as reported with ``Engine/ended(_:_:telling:at:)``.
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
    /// The handler threw.
    case failed
    /// It was cancelled for a newer value, and threw.
    case superseded
    /// It was cancelled by `cancel(running: true)`, and threw.
    case cancelled
    /// It was interrupted under ``OverlapPolicy/restart``, and threw: its submits are pending again.
    case interrupted
    /// Its value was unchanged.
    case absorbed
    /// Its submits had ended before: ``Action/replace(_:_:)`` was returned for it.
    case replaced
}
