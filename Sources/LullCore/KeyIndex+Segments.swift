// How an index of keys grows and shrinks: one segment at a time.
//
// Proof of every use of `segments` here: an index that has a key has a directory, and all of this is about keys.
extension KeyIndex {
    /// The number of entries of a segment before it is split.
    static let segmentCapacity = 512

    /// Two segments with this many keys or fewer are merged: about a fifth of the capacity, so that they are not split
    /// again soon. A greater bound would take time, since each key is moved; a smaller one, memory.
    static let mergeBound = 96

    /// The greatest depth of the directory, which is then a megabyte; enough for 18 million keys before segments grow instead.
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
