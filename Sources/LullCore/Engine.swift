/// The whole decision logic of debouncing and throttling over any number of keys, as a value that knows no clock, no
/// lock and no task.
///
/// A shell reports what happens, with the instant at which it happened, and does what the returned ``Actions`` say. The
/// same calls at the same instants always have the same answers (<doc:Semantics>, section 2). An instant that is
/// earlier than the last one handled counts as that one.
///
/// A submit costs the same whatever the number of keys: a hash look-up, or none at all for the key of the submit
/// before; and now and then an entry in a radix heap. A key's memory is given back when its gate is idle and none of
/// its executions is running.
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
        /// Whether the key counts towards the capacity.
        @usableFromInline var isCounted: Bool
        /// The place of the key's lane, or `none`.
        @usableFromInline var lane: UInt32
        /// The instant of an open gate's entry: in `agenda` while something is pending, and in `fading` otherwise. It
        /// is never later than the gate's next change, and put off only when it has come.
        @usableFromInline var scheduled: CoreInstant
        /// The number of the burst, in the order in which bursts began.
        @usableFromInline var birth: UInt64

        @inlinable
        init(key: Key) {
            self.key = key
            gate = Gate()
            isCounted = false
            lane = .max
            scheduled = .farPast
            birth = 0
        }

        /// Whether the gate is open and has certainly not changed by itself yet.
        @inlinable
        func isOpen(beyond now: CoreInstant) -> Bool { gate.isOpen && now < scheduled }
    }

    // First of all, and close together, what every submit writes: whoever submits from another thread waits for these lines
    // of memory to come over.

    /// The last instant handled.
    @usableFromInline var now: CoreInstant
    /// The slot of the last submit: a burst at one key needs no hashing. `UInt32.max` for none.
    @usableFromInline var recent: UInt32
    @usableFromInline var isClosed: Bool
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

    // Behind the property above: inlined code can set this from another module.
    @usableFromInline var ring: CoreInstant
    @usableFromInline var slots: Slab<Slot>
    @usableFromInline var index: KeyIndex
    /// When pending values fall due.
    @usableFromInline var agenda: Agenda
    /// When gates that have nothing pending may be forgotten. Nobody is woken for it.
    @usableFromInline var fading: Agenda
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
    /// The number of values that have fallen due.
    @usableFromInline var turns: UInt64
    /// How many executions each ticket still waits for.
    @usableFromInline var tickets: [Ticket: Int]

    /// An engine with nothing pending.
    @inlinable
    public init(_ setup: Setup) {
        self.setup = setup
        tally = Counters()
        ring = .farFuture
        isClosed = false
        now = .farPast
        slots = Slab()
        index = KeyIndex()
        recent = .max
        agenda = Agenda()
        fading = Agenda()
        births = 0
        openCount = 0
        lanes = Slab()
        backlog = 0
        active = 0
        serials = 0
        slotQueue = SlotQueue()
        turns = 0
        tickets = [:]
    }

    // MARK: - Submitting

    /// Offers a value under a key (<doc:Semantics>, sections 3 and 4).
    ///
    /// `wait` is the delay of this call alone; a negative one counts as zero. A throttle ignores it.
    @inlinable
    public mutating func submit(
        _ value: consuming Value, for key: Key, at instant: CoreInstant, wait: CoreDuration? = nil
    ) -> Actions<Key, Value> {
        let now = tick(instant)
        tally.submitted += 1
        let place = find(key)
        guard place != .max, !isClosed, slots[place].pointee.isOpen(beyond: now) else {
            return begin(value, for: key, place, at: now, wait: wait)
        }
        // By far the most frequent case: a burst goes on, as can be told without looking at the policy. And nothing here
        // changes an answer: it would lie in memory, and to read it back took half of the time that is spent here.
        let slot = slots[place]
        let decision = slot.pointee.gate.submit(at: now, wait: wait, by: setup.policy)
        guard slot.pointee.gate.quiet >= slot.pointee.scheduled else { return take(value, decision, place, Actions()) }
        switch decision {
        case .join where slot.pointee.gate.count > 1:
            return Actions(displaced: combine(value, into: slot), setup.combination.fateOfDisplaced)
        case .absorb:
            tally.absorbed += 1
            return Actions(displaced: value, .absorbed)
        default:
            return take(value, decision, place, Actions())
        }
    }

    /// Offers a value where no burst goes on, or something may have fallen due.
    @inlinable
    @inline(never)
    mutating func begin(
        _ value: consuming Value, for key: Key, _ found: UInt32, at now: CoreInstant, wait: CoreDuration?
    ) -> Actions<Key, Value> {
        var actions = Actions<Key, Value>()
        guard !isClosed else {
            reject(value, .shutDown, &actions)
            return actions
        }
        var place = found
        if place == .max || slots[place].pointee.gate.nextChangeOrIdle(by: setup.policy) <= now {
            place = beginBurst(key, place, now, &actions)
            actions.dueBeforeCall = UInt32(clamping: actions.more.count)
            guard place != .max else {
                reject(value, .overCapacity, &actions)
                return actions
            }
        }
        let decision = slots[place].pointee.gate.submit(at: now, wait: wait, by: setup.policy)
        return take(value, decision, place, actions)
    }

    /// Does with a value what its gate has decided.
    @inlinable
    @inline(never)
    mutating func take(
        _ value: consuming Value, _ decision: Gate.Decision, _ place: UInt32, _ before: consuming Actions<Key, Value>
    ) -> Actions<Key, Value> {
        var actions = before
        let slot = slots[place]
        switch decision {
        case .join:
            if slot.pointee.batch == nil {
                tally.pending += 1
                slot.pointee.batch = Batch(value)
                schedule(place, &actions)
            } else {
                actions.displaced = combine(value, into: slot)
                actions.fate = setup.combination.fateOfDisplaced
                if slot.pointee.gate.quiet < slot.pointee.scheduled { schedule(place, &actions) }
            }
        case .absorb:
            tally.absorbed += 1
            actions.displaced = value
            actions.fate = .absorbed
            if slot.pointee.gate.quiet < slot.pointee.scheduled { rest(place, &actions) }
        case .lead:
            tally.pending += 1
            let ripe = Gate.Ripe(at: now, edge: .leading, count: 1, first: now)
            fallDue(place, Batch(value), ripe, &actions)
            rest(place, &actions)
        case .complete(let ripe):
            complete(value, place, ripe, &actions)
        }
        return actions
    }

    /// Combines a value into the pending ones, and returns the one that lost its place.
    @inlinable
    @inline(__always)
    mutating func combine(_ value: consuming Value, into slot: UnsafeMutablePointer<Slot>) -> Value? {
        switch setup.combination {
        case .latest: tally.superseded += 1
        case .first: tally.absorbed += 1
        case .collect: tally.pending += 1
        }
        return slot.pointee.batch?.add(value, by: setup.combination)
    }

    @inlinable
    @inline(never)
    mutating func complete(
        _ value: consuming Value, _ place: UInt32, _ ripe: Gate.Ripe, _ actions: inout Actions<Key, Value>
    ) {
        let slot = slots[place]
        if slot.pointee.batch == nil {
            tally.pending += 1
            slot.pointee.batch = Batch(value)
        } else {
            actions.displaced = combine(value, into: slot)
            actions.fate = setup.combination.fateOfDisplaced
        }
        fallDue(place, takeBatch(slot), ripe, &actions)
        rest(place, &actions)
    }

    @inlinable
    @inline(never)
    mutating func reject(_ value: consuming Value, _ why: Rejection, _ actions: inout Actions<Key, Value>) {
        tally.rejected += 1
        actions.displaced = value
        actions.fate = .rejected(why)
    }
}
