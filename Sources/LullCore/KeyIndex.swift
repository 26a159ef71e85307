/// Finds the slot of a key: extendible hashing, with open addressing in each segment and four bytes an entry.
///
/// An entry holds a slot index, and beside it as many bits of the key's hash as the index leaves room for (15 with 100,000
/// keys), so that other keys are hardly ever compared. It is half the size of an entry with the whole hash: the index of
/// 100,000 keys stays in the cache, and a submit at random takes 0.86 times as long. In return an entry does not say where
/// it belongs: moving entries takes the hashes that the slots keep.
///
/// Thus no call moves many. Keys lie in segments of up to 512 entries; a directory, indexed by other bits of the hash, says
/// which. A full segment is split in two, two that are nearly empty are merged, and the directory doubles and halves with
/// them. Only a segment whose keys have hashes that are too much alike grows beyond that. A small index is one small
/// segment.
///
/// The segments are unsafe memory, and ``find(_:matches:)`` is inlined, for the sake of the rows `keyed` and `growth`.
@usableFromInline
package struct KeyIndex: ~Copyable {
    /// A handle on the memory of a segment, with what a search in it needs to know.
    @usableFromInline
    struct Segment {
        /// The entries: the lower bits are the slot index plus one, the upper ones a part of the hash; zero is empty. The
        /// segment's header lies before them.
        @usableFromInline let entries: UnsafeMutablePointer<UInt32>
        /// The number of entries less one.
        @usableFromInline let mask: UInt32
        /// The bits that are the slot index plus one. Never all.
        @usableFromInline var slotMask: UInt32

        /// Allocates an empty segment.
        ///
        /// - Parameter slots: The number of slots that its entries have bits for.
        init(capacity: Int, depth: UInt32, slots: UInt32) {
            let words = capacity + Self.headerWords
            let memory = UnsafeMutablePointer<UInt32>.allocate(capacity: words)
            memory.initialize(repeating: 0, count: words)
            entries = memory + Self.headerWords
            mask = UInt32(capacity - 1)
            slotMask = Self.mask(forSlots: slots)
            self.depth = depth
        }

        static let headerWords = 4

        /// The bits for this number of slots, and for some 60 at least.
        static func mask(forSlots slots: UInt32) -> UInt32 { .max >> UInt32(max(slots, 63).leadingZeroBitCount) }

        func deallocate() { (entries - Self.headerWords).deallocate() }

        var capacity: Int { Int(mask) + 1 }

        /// The number of keys.
        var keyCount: UInt32 {
            get { entries[-1] }
            nonmutating set { entries[-1] = newValue }
        }

        /// The number of entries that are not empty: keys and tombstones.
        var usedCount: UInt32 {
            get { entries[-2] }
            nonmutating set { entries[-2] = newValue }
        }

        /// How many bits of the number in the directory are the same for all keys of the segment.
        var depth: UInt32 {
            get { entries[-3] }
            nonmutating set { entries[-3] = newValue }
        }

        /// Marks the place of a removed key, where a search has to go on.
        var tombstone: UInt32 { ~slotMask }

        /// Whether four fifths of the entries are in use.
        var isFull: Bool { (Int(usedCount) + 1) * 5 > capacity * 4 }

        /// Stores a slot where a search for its hash finds it.
        func store(_ hash: UInt, _ slot: UInt32) {
            let hash = UInt32(truncatingIfNeeded: hash)
            var position = hash & mask
            while entries[Int(position)] != 0, entries[Int(position)] != tombstone { position = (position + 1) & mask }
            if entries[Int(position)] == 0 { usedCount += 1 }
            entries[Int(position)] = hash & ~slotMask | (slot + 1)
            keyCount += 1
        }

        /// Calls `body` with every slot.
        func forEach(_ body: (UInt32) -> Void) {
            for position in 0..<capacity {
                let slot = entries[position] & slotMask
                if slot != 0 { body(slot - 1) }
            }
        }

        /// The greatest slot index plus one; zero for none.
        var slotBound: UInt32 {
            var bound: UInt32 = 0
            for position in 0..<capacity { bound = max(bound, entries[position] & slotMask) }
            return bound
        }
    }

    /// The segments, each of them once for every number that ends in its bits. Nil before the first key.
    @usableFromInline var directory: UnsafeMutablePointer<Segment>?
    /// How many bits of a hash choose from the directory.
    @usableFromInline var depth: UInt32 = 0
    /// The number of segments of each depth, once there are two of them.
    var levels: UnsafeMutablePointer<UInt32>?

    /// Creates an index without keys and without memory.
    init() {}

    deinit {
        guard let directory else { return }
        // From the end: a segment is deallocated with its lowest number, when its depth has been read for the last time.
        for number in (0..<directoryCount).reversed() where number & ~(-1 << Int(directory[number].depth)) == number {
            directory[number].deallocate()
        }
        directory.deallocate()
        levels?.deallocate()
    }

    @inlinable
    @inline(__always)
    package static func hash<Key: Hashable>(_ key: Key) -> UInt {
        UInt(bitPattern: key.hashValue)
    }

    /// Stops the program unless the hash of a key is still the one under which it was stored.
    package static func check(_ isSame: Bool) {
        // Only this prints its message in an optimised build.
        if !isSame { fatalError("Lull: a key's hash has changed while it was in use") }
    }

    /// The directory, where the caller knows that there is one.
    var segments: UnsafeMutablePointer<Segment> { directory.unsafelyUnwrapped }

    /// The number of entries in the directory, if there is one.
    var directoryCount: Int { 1 << Int(depth) }

    /// The bits of a hash that choose from the directory: the upper half. With an `Int` of 32 bits an entry of a segment
    /// has them as well, which tells fewer keys apart and does no harm.
    static func bits(_ hash: UInt) -> Int { Int(truncatingIfNeeded: hash >> UInt(UInt.bitWidth / 2)) }

    /// The number of a hash in the directory.
    @inlinable
    func number(_ hash: UInt) -> Int { Int(truncatingIfNeeded: hash >> UInt(UInt.bitWidth / 2)) & ~(-1 &<< Int(depth)) }

    /// Returns the slot that was stored under a hash and that `matches` confirms.
    @inlinable
    package func find(_ hash: UInt, matches: (UInt32) -> Bool) -> UInt32? {
        guard let directory else { return nil }
        let segment = directory[number(hash)]
        let hash = UInt32(truncatingIfNeeded: hash)
        let wanted = hash & ~segment.slotMask
        var position = hash & segment.mask
        while true {
            let entry = segment.entries[Int(position)]
            if entry == 0 { return nil }
            // With the same part of the hash only the slot is left. A tombstone has none, which wraps around to the greatest.
            let slot = (entry ^ wanted) &- 1
            if slot < segment.slotMask, matches(slot) { return slot }
            position = (position + 1) & segment.mask
        }
    }

    /// Stores the slot of a key that is not there yet.
    ///
    /// - Parameter hashOf: Returns the hash of the key of a slot. Making room moves the keys of one full segment at most:
    ///   410, if no more than a few hashes are alike.
    mutating func insert(_ hash: UInt, slot: UInt32, hashOf: (UInt32) -> UInt) {
        if !hasRoom(for: hash, slot: slot) {
            makeRoom(for: hash, slot: slot, hashOf: hashOf)
            precondition(hasRoom(for: hash, slot: slot), "the index has no room for a key: this is a bug in LullCore")
        }
        segments[number(hash)].store(hash, slot)
    }

    private func hasRoom(for hash: UInt, slot: UInt32) -> Bool {
        guard let directory else { return false }
        let segment = directory[number(hash)]
        return !segment.isFull && slot < segment.slotMask
    }

    /// Removes the entry of a slot. Where that leaves few keys, memory is given back.
    ///
    /// - Parameter hashOf: Returns the hash of the key of a slot. Giving memory back moves 96 keys at most.
    mutating func remove(_ hash: UInt, slot: UInt32, hashOf: (UInt32) -> UInt) {
        guard directory != nil else { preconditionFailure("a key that was open is not in the index") }
        let number = number(hash)
        removeEntry(hash, slot, from: segments[number])
        let segment = segments[number]
        if segment.keyCount <= UInt32(Self.mergeBound), depth > 0 || segment.capacity > 64, isSparse(number) {
            giveBack(near: hash, hashOf: hashOf)
        }
    }

    private func removeEntry(_ hash: UInt, _ slot: UInt32, from segment: Segment) {
        let hash = UInt32(truncatingIfNeeded: hash)
        let wanted = hash & ~segment.slotMask | (slot + 1)
        let (entries, mask) = (segment.entries, segment.mask)
        var position = hash & mask
        while entries[Int(position)] != wanted {
            precondition(entries[Int(position)] != 0, "a key is not in the index: this is a bug in LullCore")
            position = (position + 1) & mask
        }
        entries[Int(position)] = segment.tombstone
        segment.keyCount -= 1
        // A search that would end behind it may as well end here.
        if entries[Int((position + 1) & mask)] == 0 {
            while entries[Int(position)] == segment.tombstone {
                entries[Int(position)] = 0
                segment.usedCount -= 1
                position = (position &- 1) & mask
            }
        }
    }
}
