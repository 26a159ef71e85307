package import LullCore

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
    /// Report that an execution goes on after its time limit.
    case overdue(RunID)
    /// Report what has become of these values of a key to the callers that wait for their outcome.
    case resolve(Key, Batch<Value>, NotExecutedError)
    /// Resume the caller that waits.
    case resume(WaiterID)
    /// Do nothing: the key is handed out so that its last reference is released outside the driver's lock.
    case release(Key)
}

extension Action: Sendable where Key: Sendable, Value: Sendable {}

/// An action for the driver to carry out after an event.
///
/// After a submit that joins what is pending, by far the most frequent event, this is at most a displaced value; it
/// costs no allocation.
package struct Actions<Key, Value> {
    /// The value that the submitted one displaced, or the submitted one itself if it was not kept. It is handed out
    /// also so that it is released outside the driver's lock.
    package internal(set) var displaced: Value?

    /// Everything else, in order.
    package internal(set) var more: [Action<Key, Value>] = []
    /// How many of ``more``, from the first on, come from what was due before the call rather than from the call.
    package internal(set) var dueBefore = 0
    /// The fate of ``displaced``.
    package internal(set) var fate = NotExecutedError.superseded
    /// The execution that the submitted value has joined: it is not kept then.
    package internal(set) var joined: RunID?
    /// Whether ``Engine/alarm`` has moved, so that the driver must set its timer again.
    package var movesAlarm = false

    init() {}

    /// Whether there is nothing to do beyond releasing ``displaced``.
    package var isQuiet: Bool { !movesAlarm && more.isEmpty }
}

extension Actions: Sendable where Key: Sendable, Value: Sendable {}
