/// Finds the place of a key in a slab: extendible hashing, with open addressing over four bytes a place in each segment.
///
/// An entry holds a place, and beside it as many bits of the key's hash as the places leave room for (15 with 100,000 keys), so
/// that other keys are hardly ever compared. Half the size of an entry with the whole hash: with 100,000 keys at random a
/// submit takes 0.86 times as long, since the index stays in the cache. What it costs is that an entry does not say where it
/// wants to be: to move entries takes the keys.
///
/// So no call moves many. Keys lie in segments of up to 512 entries; a directory, indexed by other bits of the hash, says
/// which. A segment that is full is split in two, two that are nearly empty become one again, and the directory doubles and
/// halves with them. Only a segment whose keys have hashes that are too much alike grows beyond that. A small index
/// is one small segment.
@frozen
@usableFromInline
struct KeyIndex: ~Copyable {
    /// Where a segment is, and what a search in it needs to know.
    @frozen
    @usableFromInline
    struct Segment {
        /// The entries: the lower bits are the place plus one, the upper ones a part of the hash; zero is empty. Before them lies
        /// the segment's header.
        @usableFromInline let entries: UnsafeMutablePointer<UInt32>
        /// The number of entries less one.
        @usableFromInline let mask: UInt32
        /// The bits that are the place plus one. Never all.
        @usableFromInline var placeMask: UInt32

        /// An empty segment.
        @inlinable
        init(capacity: Int, depth: UInt32, places: UInt32) {
            let words = capacity + Self.headerWords
            let memory = UnsafeMutablePointer<UInt32>.allocate(capacity: words)
            memory.initialize(repeating: 0, count: words)
            entries = memory + Self.headerWords
            mask = UInt32(capacity - 1)
            placeMask = Self.mask(forPlaces: places)
            self.depth = depth
        }

        @inlinable
        static var headerWords: Int { 4 }

        /// The bits for places up to this number, and for some 60 at least.
        @inlinable
        static func mask(forPlaces places: UInt32) -> UInt32 { .max >> UInt32(max(places, 63).leadingZeroBitCount) }

        @inlinable
        func deallocate() { (entries - Self.headerWords).deallocate() }

        @inlinable
        var capacity: Int { Int(mask) + 1 }

        /// The number of keys.
        @inlinable
        var live: UInt32 {
            get { entries[-1] }
            nonmutating set { entries[-1] = newValue }
        }

        /// The number of entries that are not empty: keys, and what removed ones have left.
        @inlinable
        var used: UInt32 {
            get { entries[-2] }
            nonmutating set { entries[-2] = newValue }
        }

        /// How many bits of the number in the directory are the same for all keys of the segment.
        @inlinable
        var depth: UInt32 {
            get { entries[-3] }
            nonmutating set { entries[-3] = newValue }
        }

        /// What a removed key leaves where a search has to go on.
        @inlinable
        var tombstone: UInt32 { ~placeMask }

        /// Whether four fifths of the entries are in use.
        @inlinable
        var isFull: Bool { (Int(used) + 1) * 5 > capacity * 4 }

        /// Stores a place where a search for its hash will find it.
        @inlinable
        func store(_ hash: UInt, _ place: UInt32) {
            let hash = UInt32(truncatingIfNeeded: hash)
            var position = hash & mask
            while entries[Int(position)] != 0, entries[Int(position)] != tombstone { position = (position + 1) & mask }
            if entries[Int(position)] == 0 { used += 1 }
            entries[Int(position)] = hash & ~placeMask | (place + 1)
            live += 1
        }
    }

    /// The segments, each of them once for every number that ends in its bits. Nil before the first key.
    @usableFromInline var directory: UnsafeMutablePointer<Segment>?
    /// How many bits of the hash the directory is chosen from by.
    @usableFromInline var depth: UInt32
    /// The number of segments of each depth, once there are two of them.
    @usableFromInline var levels: UnsafeMutablePointer<UInt32>?

    /// An index without keys, and without memory.
    @inlinable
    init() {
        depth = 0
    }

    @inlinable
    deinit {
        guard let directory else { return }
        // From the end on: a segment goes with its lowest number, when it has been asked for its depth for the last time.
        for number in (0..<directoryCount).reversed() where number & ~(-1 << Int(directory[number].depth)) == number {
            directory[number].deallocate()
        }
        directory.deallocate()
        levels?.deallocate()
    }

    @inlinable
    @inline(__always)
    static func hash<Key: Hashable>(_ key: Key) -> UInt {
        UInt(bitPattern: key.hashValue)
    }

    /// The number of entries in the directory, if there is one.
    @inlinable
    var directoryCount: Int { 1 << Int(depth) }

    /// The bits of a hash that choose from the directory: the upper half's. With an `Int` of 32 bits an entry of a segment has
    /// them as well, which tells fewer keys apart and does no harm.
    @inlinable
    static func bits(_ hash: UInt) -> Int { Int(truncatingIfNeeded: hash >> UInt(UInt.bitWidth / 2)) }

    @inlinable
    func number(_ hash: UInt) -> Int { Self.bits(hash) & ~(-1 &<< Int(depth)) }

    /// The place that was stored under a hash and that `matches` confirms.
    @inlinable
    func find(_ hash: UInt, matches: (UInt32) -> Bool) -> UInt32? {
        guard let directory else { return nil }
        let segment = directory[number(hash)]
        let hash = UInt32(truncatingIfNeeded: hash)
        let wanted = hash & ~segment.placeMask
        var position = hash & segment.mask
        while true {
            let entry = segment.entries[Int(position)]
            if entry == 0 { return nil }
            // With the same part of the hash only the place is left. A tombstone has none, which becomes the greatest of all.
            let place = (entry ^ wanted) &- 1
            if place < segment.placeMask, matches(place) { return place }
            position = (position + 1) & segment.mask
        }
    }

    /// Stores the place of a key that is not there yet, unless there is no room: ``makeRoom(for:place:hashOf:)`` makes it.
    @inlinable
    mutating func insert(_ hash: UInt, place: UInt32) -> Bool {
        guard let directory else { return false }
        let segment = directory[number(hash)]
        guard !segment.isFull, place < segment.placeMask else { return false }
        segment.store(hash, place)
        return true
    }

    /// Removes the entry of a place.
    ///
    /// - Returns: Whether ``giveBack(near:hashOf:)`` finds memory to give back.
    @inlinable
    mutating func remove(_ hash: UInt, place: UInt32) -> Bool {
        guard let directory else { preconditionFailure("a key that was open is not in the index") }
        let number = number(hash)
        let segment = directory[number]
        let hash = UInt32(truncatingIfNeeded: hash)
        let wanted = hash & ~segment.placeMask | (place + 1)
        let (entries, mask) = (segment.entries, segment.mask)
        var position = hash & mask
        while entries[Int(position)] != wanted {
            precondition(entries[Int(position)] != 0, "a key that was open is not in the index: its hash has changed")
            position = (position + 1) & mask
        }
        entries[Int(position)] = segment.tombstone
        segment.live -= 1
        // A search that would end behind it may as well end here.
        if entries[Int((position + 1) & mask)] == 0 {
            while entries[Int(position)] == segment.tombstone {
                entries[Int(position)] = 0
                segment.used -= 1
                position = (position &- 1) & mask
            }
        }
        return segment.live <= UInt32(Self.mergeBound) && (depth > 0 || segment.capacity > 64) && isSparse(number)
    }
}
