/// The instants at which gates want to be looked at: a priority queue for times that never run backwards.
///
/// It is a radix heap. An entry lies in the bucket that is numbered by the highest bit in which its instant differs
/// from the last instant popped, so that adding one costs the same however many there are and however far they lie
/// apart; when the front bucket is reached its entries are dealt out to the buckets below, each entry at most once a
/// bit. Entries are written and read in sequence, which is what makes it faster than a binary heap with its jumps
/// through memory.
///
/// An entry cannot be taken back: whoever pops one asks whether it still holds.
@frozen
@usableFromInline
struct Agenda: ~Copyable {
    @frozen
    @usableFromInline
    struct Entry {
        /// When to look, in nanoseconds.
        @usableFromInline var at: Int64
        /// At which gate.
        @usableFromInline var slot: UInt32
        /// The order in which bursts began, modulo 2³²: it breaks ties, and tells a slot's present burst from an
        /// earlier one.
        @usableFromInline var birth: UInt32

        @inlinable
        init(at: CoreInstant, slot: UInt32, birth: UInt64) {
            self.at = at.nanoseconds
            self.slot = slot
            self.birth = UInt32(truncatingIfNeeded: birth)
        }

        /// Whether this entry's burst began before the other's; right for bursts less than 2³¹ apart.
        @inlinable
        func isOlder(than other: Entry) -> Bool {
            Int32(bitPattern: birth &- other.birth) < 0
        }
    }

    /// Entries in memory of their own, in any order.
    ///
    /// In arrays, each move of an entry asked whether its array was shared, which made it all take twice as long.
    @frozen
    @usableFromInline
    struct Bucket {
        @usableFromInline var memory: UnsafeMutablePointer<Entry>?
        @usableFromInline var capacity: UInt32
        @usableFromInline var count: UInt32
        /// The earliest instant of the entries, if there are any.
        @usableFromInline var earliest: Int64

        @inlinable
        init() {
            capacity = 0
            count = 0
            earliest = .max
        }

        @inlinable
        var entries: UnsafeMutableBufferPointer<Entry> { UnsafeMutableBufferPointer(start: memory, count: Int(count)) }

        @inlinable
        @inline(__always)
        mutating func append(_ entry: Entry) {
            if count == capacity { grow() }
            earliest = count == 0 ? entry.at : min(earliest, entry.at)
            // Proof: there is room for one, as was just asked.
            (memory.unsafelyUnwrapped + Int(count)).initialize(to: entry)
            count += 1
        }

        /// Takes the last entry of a bucket that has one.
        @inlinable
        mutating func removeLast() -> Entry {
            count -= 1
            // Proof: it traps before this if there is none.
            return memory.unsafelyUnwrapped[Int(count)]
        }

        /// Puts the oldest burst last.
        @inlinable
        @inline(never)
        func sort() {
            var entries = entries
            entries.sort { $1.isOlder(than: $0) }
        }

        @inlinable
        @inline(never)
        mutating func grow() {
            capacity = max(capacity * 2, 2)
            let larger = UnsafeMutablePointer<Entry>.allocate(capacity: Int(capacity))
            if let memory {
                larger.moveInitialize(from: memory, count: Int(count))
                memory.deallocate()
            }
            memory = larger
        }

        /// Forgets the entries. A small bucket's memory is worth keeping for the next ones, a large one's is given back.
        @inlinable
        mutating func removeAll() {
            count = 0
            if capacity > 64 { giveBack() }
        }

        @inlinable
        @inline(never)
        mutating func giveBack() {
            memory?.deallocate()
            self = Bucket()
        }
    }

    /// Bucket 0 holds the entries at `last` itself; bucket `b` those whose highest differing bit is `b - 1`. Nil before
    /// the first entry.
    @usableFromInline var buckets: UnsafeMutablePointer<Bucket>?
    /// A bit for every bucket but the first that is not empty.
    @usableFromInline var occupied: UInt64
    /// Nothing earlier than this is ever added.
    @usableFromInline var last: Int64
    /// Whether bucket 0 is in the order in which it is popped: from its end.
    @usableFromInline var isFrontSorted: Bool
    /// The number of entries.
    @usableFromInline var count: Int

    /// The number of buckets.
    @inlinable
    static var width: Int { 65 }

    @inlinable
    init() {
        occupied = 0
        last = .min
        isFrontSorted = true
        count = 0
    }

    @inlinable
    deinit {
        guard let buckets else { return }
        for number in 0..<Self.width { buckets[number].memory?.deallocate() }
        buckets.deallocate()
    }

    /// The earliest instant there is.
    @inlinable
    var next: CoreInstant? {
        guard count > 0, let buckets else { return nil }
        if buckets[0].count > 0 { return CoreInstant(nanoseconds: last) }
        return CoreInstant(nanoseconds: buckets[occupied.trailingZeroBitCount + 1].earliest)
    }

    /// Adds an entry at `last` or later.
    @inlinable
    mutating func push(_ entry: Entry) {
        assert(entry.at >= last, "an entry was added before the last instant popped: time ran backwards")
        count += 1
        place(entry, in: buckets ?? makeBuckets())
    }

    @inlinable
    @inline(never)
    mutating func makeBuckets() -> UnsafeMutablePointer<Bucket> {
        let made = UnsafeMutablePointer<Bucket>.allocate(capacity: Self.width)
        made.initialize(repeating: Bucket(), count: Self.width)
        buckets = made
        return made
    }

    /// Puts an entry where it belongs seen from the last instant popped.
    @inlinable
    @inline(__always)
    mutating func place(_ entry: Entry, in buckets: UnsafeMutablePointer<Bucket>) {
        let number = 64 - (entry.at ^ last).leadingZeroBitCount
        if number == 0 { isFrontSorted = false } else { occupied |= 1 << UInt64(number - 1) }
        buckets[number].append(entry)
    }

    /// Takes the earliest entry, if it is not later than `now`; of several at one instant the one whose burst is
    /// oldest.
    @inlinable
    mutating func pop(notAfter now: CoreInstant) -> Entry? {
        guard let next, next <= now, let buckets else { return nil }
        count -= 1
        if buckets[0].count == 0 {
            let front = buckets + occupied.trailingZeroBitCount + 1
            occupied &= occupied &- 1
            last = next.nanoseconds
            // An only entry needs not be dealt out.
            if front.pointee.count == 1 { return front.pointee.removeLast() }
            deal(from: front, to: buckets)
        }
        if !isFrontSorted {
            if buckets[0].count > 1 { buckets[0].sort() }
            isFrontSorted = true
        }
        let entry = buckets[0].removeLast()
        if buckets[0].count == 0 { buckets[0].removeAll() }
        return entry
    }

    /// Moves the entries of a bucket to where they belong seen from its earliest instant, which is now the last one
    /// popped: all of them into lower ones.
    @inlinable
    mutating func deal(from front: UnsafeMutablePointer<Bucket>, to buckets: UnsafeMutablePointer<Bucket>) {
        for entry in front.pointee.entries { place(entry, in: buckets) }
        front.pointee.removeAll()
    }

    /// Drops all entries and gives their memory back.
    @inlinable
    mutating func removeAll() {
        let last = last
        self = Agenda()
        self.last = last
    }
}
