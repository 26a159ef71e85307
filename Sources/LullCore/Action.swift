/// One run of the handler for one key, as the engine asks for it.
@frozen
public struct Execution<Key, Value> {
    /// Names the execution when ``Engine/ended(_:_:)`` is told of its end.
    public var run: RunID
    /// The key whose value it is.
    public var key: Key
    /// The value, or the values in order.
    public var batch: Batch<Value>
    /// The number of submits behind it.
    public var count: Int
    /// Why the value fell due.
    public var edge: Edge
    /// The instant at which it was due.
    public var at: CoreInstant
    /// The instant of the oldest submit behind it.
    public var first: CoreInstant

    @inlinable
    init(run: RunID, key: Key, batch: Batch<Value>, ripe: Gate.Due) {
        self.run = run
        self.key = key
        self.batch = batch
        count = ripe.count
        edge = ripe.edge
        at = ripe.at
        first = ripe.first
    }
}

extension Execution: Sendable where Key: Sendable, Value: Sendable {}

/// Names an execution among those that are running. No two executions of an engine have the same.
@frozen
public struct RunID: Hashable, Sendable {
    /// Where the engine keeps its key.
    @usableFromInline let slot: UInt32
    /// Counts the executions of the engine.
    public let serial: UInt64

    @inlinable
    init(slot: UInt32, serial: UInt64) {
        self.slot = slot
        self.serial = serial
    }
}

/// Whether an execution is running, and has been told to stop.
@frozen
public enum RunState: Hashable, Sendable {
    /// It has started and not ended.
    case running
    /// It is running, and has been told to stop.
    case cancelling
    /// It has ended.
    case ended
}

/// What became of a submit that no handler was given (<doc:Semantics>, section 6).
@frozen
public enum Fate: Hashable, Sendable {
    /// A later submit of the key took its place.
    case superseded
    /// Another value stood for it: a leading one, a running one, or the first.
    case absorbed
    /// It was cancelled.
    case cancelled
    /// It was not taken, for this reason.
    case rejected(Rejection)
}

/// Why a submit was not taken: it was refused at once, and changed nothing.
@nonexhaustive
public enum Rejection: Hashable, Sendable {
    /// The debouncer has been shut down.
    case shutDown
    /// As many keys as the `capacity` allows are in a burst or wait to start, and the submit would have added one.
    case overCapacity
}

/// How an execution ended, as the shell reports it to ``Engine/ended(_:_:)``.
@frozen
public enum Ending: Hashable, Sendable {
    /// The handler returned.
    case returned
    /// The handler threw.
    case threw
}

/// What became of the submits of an execution that has ended.
@frozen
public enum Verdict: Hashable, Sendable {
    /// The handler returned.
    case executed
    /// The handler threw.
    case failed
    /// It was told to stop for a newer value, and stopped.
    case superseded
    /// It was told to stop by `cancel(running: true)`, and stopped.
    case cancelled
}

/// Something that the engine asks its shell to do, in the order given, after the shell has released its lock.
public enum Action<Key, Value> {
    /// Run the handler, and tell ``Engine/ended(_:_:)`` when it has ended.
    case start(Execution<Key, Value>)
    /// Cancel a running execution cooperatively.
    case cancel(RunID)
    /// Tell the callers that wait for their outcome what has become of these values of a key.
    case settle(Key, Batch<Value>, Fate)
    /// Resume the caller that waits under this ticket.
    case resume(WaiterID)
    /// Nothing: the key is handed out so that its last reference is released outside the shell's lock.
    case release(Key)
}

extension Action: Sendable where Key: Sendable, Value: Sendable {}

/// A number that the shell chooses for a caller that waits for executions to end.
public typealias WaiterID = Int

/// The answer of the engine to an event: what the shell has to do.
///
/// The answer to a submit that joins what is pending, by far the most frequent one, is at most a displaced value; it
/// costs no allocation.
@frozen
public struct Actions<Key, Value> {
    /// The value that lost its place to the submitted one, or the submitted one itself if it was not kept. It is handed
    /// out also so that it is released outside the shell's lock.
    public var displaced: Value?
    // The order and the sizes are chosen for speed. `more` keeps `fate` away from the tag of `displaced`: bytes that were
    // stored one by one and are then loaded as one word make the processor wait. And of a value of one or two words, all
    // fits into the four registers that can be returned: in memory, a submit takes a third longer.

    /// Everything else, in order.
    public var more: [Action<Key, Value>]
    @usableFromInline var dueBeforeCall: UInt32
    /// What became of ``displaced``.
    public var fate: Fate
    /// Whether ``Engine/alarm`` has moved, so that the shell must set its timer anew.
    public var movesAlarm: Bool

    /// How many of ``more``, from the first on, come of what was due before the call, not of the call.
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

    /// Adds to ``more``. Made anew, an array of one takes half the code that appending to an empty one runs through.
    @inlinable
    mutating func add(_ action: consuming Action<Key, Value>) {
        if more.isEmpty { more = [action] } else { more.append(action) }
    }

    /// Whether there is nothing to do beyond releasing ``displaced``.
    @inlinable
    public var isQuiet: Bool { !movesAlarm && more.isEmpty }
}

extension Actions: Sendable where Key: Sendable, Value: Sendable {}

extension Combination {
    /// What becomes of a value that loses its place.
    @inlinable
    public var fateOfDisplaced: Fate { self == .first ? .absorbed : .superseded }
}
