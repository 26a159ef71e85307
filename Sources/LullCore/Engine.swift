/// The whole decision logic of debouncing and throttling over any number of keys, as a value that knows no clock, no
/// lock and no task.
///
/// A shell reports what happens, with the instant at which it happened, and does what the returned ``Actions`` say. The
/// same calls at the same instants always have the same answers (<doc:Semantics>, section 2). An instant that is
/// earlier than the last one handled counts as that one.
///
/// A submit costs the same whatever the number of keys: a hash look-up, or none at all for the key of the submit
/// before; and now and then an entry in a radix heap. Neither grows by more than a small piece at a time. A key's memory is
/// given back when its gate is idle and none of its executions is running.
@frozen
public struct Engine<Key: Hashable, Value>: ~Copyable {
    /// What is kept for one key.
    @frozen
    @usableFromInline
    struct Slot {
        @usableFromInline var key: Key
        /// What is pending, exactly if the gate's count is not zero.
        @usableFromInline var batch: Batch<Value>?
        @usableFromInline var gate: Gate
        /// Whether the key counts towards the capacity, and the pass of compaction: see below.
        @usableFromInline var flags: UInt8
        /// The last call for all keys that has reached this one.
        @usableFromInline var sweep: UInt16
        /// The place of the key's lane, or `none`.
        @usableFromInline var lane: UInt32
        /// The instant of an open gate's entry: in `deadlines` while something is pending, and in `idleQueue` otherwise. It
        /// is never later than the gate's next change, and put off only when it has come.
        @usableFromInline var scheduled: CoreInstant
        /// The number of the burst, in the order in which bursts began.
        @usableFromInline var birth: UInt64

        @inlinable
        init(key: Key, sweep: UInt16) {
            self.key = key
            gate = Gate()
            flags = 0
            self.sweep = sweep
            lane = .max
            scheduled = .farPast
            birth = 0
        }

        // In one byte: a byte more here makes eight of a slot.

        /// Whether the key counts towards the capacity.
        @inlinable
        var isCounted: Bool {
            get { flags & 1 != 0 }
            set { flags = flags & ~1 | (newValue ? 1 : 0) }
        }

        /// The number of the pass of compaction that has kept the key's entry, or 0: a second such entry is one too many.
        @inlinable
        var compactionPass: UInt8 {
            get { flags >> 1 }
            set { flags = flags & 1 | newValue << 1 }
        }

        /// Whether the gate is open and has certainly not changed by itself yet.
        @inlinable
        func isOpen(beyond now: CoreInstant) -> Bool { gate.isOpen && now < scheduled }
    }

    // First of all, and close together, what every submit writes: whoever submits from another thread waits for these lines
    // of memory to come over.

    /// The last instant handled.
    @usableFromInline package var now: CoreInstant
    /// The slot of the last submit: a burst at one key needs no hashing. `UInt32.max` for none.
    @usableFromInline var recent: UInt32
    /// Whether no submit may take the short way: after a shut-down, and while a call for all keys is under way.
    @usableFromInline var needsLongWay: Bool
    @usableFromInline var tally: Counters

    /// What the engine was set up with.
    public let setup: Setup
    /// What became of the submits so far.
    @inlinable
    public var counters: Counters { tally }
    /// The instant at which ``advance(to:limit:)`` wants to be called next; ``CoreInstant/farFuture`` for never.
    ///
    /// It may come before anything is due: a submit that only puts something off leaves it where it is.
    @inlinable
    public var alarm: CoreInstant { ring }
    /// Whether ``shutDown(flushing:at:)`` has been called.
    @inlinable
    public var isShutDown: Bool { isClosed }

    @usableFromInline var isClosed: Bool

    // Behind the property above: inlined code can set this from another module.
    @usableFromInline var ring: CoreInstant
    @usableFromInline var slots: Slab<Slot>
    @usableFromInline var index: KeyIndex
    /// When pending values fall due.
    @usableFromInline var deadlines: DeadlineQueue
    /// When gates that have nothing pending may be forgotten. Nobody is woken for it.
    @usableFromInline var idleQueue: DeadlineQueue
    /// The number of bursts begun.
    @usableFromInline var births: UInt64
    /// The number of keys with an open gate or a waiting value.
    @usableFromInline var openCount: Int

    @usableFromInline var lanes: Slab<Lane<Value>>
    /// The number of submits that are due and wait to start.
    @usableFromInline var backlog: Int
    /// The number of executions running.
    @usableFromInline var active: Int
    /// The number of executions started.
    @usableFromInline var serials: UInt64
    @usableFromInline var slotQueue: SlotQueue
    /// Whether slots are being given at this moment.
    @usableFromInline var isGrantingSlots: Bool
    /// The number of values that have fallen due.
    @usableFromInline var turns: UInt64
    /// How many executions each ticket still waits for.
    @usableFromInline var tickets: [WaiterID: Int]
    /// The calls for all keys that are under way, the oldest first.
    @usableFromInline var sweeps: [Sweep.Mark]
    /// The number of the last of them that began, modulo 2¹⁶.
    @usableFromInline var sweepNumber: UInt16

    /// Makes an engine with nothing pending.
    @inlinable
    public init(_ setup: Setup) {
        self.setup = setup
        tally = Counters()
        ring = .farFuture
        isClosed = false
        needsLongWay = false
        now = .farPast
        slots = Slab()
        index = KeyIndex()
        recent = .max
        deadlines = DeadlineQueue()
        idleQueue = DeadlineQueue()
        births = 0
        openCount = 0
        lanes = Slab()
        backlog = 0
        active = 0
        serials = 0
        slotQueue = SlotQueue()
        isGrantingSlots = false
        turns = 0
        tickets = [:]
        sweeps = []
        sweepNumber = 0
    }

    /// Hands memory that is no longer needed to the caller, to be freed where it holds no lock.
    @inlinable
    public mutating func takeDiscarded() -> Discarded { slots.discarded.take() }
}
