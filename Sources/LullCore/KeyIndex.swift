/// Finds the slot of a key: extendible hashing, with open addressing in each segment and four bytes an entry.
///
/// An entry holds a slot index, and beside it as many bits of the key's hash as the index leaves room for (15 with
/// 100,000 keys), so that other keys are hardly ever compared. It is half the size of an entry with the whole hash: the
/// index of 100,000 keys stays in the cache, and a submit at random takes 0.86 times as long. In return an entry does
/// not say where it belongs: moving entries takes the hashes that the slots keep.
///
/// Thus no call moves many. Keys lie in segments of up to 512 entries; a directory, indexed by other bits of the hash,
/// says which. A full segment is split in two, two that are nearly empty are merged, and the directory doubles and
/// halves with them. Only a segment whose keys have hashes that are too much alike grows beyond that. A small index is
/// one small segment.
///
/// - Complexity: O(1) expected to find, insert or remove a key; at most 410 keys are moved by one call.
///
/// The segments are unsafe memory, for the sake of the rows `keyed` and `growth`.
package struct KeyIndex: ~Copyable {
    /// A handle on the memory of a segment, with what a search in it needs to know.
    struct Segment {
        /// The entries: the lower bits are the slot index plus one, the upper ones a part of the hash; zero is empty.
        /// The segment's header lies before them.
        let entries: UnsafeMutablePointer<UInt32>
        /// The number of entries less one.
        let mask: UInt32
        /// The bits that are the slot index plus one. Never all.
        var slotMask: UInt32

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
    var directory: UnsafeMutablePointer<Segment>?
    /// How many bits of a hash choose from the directory.
    var depth: UInt32 = 0
    /// The number of segments of each depth, once there are two of them.
    var levels: UnsafeMutablePointer<UInt32>?

    /// Creates an index without keys and without memory.
    init() {}

    deinit {
        guard let directory else { return }
        // From the end: a segment is deallocated with its lowest number, when its depth has been read for the last
        // time.
        for number in (0..<directoryCount).reversed() where number & ~(-1 << Int(directory[number].depth)) == number {
            directory[number].deallocate()
        }
        directory.deallocate()
        levels?.deallocate()
    }

    package static func hash(_ key: some Hashable) -> UInt { UInt(bitPattern: key.hashValue) }

    /// Stops the program unless the hash of a key is still the one under which it was stored.
    package static func check(_ isSame: Bool) {
        // Only this prints its message in an optimised build.
        if !isSame { fatalError("Lull: a key's hash has changed while it was in use") }
    }

    /// The directory, where the caller knows that there is one.
    var segments: UnsafeMutablePointer<Segment> { directory.unsafelyUnwrapped }

    /// The number of entries in the directory, if there is one.
    var directoryCount: Int { 1 << Int(depth) }

    /// The bits of a hash that choose from the directory: the upper half. With an `Int` of 32 bits an entry of a
    /// segment has them as well, which tells fewer keys apart and does no harm.
    static func bits(_ hash: UInt) -> Int { Int(truncatingIfNeeded: hash >> UInt(UInt.bitWidth / 2)) }

    /// The number of a hash in the directory.
    func number(_ hash: UInt) -> Int { Int(truncatingIfNeeded: hash >> UInt(UInt.bitWidth / 2)) & ~(-1 &<< Int(depth)) }

    /// Returns the next slot that was stored under a hash, or under one with the same bits in its entry; `UInt32.max`
    /// after the last.
    ///
    /// - Parameter position: How far the search has come: zero at the beginning.
    package func next(_ hash: UInt, from position: inout UInt32) -> UInt32 {
        guard let directory else { return .max }
        let segment = directory[number(hash)]
        let hash = UInt32(truncatingIfNeeded: hash)
        let wanted = hash & ~segment.slotMask
        while true {
            let entry = segment.entries[Int((hash &+ position) & segment.mask)]
            if entry == 0 { return .max }
            position += 1
            // With the same part of the hash only the slot is left. A tombstone has none, which wraps around to the
            // greatest.
            let slot = (entry ^ wanted) &- 1
            if slot < segment.slotMask { return slot }
        }
    }

    /// Stores the slot of a key that is not there yet.
    ///
    /// - Parameter hashOf: Returns the hash of the key of a slot. Making room moves the keys of one full segment at
    ///   most: 410, if no more than a few hashes are alike.
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

// How an index of keys grows and shrinks: one segment at a time.
//
// Proof of every use of `segments` here: an index that has a key has a directory, and all of this is about keys.
extension KeyIndex {
    /// The number of entries of a segment before it is split.
    static let segmentCapacity = 512

    /// Two segments with this many keys or fewer are merged: about a fifth of the capacity, so that they are not split
    /// again soon. A greater bound would take time, since each key is moved; a smaller one, memory.
    static let mergeBound = 96

    /// The greatest depth of the directory, which is then a megabyte; enough for 18 million keys before segments grow
    /// instead.
    static let maxDepth: UInt32 = 16

    /// Makes room for a key.
    @inline(never)
    mutating func makeRoom(for hash: UInt, slot: UInt32, hashOf: (UInt32) -> UInt) {
        guard directory != nil else { return makeFirstSegment(slot) }
        if segments[number(hash)].isFull { relieve(number(hash), hashOf) }
        // The hash may belong to another segment now.
        let number = number(hash)
        if slot >= segments[number].slotMask { widen(number, slot) }
    }

    private mutating func makeFirstSegment(_ slot: UInt32) {
        let made = UnsafeMutablePointer<Segment>.allocate(capacity: 1)
        made.initialize(to: Segment(capacity: 4, depth: 0, slots: slot + 1))
        directory = made
    }

    /// Makes room in a full segment.
    private mutating func relieve(_ number: Int, _ hashOf: (UInt32) -> UInt) {
        let segment = segments[number]
        if Int(segment.keyCount) * 2 <= segment.capacity {
            rehash(number, capacity: segment.capacity, hashOf)
        } else if segment.capacity < Self.segmentCapacity {
            rehash(number, capacity: segment.capacity * 2, hashOf)
        } else {
            split(number, hashOf)
        }
    }

    /// Moves the keys of a segment to a new one.
    private mutating func rehash(_ number: Int, capacity: Int, _ hashOf: (UInt32) -> UInt) {
        let old = segments[number]
        let made = Segment(capacity: capacity, depth: old.depth, slots: old.slotBound)
        old.forEach { made.store(hashOf($0), $0) }
        replace(number, by: made)
        old.deallocate()
    }

    /// Gives the entries of a segment the bits that a greater slot index needs. They keep fewer bits of the hashes.
    private mutating func widen(_ number: Int, _ slot: UInt32) {
        var segment = segments[number]
        let (old, new) = (segment.slotMask, Segment.mask(forSlots: slot + 1))
        for position in 0..<segment.capacity {
            let entry = segment.entries[position]
            segment.entries[position] = entry & ~new | entry & old
        }
        segment.slotMask = new
        replace(number, by: segment)
    }

    /// Replaces a segment everywhere in the directory.
    private mutating func replace(_ number: Int, by segment: Segment) {
        let step = 1 << Int(segment.depth)
        for other in stride(from: number & (step - 1), to: directoryCount, by: step) { segments[other] = segment }
    }

    // MARK: - Splitting

    /// Divides the keys of a full segment between two by one more bit of their hashes. If that would leave one of them
    /// nearly as full, since the hashes are much alike, the segment grows.
    private mutating func split(_ number: Int, _ hashOf: (UInt32) -> UInt) {
        let old = segments[number]
        let bit = 1 << Int(old.depth)
        var keys: [(hash: UInt, slot: UInt32)] = []
        keys.reserveCapacity(Int(old.keyCount))
        old.forEach { keys.append((hashOf($0), $0)) }
        let high = keys.count { Self.bits($0.hash) & bit != 0 }
        let larger = max(high, keys.count - high)
        let slots = old.slotBound
        guard larger * 8 <= keys.count * 7, old.depth < depth || canDeepen else {
            let made = Segment(capacity: old.capacity * 2, depth: old.depth, slots: slots)
            for key in keys { made.store(key.hash, key.slot) }
            replace(number, by: made)
            return old.deallocate()
        }
        if old.depth == depth { deepen() }
        let capacity = larger * 4 <= old.capacity ? max(old.capacity / 2, Self.segmentCapacity) : old.capacity
        let made = (
            Segment(capacity: capacity, depth: old.depth + 1, slots: slots),
            Segment(capacity: capacity, depth: old.depth + 1, slots: slots)
        )
        for key in keys { (Self.bits(key.hash) & bit == 0 ? made.0 : made.1).store(key.hash, key.slot) }
        replace(number & (bit - 1), by: made.0)
        replace(number & (bit - 1) | bit, by: made.1)
        // Proof: the directory is deep enough for two segments.
        let levels = levels.unsafelyUnwrapped
        levels[Int(old.depth)] -= 1
        levels[Int(old.depth) + 1] += 2
        old.deallocate()
    }

    /// Whether the directory may double: not beyond a limit, and not for the sake of few segments.
    private var canDeepen: Bool {
        guard depth < Self.maxDepth else { return false }
        guard depth >= 4, let levels else { return true }
        var segments = 0
        for level in 0...Int(depth) { segments += Int(levels[level]) }
        return directoryCount <= segments * 8
    }

    /// Doubles the directory: every segment is in it twice as often.
    private mutating func deepen() {
        if levels == nil {
            let made = UnsafeMutablePointer<UInt32>.allocate(capacity: Int(Self.maxDepth) + 1)
            made.initialize(repeating: 0, count: Int(Self.maxDepth) + 1)
            made[0] = 1
            levels = made
        }
        moveDirectory(depth: depth + 1)
    }

    private mutating func moveDirectory(depth new: UInt32) {
        let old = segments
        let made = UnsafeMutablePointer<Segment>.allocate(capacity: 1 << Int(new))
        made.initialize(from: old, count: min(1 << Int(new), directoryCount))
        if new > depth { (made + directoryCount).initialize(from: old, count: directoryCount) }
        old.deallocate()
        directory = made
        depth = new
    }

    // MARK: - Merging

    /// The number of the segment that has been, or would be, split from this one; nil for an only one.
    private func sibling(of number: Int) -> Int? {
        let depth = segments[number].depth
        return depth == 0 ? nil : number ^ 1 << Int(depth - 1)
    }

    /// Whether a segment with few keys could do with less memory.
    func isSparse(_ number: Int) -> Bool {
        let segment = segments[number]
        let smallest = segment.depth == 0 ? 64 : Self.segmentCapacity
        if segment.capacity > smallest, Int(segment.keyCount) * 8 < segment.capacity { return true }
        guard let sibling = sibling(of: number).map({ segments[$0] }) else { return false }
        return sibling.depth == segment.depth && Int(segment.keyCount) + Int(sibling.keyCount) <= Self.mergeBound
    }

    /// Gives back memory where a key has been removed and its segment is sparse.
    @inline(never)
    mutating func giveBack(near hash: UInt, hashOf: (UInt32) -> UInt) {
        var hashed = 0
        // Repeats only while next to nothing has to be moved: an empty index must not keep many segments.
        while hashed <= Self.mergeBound, isSparse(number(hash)) {
            let number = number(hash)
            let segment = segments[number]
            hashed += Int(segment.keyCount)
            if let sibling = sibling(of: number), segment.capacity <= Self.segmentCapacity {
                hashed += Int(segments[sibling].keyCount)
                merge(number, sibling, hashOf)
            } else {
                var capacity = segment.depth == 0 ? 4 : Self.segmentCapacity
                while capacity < Int(segment.keyCount) * 2 { capacity *= 2 }
                rehash(number, capacity: capacity, hashOf)
            }
        }
    }

    private mutating func merge(_ number: Int, _ other: Int, _ hashOf: (UInt32) -> UInt) {
        let (one, two) = (segments[number], segments[other])
        let made = Segment(
            capacity: Self.segmentCapacity, depth: one.depth - 1, slots: max(one.slotBound, two.slotBound))
        one.forEach { made.store(hashOf($0), $0) }
        two.forEach { made.store(hashOf($0), $0) }
        replace(number, by: made)
        // Proof: there are levels when there are two segments.
        let levels = levels.unsafelyUnwrapped
        levels[Int(one.depth)] -= 2
        levels[Int(made.depth)] += 1
        one.deallocate()
        two.deallocate()
        guard depth > 0, levels[Int(depth)] == 0 else { return }
        moveDirectory(depth: depth - 1)
        if depth == 0 {
            levels.deallocate()
            self.levels = nil
        }
    }
}
