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
@frozen
public struct Actions<Key, Value> {
    /// The value that the submitted one displaced, or the submitted one itself if it was not kept. It is handed out also
    /// so that it is released outside the driver's lock.
    public var displaced: Value?

    // The order and the sizes are chosen for speed (row `hot`). `more` keeps `fate` away from the tag of `displaced`: bytes
    // that were stored one by one and are then loaded as one word stall the processor. And with a value of one or two
    // words, everything is returned in four registers: in memory, a submit takes a third longer.

    /// Everything else, in order.
    public var more: [Action<Key, Value>]
    @usableFromInline var dueBeforeCall: UInt32
    /// The fate of ``displaced``.
    public var fate: Fate
    /// Whether ``Engine/alarm`` has moved, so that the driver must set its timer again.
    public var movesAlarm: Bool

    /// How many of ``more``, from the first on, come from what was due before the call rather than from the call.
    @inlinable
    public var dueBefore: Int { Int(dueBeforeCall) }

    @inlinable
    init(displaced: consuming Value? = nil, _ fate: Fate = .superseded) {
        self.displaced = displaced
        more = []
        dueBeforeCall = 0
        self.fate = fate
        movesAlarm = false
    }

    /// Adds to ``more``. Creating an array of one takes half the code that appending to an empty one runs through (row `due`).
    @inlinable
    @inline(__always)
    mutating func add(_ action: consuming Action<Key, Value>) {
        if more.isEmpty { more = [action] } else { more.append(action) }
    }

    /// Whether there is nothing to do beyond releasing ``displaced``.
    @inlinable
    public var isQuiet: Bool { !movesAlarm && more.isEmpty }

    /// Whether any execution is to start.
    @inlinable
    package var startsAny: Bool {
        more.contains { if case .start = $0 { true } else { false } }
    }

    /// Moves ``more`` out, to be taken one by one.
    @inlinable
    package mutating func takeMore() -> PendingActions<Key, Value> {
        var taken: [Action<Key, Value>] = []
        swap(&taken, &more)
        return PendingActions(taken)
    }
}

extension Actions: Sendable where Key: Sendable, Value: Sendable {}

/// Actions that are still to be done, first to last.
///
/// Each is moved out. Iterating an array copies and releases it instead, and copying an execution takes as long as starting it
/// (row `due`).
@usableFromInline
package struct PendingActions<Key, Value> {
    @usableFromInline var reversed: [Action<Key, Value>]

    @inlinable
    package init(_ actions: consuming [Action<Key, Value>]) {
        actions.reverse()
        reversed = actions
    }

    /// Removes and returns the first action, if there is one.
    @inlinable
    package mutating func next() -> Action<Key, Value>? { reversed.popLast() }

    /// Adds actions before all others.
    @inlinable
    package mutating func prepend(_ actions: consuming [Action<Key, Value>]) {
        actions.reverse()
        reversed.append(contentsOf: actions)
    }
}

extension Combination {
    /// The fate of a value that is displaced.
    @inlinable
    public var fateOfDisplaced: Fate { self == .first ? .absorbed : .superseded }
}
