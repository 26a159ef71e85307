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
struct Agenda {
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

    /// Bucket 0 holds the entries at `last` itself; bucket `b` those whose highest differing bit is `b - 1`.
    @usableFromInline var buckets: [[Entry]]
    /// The earliest instant in each bucket that is not empty.
    @usableFromInline var earliest: [Int64]
    /// A bit for every bucket but the first that is not empty.
    @usableFromInline var occupied: UInt64
    /// Nothing earlier than this is ever added.
    @usableFromInline var last: Int64
    /// Whether bucket 0 is in the order in which it is popped: from its end.
    @usableFromInline var isFrontSorted: Bool
    /// The number of entries.
    @usableFromInline var count: Int

    @inlinable
    init() {
        buckets = []
        earliest = []
        occupied = 0
        last = .min
        isFrontSorted = true
        count = 0
    }

    /// The earliest instant there is.
    @inlinable
    var next: CoreInstant? {
        guard count > 0 else { return nil }
        if !buckets[0].isEmpty { return CoreInstant(nanoseconds: last) }
        return CoreInstant(nanoseconds: earliest[occupied.trailingZeroBitCount + 1])
    }

    /// Adds an entry at `last` or later.
    @inlinable
    mutating func push(_ entry: Entry) {
        assert(entry.at >= last, "an entry was added before the last instant popped: time ran backwards")
        if buckets.isEmpty {
            buckets = Array(repeating: [], count: 65)
            earliest = Array(repeating: .max, count: 65)
        }
        count += 1
        place(CollectionOfOne(entry))
    }

    /// Puts entries where they belong seen from the last instant popped.
    ///
    /// Whether the arrays are shared is asked once, not with each of them: that took a twentieth of an execution.
    @inlinable
    @inline(__always)
    mutating func place(_ entries: some Sequence<Entry>) {
        var (occupied, isFrontSorted) = (occupied, isFrontSorted)
        buckets.withUnsafeMutableBufferPointer { buckets in
            earliest.withUnsafeMutableBufferPointer { earliest in
                for entry in entries {
                    let bucket = 64 - (entry.at ^ last).leadingZeroBitCount
                    if bucket == 0 {
                        isFrontSorted = false
                    } else {
                        let bit: UInt64 = 1 << UInt64(bucket - 1)
                        earliest[bucket] = occupied & bit == 0 ? entry.at : min(earliest[bucket], entry.at)
                        occupied |= bit
                    }
                    buckets[bucket].append(entry)
                }
            }
        }
        (self.occupied, self.isFrontSorted) = (occupied, isFrontSorted)
    }

    /// Takes the earliest entry, if it is not later than `now`; of several at one instant the one whose burst is
    /// oldest.
    @inlinable
    mutating func pop(notAfter now: CoreInstant) -> Entry? {
        guard let next, next <= now else { return nil }
        if buckets[0].isEmpty {
            let bucket = occupied.trailingZeroBitCount + 1
            if buckets[bucket].count == 1 { return popOnly(of: bucket) }
            deal(from: bucket)
        }
        if !isFrontSorted {
            if buckets[0].count > 1 { buckets[0].sort { $1.isOlder(than: $0) } }
            isFrontSorted = true
        }
        count -= 1
        let entry = buckets[0].removeLast()
        if buckets[0].isEmpty, buckets[0].capacity > 64 { buckets[0] = [] }
        return entry
    }

    /// Takes the only entry of the front bucket, which needs not be dealt out.
    @inlinable
    mutating func popOnly(of bucket: Int) -> Entry {
        last = earliest[bucket]
        occupied &= ~(1 << UInt64(bucket - 1))
        count -= 1
        return buckets[bucket].removeLast()
    }

    /// Moves the entries of the front bucket to where they belong seen from its earliest instant.
    @inlinable
    mutating func deal(from bucket: Int) {
        last = earliest[bucket]
        occupied &= ~(1 << UInt64(bucket - 1))
        var entries: [Entry] = []
        swap(&entries, &buckets[bucket])
        place(entries)
        // A small bucket's memory is worth keeping for the next entries, a large one's is given back.
        if entries.count <= 64 {
            entries.removeAll(keepingCapacity: true)
            buckets[bucket] = entries
        }
    }

    /// Drops all entries and gives their memory back.
    @inlinable
    mutating func removeAll() {
        buckets = []
        occupied = 0
        isFrontSorted = true
        count = 0
    }
}
