/// Finds the place of a key in a slab: open addressing with linear probing over four bytes a place.
///
/// An entry holds a place, and beside it as many bits of the key's hash as the places leave room for (15 with 100,000 keys), so
/// that other keys are hardly ever compared. Half the size of an entry with the whole hash: with 100,000 keys at random a
/// submit takes 0.86 times as long, since the index stays in the cache. What it costs is that the index cannot grow by
/// itself: who has the keys makes it anew.
@frozen
@usableFromInline
struct KeyIndex {
    /// The lower bits of an entry are the place plus one, the upper ones a part of the hash; zero is empty.
    @usableFromInline var entries: [UInt32]
    /// The bits that are the place plus one. Never all.
    @usableFromInline var placeMask: UInt32
    /// The number of entries that are not empty: keys, and what removed ones have left.
    @usableFromInline var used: Int

    /// An index without room for a key, and without memory.
    @inlinable
    init() {
        entries = []
        placeMask = 0
        used = 0
    }

    /// An empty index with room for some keys, and then for six tenths more at least, at places below a bound.
    @inlinable
    init(keys: Int, places: Int) {
        var capacity = 4
        while capacity < keys * 2 { capacity *= 2 }
        entries = Array(repeating: 0, count: capacity)
        placeMask = .max >> UInt32(max(places, capacity - 1)).leadingZeroBitCount
        used = 0
    }

    /// 32 bits of a key's hash.
    @inlinable
    static func hash<Key: Hashable>(_ key: Key) -> UInt32 {
        UInt32(truncatingIfNeeded: key.hashValue)
    }

    /// What a removed key leaves where a search has to go on.
    @inlinable
    var tombstone: UInt32 { ~placeMask }

    @inlinable
    func entry(_ hash: UInt32, _ place: UInt32) -> UInt32 { hash & ~placeMask | (place + 1) }

    /// The place that was stored under a hash and that `matches` confirms.
    @inlinable
    func find(_ hash: UInt32, matches: (UInt32) -> Bool) -> UInt32? {
        guard !entries.isEmpty else { return nil }
        let mask = entries.count - 1
        let wanted = hash & ~placeMask
        var position = Int(truncatingIfNeeded: hash) & mask
        while true {
            let entry = entries[position]
            if entry == 0 { return nil }
            // With the same part of the hash only the place is left. A tombstone has none, which becomes the greatest of all.
            let place = (entry ^ wanted) &- 1
            if place < placeMask, matches(place) { return place }
            position = (position + 1) & mask
        }
    }

    /// Whether one more key can be stored, at this place.
    @inlinable
    func hasRoom(for place: UInt32) -> Bool {
        (used + 1) * 5 <= entries.count * 4 && place < placeMask
    }

    /// Stores the place of a key that is not there yet and that there is room for.
    @inlinable
    mutating func insert(_ hash: UInt32, place: UInt32) {
        assert(hasRoom(for: place), "no room for place \(place)")
        let mask = entries.count - 1
        var position = Int(truncatingIfNeeded: hash) & mask
        while entries[position] != 0, entries[position] != tombstone { position = (position + 1) & mask }
        if entries[position] == 0 { used += 1 }
        entries[position] = entry(hash, place)
    }

    /// Removes the entry of a place.
    @inlinable
    mutating func remove(_ hash: UInt32, place: UInt32) {
        let mask = entries.count - 1
        let wanted = entry(hash, place)
        var position = Int(truncatingIfNeeded: hash) & mask
        while entries[position] != wanted {
            precondition(entries[position] != 0, "a key that was open is not in the index: its hash has changed")
            position = (position + 1) & mask
        }
        entries[position] = tombstone
        // A search that would end behind it may as well end here.
        guard entries[(position + 1) & mask] == 0 else { return }
        while entries[position] == tombstone {
            entries[position] = 0
            used -= 1
            position = (position - 1) & mask
        }
    }

    /// Whether an index made anew for so many keys would be much smaller.
    @inlinable
    func isTooLarge(for keys: Int) -> Bool {
        entries.count > 64 && keys * 8 < entries.count
    }
}
