// How an index of keys grows and shrinks: a segment at a time. To move keys takes their hashes, which `hashOf` tells by their
// places; a call asks for those of one full segment at most, 410 if no more than a few hashes are alike.
extension KeyIndex {
    /// The number of entries of a segment before it is split.
    @inlinable
    static var segmentCapacity: Int { 512 }

    /// Two segments with so many keys or fewer become one: about a fifth of what it has room for, so that it is not split soon.
    /// Each key is hashed again then, so more would take time, and fewer memory.
    @inlinable
    static var mergeBound: Int { 96 }

    /// The greatest depth of the directory, which is then a megabyte; enough for 18 million keys before segments grow instead.
    @inlinable
    static var deepest: UInt32 { 16 }

    /// Makes room for a key at a place, after ``insert(_:place:)`` has found none.
    @inlinable
    @inline(never)
    mutating func makeRoom(for hash: UInt, place: UInt32, hashOf: (UInt32) -> UInt) {
        guard let directory else { return makeFirstSegment(place) }
        let number = number(hash)
        if directory[number].isFull { relieve(number, hashOf) }
        let found = self.number(hash)
        // Proof: an index that had a directory has one now.
        if place >= self.directory.unsafelyUnwrapped[found].placeMask { widen(found, place) }
    }

    @inlinable
    mutating func makeFirstSegment(_ place: UInt32) {
        let made = UnsafeMutablePointer<Segment>.allocate(capacity: 1)
        made.initialize(to: Segment(capacity: 4, depth: 0, places: place + 1))
        directory = made
    }

    /// Makes room in a full segment.
    @inlinable
    mutating func relieve(_ number: Int, _ hashOf: (UInt32) -> UInt) {
        // Proof: the caller has made sure of it.
        let segment = directory.unsafelyUnwrapped[number]
        if Int(segment.live) * 2 <= segment.capacity {
            remake(number, capacity: segment.capacity, hashOf)
        } else if segment.capacity < Self.segmentCapacity {
            remake(number, capacity: segment.capacity * 2, hashOf)
        } else {
            split(number, hashOf)
        }
    }

    /// Moves the keys of a segment to a new one.
    @inlinable
    mutating func remake(_ number: Int, capacity: Int, _ hashOf: (UInt32) -> UInt) {
        // Proof: the caller has made sure of it.
        let old = directory.unsafelyUnwrapped[number]
        let made = Segment(capacity: capacity, depth: old.depth, places: old.greatestPlace)
        old.forEach { made.store(hashOf($0), $0) }
        replace(number, by: made)
        old.deallocate()
    }

    /// Gives the bits of the entries of a segment to a greater place. To what is known of the hashes nothing is added.
    @inlinable
    mutating func widen(_ number: Int, _ place: UInt32) {
        // Proof: the caller has made sure of it.
        var segment = directory.unsafelyUnwrapped[number]
        let (old, new) = (segment.placeMask, Segment.mask(forPlaces: place + 1))
        for position in 0..<segment.capacity {
            let entry = segment.entries[position]
            segment.entries[position] = entry & ~new | entry & old
        }
        segment.placeMask = new
        replace(number, by: segment)
    }

    /// Lets the directory have a segment wherever it had the one with this number.
    @inlinable
    mutating func replace(_ number: Int, by segment: Segment) {
        // Proof: the caller has made sure of it.
        let directory = directory.unsafelyUnwrapped
        let step = 1 << Int(segment.depth)
        for place in stride(from: number & (step - 1), to: directoryCount, by: step) { directory[place] = segment }
    }

    // MARK: - Splitting

    /// Deals the keys of a full segment out to two by one more bit of their hashes; if that would leave one of them nearly as
    /// full, since the hashes are much alike, the segment grows.
    @inlinable
    mutating func split(_ number: Int, _ hashOf: (UInt32) -> UInt) {
        // Proof: the caller has made sure of it.
        let old = directory.unsafelyUnwrapped[number]
        let bit = 1 << Int(old.depth)
        let count = Int(old.live)
        let keys = UnsafeMutablePointer<(hash: UInt, place: UInt32)>.allocate(capacity: count)
        defer { keys.deallocate() }
        var (found, high) = (0, 0)
        old.forEach { place in
            let hash = hashOf(place)
            (keys + found).initialize(to: (hash, place))
            found += 1
            if Self.bits(hash) & bit != 0 { high += 1 }
        }
        let larger = max(high, count - high)
        guard larger * 8 <= count * 7, old.depth < depth || canDeepen else {
            let made = Segment(capacity: old.capacity * 2, depth: old.depth, places: old.greatestPlace)
            for key in 0..<count { made.store(keys[key].hash, keys[key].place) }
            replace(number, by: made)
            return old.deallocate()
        }
        if old.depth == depth { deepen() }
        let capacity = larger * 4 <= old.capacity ? max(old.capacity / 2, Self.segmentCapacity) : old.capacity
        let places = old.greatestPlace
        let made = (
            Segment(capacity: capacity, depth: old.depth + 1, places: places),
            Segment(capacity: capacity, depth: old.depth + 1, places: places)
        )
        for key in 0..<count {
            (Self.bits(keys[key].hash) & bit == 0 ? made.0 : made.1).store(keys[key].hash, keys[key].place)
        }
        replace(number & (bit - 1), by: made.0)
        replace(number & (bit - 1) | bit, by: made.1)
        // Proof: the directory is deep enough for two segments.
        let levels = levels.unsafelyUnwrapped
        levels[Int(old.depth)] -= 1
        levels[Int(old.depth) + 1] += 2
        old.deallocate()
    }

