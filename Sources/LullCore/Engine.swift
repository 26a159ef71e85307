/// The whole decision logic of debouncing and throttling over any number of keys, as a value without a clock, a lock or a
/// task.
///
/// A driver reports each event with its instant, and does what the returned ``Actions`` say. The same calls at the same
/// instants always have the same results (<doc:Semantics>, section 2). An instant earlier than the last one handled counts
/// as that one.
///
/// A submit costs the same whatever the number of keys: a hash look-up, or none for the key of the previous submit; and now
/// and then an entry in a radix heap. Neither grows by more than a small piece at a time. A key's memory is given back when
/// its gate is idle and none of its executions is running.
///
/// Inlinable code lies on the path of a submit (rows `hot`, `keyed` and `growth`), of a due execution (row `due`) or of
/// a call for all keys (row `holds`): generic code that is called unspecialised from another module takes several times as
/// long.
@frozen
public struct Engine<Key: Hashable, Value>: ~Copyable {
    /// The state of one key.
    @usableFromInline
    struct Slot {
        @usableFromInline var key: Key
        /// The pending values: present exactly if the gate's count is not zero.
        @usableFromInline var batch: Batch<Value>?
        @usableFromInline var gate: Gate
        /// Both ``gauge`` and ``compactionPass``: one byte more would make a slot eight bytes larger (row `memory`).
        @usableFromInline var flags: UInt8
        /// The last call for all keys that has been applied to this one.
        @usableFromInline var sweep: UInt16
        /// The index of the key's executions; `UInt32.max` for none.
        @usableFromInline var executions: UInt32
        /// The instant of a gate's entry: in `deadlines` while something is pending, and in `idleQueue` otherwise, unless the
        /// gate is idle. It is never later than the gate's next change, and postponed only when it has come.
        @usableFromInline var scheduled: CoreInstant
        /// The number of the burst, in the order in which bursts began.
        @usableFromInline var burst: UInt64

        @inlinable
        init(key: Key, sweep: UInt16) {
            self.key = key
            gate = Gate()
            flags = 0
            self.sweep = sweep
            executions = .max
            scheduled = .farPast
            burst = 0
        }

        /// The number of keys that includes this one, which counts towards the capacity unless it is ``Gauge/none``.
        @inlinable
        var gauge: Gauge {
            // Proof: only the setter changes these bits.
            get { Gauge(rawValue: flags & 3).unsafelyUnwrapped }
            set { flags = flags & ~3 | newValue.rawValue }
        }

        /// The number of the pass of compaction that has kept the key's entry, or 0: a second such entry is one too many.
        @inlinable
        var compactionPass: UInt8 {
            get { flags >> 2 }
            set { flags = flags & 3 | newValue << 2 }
        }

        /// Whether the gate is open and has certainly not changed by itself yet.
        @inlinable
        func isOpen(beyond now: CoreInstant) -> Bool { gate.isOpen && now < scheduled }
    }

    /// The numbers of keys that an engine reports.
    @usableFromInline
    enum Gauge: UInt8 {
        case none
        /// ``openKeyCount``.
        case open
        /// ``restingKeyCount``.
        case resting
    }

    // The fields that every submit writes come first, close together: a thread that submits after another one waits for these
    // cache lines.

    /// The last instant handled.
    @usableFromInline package var now: CoreInstant
    /// The slot of the last submit: a burst at one key needs no hashing. `UInt32.max` for none.
    @usableFromInline var recentSlot: UInt32
    /// Whether no submit may take the fast path: after a shut-down, and while a call for all keys is under way.
    @usableFromInline var needsSlowPath: Bool
    @usableFromInline var tally: Counters

    /// The settings.
    public let setup: Setup
    /// The number of submits with each outcome so far.
    @inlinable
    public var counters: Counters { tally }
    /// The instant at which ``advance(to:limit:)`` is to be called next; ``CoreInstant/farFuture`` for never.
    ///
    /// It may come before anything is due: a submit that only postpones something leaves it where it is.
    @inlinable
    public var alarm: CoreInstant { nextAlarm }
    /// Whether ``shutDown(flushing:at:)`` has been called.
    @inlinable
    public var isShutDown: Bool { isClosed }

    @usableFromInline var isClosed: Bool

    // Inlined code cannot set a public property that is read-only for others, so that `alarm` reads this one.
    @usableFromInline var nextAlarm: CoreInstant
    @usableFromInline var slots: Slab<Slot>
    @usableFromInline var keyIndex: KeyIndex
    /// When pending values fall due.
    @usableFromInline var deadlines: DeadlineQueue
    /// When gates that have nothing pending may be forgotten. No wake-up is made for it.
    @usableFromInline var idleQueue: DeadlineQueue
    /// The number of bursts begun.
    @usableFromInline var burstCount: UInt64
    /// The number of keys with an open gate or a waiting value.
    @usableFromInline var openCount: Int
    /// The number of the others whose gates are resting.
    @usableFromInline var restingCount: Int

    @usableFromInline var keyExecutions: Slab<KeyExecutions<Value>>
    /// The number of submits that are due and wait to start.
    @usableFromInline var waitingSubmits: Int
    /// The number of executions running.
    @usableFromInline var runningCount: Int
    /// The number of executions started.
    @usableFromInline var startCount: UInt64
    @usableFromInline var startQueue: StartQueue
    /// Whether ``startWaiting(_:)`` is running.
    @usableFromInline var isStartingWaiting: Bool
    /// The number of values that have fallen due.
    @usableFromInline var dueCount: UInt64
    /// How many executions each caller still waits for.
    @usableFromInline var waiters: [WaiterID: Int]
    /// The calls for all keys that are under way, the oldest first.
    @usableFromInline var sweeps: [Sweep.Mark]
    /// The number of the last of them that began, modulo 2¹⁶.
    @usableFromInline var sweepNumber: UInt16

    /// Creates an engine with nothing pending.
    public init(_ setup: Setup) {
        self.setup = setup
        tally = Counters()
        nextAlarm = .farFuture
        isClosed = false
        needsSlowPath = false
        now = .farPast
        slots = Slab()
        keyIndex = KeyIndex()
        recentSlot = .max
        deadlines = DeadlineQueue()
        idleQueue = DeadlineQueue()
        burstCount = 0
        openCount = 0
        restingCount = 0
        keyExecutions = Slab()
        waitingSubmits = 0
        runningCount = 0
        startCount = 0
        startQueue = StartQueue()
        isStartingWaiting = false
        dueCount = 0
        waiters = [:]
        sweeps = []
        sweepNumber = 0
    }

    /// Moves ``now`` forward to the instant of a call, never backwards, and returns it: the instant at which the call is
    /// handled.
    @inlinable
    mutating func advanceNow(to instant: CoreInstant) -> CoreInstant {
        if instant > now { now = instant }
        return now
    }

    /// Hands memory that is no longer needed to the caller, which frees it while it holds no lock.
    @inlinable
    public mutating func takeDiscarded() -> Discarded { slots.discarded.take() }
}
