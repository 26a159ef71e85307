/// Finds the place of a key in a slab: open addressing with linear probing over eight bytes a place.
///
/// An entry holds 32 bits of the key's hash beside the place, so that other keys are hardly ever compared and growing
/// hashes nothing again. Removing shifts back what follows: no tombstones, and probes stay short under churn.
@frozen
@usableFromInline
struct KeyIndex {
    /// The upper half of an entry is the hash, the lower half the place plus one; zero is empty.
    @usableFromInline var entries: [UInt64]
    @usableFromInline var count: Int

    @inlinable
    init() {
        entries = []
        count = 0
    }

    /// 32 bits of a key's hash.
    @inlinable
    static func hash<Key: Hashable>(_ key: Key) -> UInt32 {
        UInt32(truncatingIfNeeded: key.hashValue)
    }

    /// The place that was stored under a hash and that `matches` confirms.
    @inlinable
    func find(_ hash: UInt32, matches: (UInt32) -> Bool) -> UInt32? {
        guard !entries.isEmpty else { return nil }
        let mask = entries.count - 1
        var position = Int(truncatingIfNeeded: hash) & mask
        while true {
            let entry = entries[position]
            if entry == 0 { return nil }
            if UInt32(truncatingIfNeeded: entry >> 32) == hash {
                let place = UInt32(truncatingIfNeeded: entry) &- 1
                if matches(place) { return place }
            }
            position = (position + 1) & mask
        }
    }

    /// Stores the place of a key that is not there yet.
    @inlinable
    mutating func insert(_ hash: UInt32, place: UInt32) {
        if (count + 1) * 5 > entries.count * 4 { resize(to: max(4, entries.count * 2)) }
        put(UInt64(hash) << 32 | UInt64(place + 1))
        count += 1
    }

    @inlinable
    mutating func put(_ entry: UInt64) {
        let mask = entries.count - 1
        var position = Int(truncatingIfNeeded: entry >> 32) & mask
        while entries[position] != 0 { position = (position + 1) & mask }
        entries[position] = entry
    }

    @inlinable
    mutating func resize(to capacity: Int) {
        let old = entries
        entries = Array(repeating: 0, count: capacity)
        for entry in old where entry != 0 { put(entry) }
    }

    /// Removes the entry of a place.
    @inlinable
    mutating func remove(_ hash: UInt32, place: UInt32) {
        let mask = entries.count - 1
        let wanted = UInt64(hash) << 32 | UInt64(place + 1)
        var hole = Int(truncatingIfNeeded: hash) & mask
        while entries[hole] != wanted {
            precondition(entries[hole] != 0, "a key that was open is not in the index: its hash has changed")
            hole = (hole + 1) & mask
        }
        var position = hole
        while true {
            position = (position + 1) & mask
            let entry = entries[position]
            if entry == 0 { break }
            // An entry may move into the hole unless its home lies between the hole and where it is.
            let home = Int(truncatingIfNeeded: entry >> 32) & mask
            if (position - home) & mask >= (position - hole) & mask {
                entries[hole] = entry
                hole = position
            }
        }
        entries[hole] = 0
        count -= 1
        if entries.count > 64, count * 8 < entries.count { resize(to: entries.count / 4) }
    }
}