    /// Whether the directory may double: not beyond a limit, and not for the sake of few segments.
    @inlinable
    var canDeepen: Bool {
        guard depth < Self.deepest else { return false }
        guard depth >= 4, let levels else { return true }
        var segments = 0
        for level in 0...Int(depth) { segments += Int(levels[level]) }
        return directoryCount <= segments * 8
    }

    /// Doubles the directory: every segment is in it twice as often.
    @inlinable
    mutating func deepen() {
        if levels == nil {
            let made = UnsafeMutablePointer<UInt32>.allocate(capacity: Int(Self.deepest) + 1)
            made.initialize(repeating: 0, count: Int(Self.deepest) + 1)
            made[0] = 1
            levels = made
        }
        moveDirectory(depth: depth + 1)
    }

    @inlinable
    mutating func moveDirectory(depth new: UInt32) {
        // Proof: who calls this has a directory.
        let old = directory.unsafelyUnwrapped
        let made = UnsafeMutablePointer<Segment>.allocate(capacity: 1 << Int(new))
        made.initialize(from: old, count: min(1 << Int(new), directoryCount))
        if new > depth { (made + directoryCount).initialize(from: old, count: directoryCount) }
        old.deallocate()
        directory = made
        depth = new
    }

    // MARK: - Merging

    /// The number of the segment that has been, or would be, split from this one; nil for an only one.
    @inlinable
    func sibling(of number: Int) -> Int? {
        // Proof: the caller has made sure of it.
        let depth = directory.unsafelyUnwrapped[number].depth
        return depth == 0 ? nil : number ^ 1 << Int(depth - 1)
    }

    /// Whether a segment with few keys could do with less memory.
    @inlinable
    @inline(never)
    func isSparse(_ number: Int) -> Bool {
        // Proof: the caller has made sure of it.
        let directory = directory.unsafelyUnwrapped
        let segment = directory[number]
        if segment.capacity > (segment.depth == 0 ? 64 : Self.segmentCapacity), Int(segment.live) * 8 < segment.capacity
        {
            return true
        }
        guard let sibling = sibling(of: number) else { return false }
        return directory[sibling].depth == segment.depth
            && Int(segment.live) + Int(directory[sibling].live) <= Self.mergeBound
    }

    /// Gives back memory where a key has been removed, after ``remove(_:place:)`` has found some.
    @inlinable
    @inline(never)
    mutating func giveBack(near hash: UInt, hashOf: (UInt32) -> UInt) {
        var hashed = 0
        // Several times only as long as there is next to nothing to move: an empty index must not keep many segments.
        while hashed <= Self.mergeBound, isSparse(number(hash)) {
            let number = number(hash)
            // Proof: a sparse segment is one.
            let segment = directory.unsafelyUnwrapped[number]
            hashed += Int(segment.live)
            if let sibling = sibling(of: number), segment.capacity <= Self.segmentCapacity {
                hashed += merge(number, sibling, hashOf)
            } else {
                var capacity = segment.depth == 0 ? 4 : Self.segmentCapacity
                while capacity < Int(segment.live) * 2 { capacity *= 2 }
                remake(number, capacity: capacity, hashOf)
            }
        }
    }

    /// - Returns: The number of keys in the other one.
    @inlinable
    mutating func merge(_ number: Int, _ other: Int, _ hashOf: (UInt32) -> UInt) -> Int {
        // Proof: both are segments, and there are levels when there are two.
        let (directory, levels) = (directory.unsafelyUnwrapped, levels.unsafelyUnwrapped)
        let (one, two) = (directory[number], directory[other])
        let made = Segment(
            capacity: Self.segmentCapacity, depth: one.depth - 1, places: max(one.greatestPlace, two.greatestPlace))
        one.forEach { made.store(hashOf($0), $0) }
        two.forEach { made.store(hashOf($0), $0) }
        replace(number, by: made)
        levels[Int(one.depth)] -= 2
        levels[Int(made.depth)] += 1
        let count = Int(two.live)
        one.deallocate()
        two.deallocate()
        if depth > 0, levels[Int(depth)] == 0 {
            moveDirectory(depth: depth - 1)
            if depth == 0 { forgetLevels() }
        }
        return count
    }

    @inlinable
    mutating func forgetLevels() {
        levels?.deallocate()
        levels = nil
    }
}

extension KeyIndex.Segment {
    /// Calls `body` with every place.
    @inlinable
    func forEach(_ body: (UInt32) -> Void) {
        for position in 0..<capacity {
            let place = entries[position] & placeMask
            if place != 0 { body(place - 1) }
        }
    }

    /// The greatest place plus one; zero for none.
    @inlinable
    var greatestPlace: UInt32 {
        var greatest: UInt32 = 0
        for position in 0..<capacity { greatest = max(greatest, entries[position] & placeMask) }
        return greatest
    }
}
