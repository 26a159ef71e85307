/// Something that the driver has to do for the engine, in the order given. What runs code of the user's waits until the
/// driver has released its lock.
public enum Action<Key, Value> {
    /// Run the handler, and report its end with ``Engine/ended(_:_:telling:at:)``.
    case start(Execution<Key, Value>)
    /// Cancel a running execution cooperatively.
    case cancel(RunID)
    /// Report what has become of these values of a key to the callers that wait for their outcome.
    case resolve(Key, Batch<Value>, Fate)
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
/// After a submit that joins what is pending, by far the most frequent event, this is at most a displaced value; it
/// costs no allocation.
public struct Actions<Key, Value> {
    /// The value that the submitted one displaced, or the submitted one itself if it was not kept. It is handed out
    /// also so that it is released outside the driver's lock.
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

/// One run of the handler for one key, as the engine asks for it.
@frozen
public struct Execution<Key, Value> {
    /// Identifies the execution when its end is reported with ``Engine/ended(_:_:telling:at:)``.
    public var run: RunID
    /// The key of the value.
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

    init(run: RunID, key: Key, batch: Batch<Value>, due: Gate.Due) {
        self.run = run
        self.key = key
        self.batch = batch
        count = due.count
        edge = due.edge
        at = due.at
        first = due.first
    }
}

extension Execution: Sendable where Key: Sendable, Value: Sendable {}

/// Identifies a running execution. No two executions of an engine have the same id.
@frozen
public struct RunID: Hashable, Sendable {
    /// The slot of its key.
    package let slot: UInt32
    /// The number of the execution, counted by the engine.
    public let serial: UInt64

    package init(slot: UInt32, serial: UInt64) {
        self.slot = slot
        self.serial = serial
    }
}

/// How far an execution has got.
@frozen
public enum RunState: Hashable, Sendable {
    /// It has started and not ended.
    case running
    /// It is running, and is to be cancelled: ``Action/cancel(_:)`` was returned for it.
    case cancelling
    /// The same, under ``WhileRunning/restart``: if its handler throws, its values go back.
    case interrupting
    /// Its handler has ended, and its outcome is being told: see ``Engine/told(_:at:)``.
    case telling
    /// It has ended, and its outcome has been told.
    case ended

    /// Whether it is to be cancelled.
    public var isCancelling: Bool { self == .cancelling || self == .interrupting }

    /// Whether the handler has not ended.
    public var isRunning: Bool { self == .running || isCancelling }
}

/// The fate of a submit that no handler got (<doc:Semantics>, section 6). `Outcome.get()` throws it.
@frozen
public enum Fate: Error, Hashable, Sendable {
    /// A later submit of the key replaced it.
    case superseded
    /// Another value stood for it: a leading one, a running one, or the first.
    case absorbed
    /// It was cancelled.
    case cancelled
    /// It was refused, for this reason.
    case rejected(Rejection)
}

/// Why a submit was refused at once, and changed nothing.
@nonexhaustive
public enum Rejection: Hashable, Sendable {
    /// The debouncer has been shut down.
    case shutDown
    /// As many keys as the `capacity` allows are in a burst or wait to start, and the submit would have added one.
    case overCapacity
}

/// How an execution ended, as reported with ``Engine/ended(_:_:telling:at:)``.
@frozen
public enum Ending: Hashable, Sendable {
    /// The handler returned.
    case returned
    /// The handler threw.
    case threw
}

/// The outcome of the submits of an execution that has ended.
@frozen
public enum Verdict: Hashable, Sendable {
    /// The handler returned.
    case executed
    /// The handler threw.
    case failed
    /// It was cancelled for a newer value, and threw.
    case superseded
    /// It was cancelled by `cancel(running: true)`, and threw.
    case cancelled
    /// It was interrupted under ``WhileRunning/restart``, and threw: its submits are pending again.
    case interrupted
}
