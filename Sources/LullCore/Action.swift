/// Something that the driver has to do for the engine, in the order given. What runs code of the user's waits until the driver
/// has released its lock.
public enum Action<Key, Value> {
    /// Run the handler, and report its end with ``Engine/ended(_:_:telling:)``.
    case start(Execution<Key, Value>)
    /// Cancel a running execution cooperatively.
    case cancel(RunID)
    /// Report what has become of these values of a key to the callers that wait for their outcome.
    case settle(Key, Batch<Value>, Fate)
    /// Resume the caller that waits: see ``Engine/addWaiter(_:for:)``.
    case resume(WaiterID)
    /// Do nothing: the key is handed out so that its last reference is released outside the driver's lock.
    case release(Key)
}

extension Action: Sendable where Key: Sendable, Value: Sendable {}

/// A number that the driver chooses for a caller that waits for executions to end.
public typealias WaiterID = Int

/// An action for the driver to carry out after an event.
///
/// After a submit that joins what is pending, by far the most frequent event, this is at most a displaced value; it costs no
/// allocation.
public struct Actions<Key, Value> {
    /// The value that the submitted one displaced, or the submitted one itself if it was not kept. It is handed out also
    /// so that it is released outside the driver's lock.
    public var displaced: Value?

    /// Everything else, in order.
    public var more: [Action<Key, Value>] = []
    /// How many of ``more``, from the first on, come from what was due before the call rather than from the call.
    public internal(set) var dueBefore = 0
    /// The fate of ``displaced``.
    public var fate = Fate.superseded
    /// Whether ``Engine/alarm`` has moved, so that the driver must set its timer again.
    public var movesAlarm = false

    init() {}

    /// Whether there is nothing to do beyond releasing ``displaced``.
    public var isQuiet: Bool { !movesAlarm && more.isEmpty }
}

extension Actions: Sendable where Key: Sendable, Value: Sendable {}

extension Combination {
    /// The fate of a value that is displaced.
    public var fateOfDisplaced: Fate { self == .first ? .absorbed : .superseded }
}
