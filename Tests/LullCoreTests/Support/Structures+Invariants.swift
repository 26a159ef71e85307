@testable import LullCore
@testable import LullEngine

// The invariants of the engine's data structures between any two calls, for tests.

extension DeadlineQueue {
    /// Whether a pass is under way, or begins as soon as an interrupted redistribution is done.
    var isCompacted: Bool { isCompacting || redistributing != nil }

    /// The buckets, if there are any.
    var allBuckets: UnsafeMutableBufferPointer<Bucket> {
        UnsafeMutableBufferPointer(start: buckets, count: buckets == nil ? 0 : Self.width)
    }

    /// The chunks of a chain, from the first on.
    static func chunks(_ chain: Chunk?) -> [Chunk] {
        var chunks: [Chunk] = []
        var next = chain
        while let chunk = next {
            chunks.append(chunk)
            next = chunk.next
        }
        return chunks
    }

    static func entries(_ chain: Chunk?) -> [Entry] {
        var entries: [Entry] = []
        var next = chain
        while let chunk = next {
            entries.append(contentsOf: chunk.entries)
            next = chunk.next
        }
        return entries
    }

    /// All entries, in any order.
    var allEntries: [Entry] {
        if buckets == nil { return count > 0 ? [only] : [] }
        var all = ties.allEntries + Self.entries(redistributing) + Self.entries(detached)
        for bucket in allBuckets where bucket.chain != nil { all += Self.entries(bucket.chain) }
        return all
    }

    /// All entries, for looking many of them up.
    struct Lookup {
        private let entries: [UInt32: [Entry]]

        init(_ queue: borrowing DeadlineQueue) {
            entries = Dictionary(grouping: queue.allEntries, by: { $0.slot })
        }

        func contains(_ wanted: Entry) -> Bool {
            entries[wanted.slot]?.contains { $0.at == wanted.at && $0.burst == wanted.burst } == true
        }
    }

    func checkInvariants() -> [String] {
        var broken = InvariantReport()
        let all = allEntries
        broken.unless(count == all.count, "the count is right")
        for (number, bucket) in allBuckets.enumerated() {
            let isOccupied = number > 0 && occupied & (1 << UInt64(number - 1)) != 0
            // Most buckets are empty.
            guard isOccupied || bucket.chain != nil else { continue }
            let entries = Self.entries(bucket.chain)
            broken.unless(isOccupied == !entries.isEmpty, "bucket \(number) is known to be empty or not")
            broken.unless((bucket.chain == nil) == entries.isEmpty, "bucket \(number) has memory for entries only")
            checkChain(bucket.chain, "bucket \(number)", &broken)
            for entry in entries {
                let home = bucketNumber(of: entry.at)
                broken.unless(home == number, "the entry at \(entry.at) is in bucket \(home), not \(number)")
            }
            guard let first = entries.map({ $0.at }).min() else { continue }
            broken.unless(bucket.front.at == first, "the earliest instant of bucket \(number) is known")
            broken.unless(
                entries.contains { $0.at == first && $0.slot == bucket.front.slot && $0.burst == bucket.front.burst },
                "the front of bucket \(number) is one of its entries")
        }
        broken.unless(all.allSatisfy { $0.at >= last }, "no entry is earlier than the last one popped")
        checkChain(redistributing, "what is redistributed", &broken)
        checkChain(detached, "what is detached", &broken)
        broken.unless(
            detached == nil || Self.entries(detached).allSatisfy { $0.at >= detachedFront } && detachedFront >= last,
            "no detached entry is earlier than is known")
        broken.unless(uncompacted == 0 || pass > 0, "a pass has a number")
        broken.unless(ties.allEntries.allSatisfy { $0.at == last }, "ties are at the last instant popped")
        broken.rules += ties.checkInvariants().map { "ties: \($0)" }
        let spare = Self.chunks(spares)
        broken.unless(
            spare.count == spareCount && spareCount <= 32
                && spare.allSatisfy { $0.isEmpty && $0.capacity == Chunk.smallest },
            "spare chunks are small, empty, few, and counted")
        broken.unless(count > 0 || spareCount <= 1, "an empty queue keeps one chunk")
        return broken.rules
    }

    /// Only the first chunk of a chain has room, none is empty, and each is at most four times as large as the one
    /// before it.
    private func checkChain(_ chain: Chunk?, _ name: @autoclosure () -> String, _ broken: inout InvariantReport) {
        let chunks = Self.chunks(chain)
        broken.unless(chunks.allSatisfy { !$0.isEmpty }, "\(name()): no chunk is empty")
        broken.unless(chunks.dropFirst().allSatisfy { $0.isFull }, "\(name()): only the first chunk has room")
        for (later, earlier) in zip(chunks, chunks.dropFirst()) {
            broken.unless(
                later.capacity == earlier.nextCapacity,
                "\(name()): chunks grow with the chain")
        }
    }
}

extension TieQueue {
    var allRuns: [Run] { runs.all }

    /// All entries, in any order.
    var allEntries: [Entry] {
        allRuns.flatMap { Array($0.chunk.entries) } + (gathering.map { Array($0.entries) } ?? [])
    }

    func checkInvariants() -> [String] {
        var broken = InvariantReport()
        broken.unless(count == allEntries.count, "the count is right")
        func isInOrder(_ chunk: Chunk) -> Bool {
            zip(chunk.entries, chunk.entries.dropFirst()).allSatisfy { !$0.isOlder(than: $1) }
        }
        if isSorted, let gathering { broken.unless(isInOrder(gathering), "the gathering entries are in order") }
        for (number, run) in allRuns.enumerated() {
            broken.unless(!run.chunk.isEmpty && isInOrder(run.chunk), "run \(number) is in order")
            guard !run.chunk.isEmpty else { continue }
            broken.unless(run.burst == run.chunk.last.burst, "the oldest burst of run \(number) is known")
        }
        broken.unless(runs.isInOrder, "the runs are a heap")
        broken.unless(count > 0 || runs.pages.isEmpty, "an empty queue has no runs")
        return broken.rules
    }
}

extension Heap {
    /// All elements, in the order of their positions.
    var all: [Element] { (0..<count).map { self[$0] } }

    /// Whether no element comes out before its parent.
    var isInOrder: Bool {
        let all = all
        return all.indices.dropFirst().allSatisfy { !all[$0].precedes(all[($0 - 1) / 2]) }
    }
}

extension Slab {
    /// Removes and returns an element: the engine discards its own, which it does not need any more.
    mutating func remove(_ index: UInt32) -> Element {
        let element = self[index].pointee
        discard(index)
        return element
    }

    /// All segments.
    var allSegments: UnsafeMutableBufferPointer<Segment> {
        UnsafeMutableBufferPointer(start: segments, count: segmentCount)
    }

    /// The blocks in use of a segment.
    func blocks(of segment: Int) -> UnsafeMutableBufferPointer<Block> {
        let segment = allSegments[segment]
        return UnsafeMutableBufferPointer(start: segment.blocks, count: Int(segment.blockCount))
    }

    func checkInvariants() -> [String] {
        var broken = InvariantReport()
        var total = 0
        for (number, segment) in allSegments.enumerated() {
            let blocks = blocks(of: number)
            let elements = blocks.reduce(0) { $0 + $1.occupancy.nonzeroBitCount }
            total += elements
            broken.unless(Int(segment.count) == elements, "the count of segment \(number) is right")
            broken.unless(segment.blockCount <= segment.capacity, "segment \(number) has memory for its blocks")
            broken.unless((segment.blocks == nil) == (segment.capacity == 0), "segment \(number) has its memory")
            broken.unless(
                number == 0 || segment.capacity == (elements == 0 ? 0 : UInt32(Self.blocksPerSegment)),
                "segment \(number) has memory for all blocks, or none if it is empty")
            checkVacancy(
                from: segment.firstVacant, next: { blocks[$0].nextVacant }, "block of segment \(number)",
                expected: blocks.indices.filter { blocks[$0].occupancy != .max }, &broken)
            for (position, block) in blocks.enumerated() {
                broken.unless(
                    (block.memory == nil) == (block.capacity == 0), "block \(number)/\(position) has its memory")
                let reach = 64 - block.occupancy.leadingZeroBitCount
                broken.unless(reach <= block.capacity, "block \(number)/\(position) has memory for its elements")
                guard number + position > 0 else { continue }
                broken.unless((block.occupancy == 0) == (block.capacity == 0), "an empty block has no memory")
            }
        }
        broken.unless(count == total, "the count is right")
        checkVacancy(
            from: firstVacant, next: { allSegments[$0].nextVacant }, "segment",
            expected: allSegments.indices.filter { Int(allSegments[$0].count) < Self.elementsPerSegment }, &broken)
        return broken.rules
    }

    private func checkVacancy(
        from first: UInt32, next: (Int) -> UInt32, _ name: String, expected: [Int], _ broken: inout InvariantReport
    ) {
        var vacant: [Int] = []
        var number = first
        while number != .max, vacant.count <= expected.count {
            vacant.append(Int(number))
            number = next(Int(number))
        }
        broken.unless(number == .max && vacant.sorted() == expected, "every \(name) with room is known, once")
    }
}

extension KeyIndex {
    /// Returns the slot that was stored under a hash and that `matches` confirms.
    func find(_ hash: UInt, matches: (UInt32) -> Bool) -> UInt32? {
        var position: UInt32 = 0
        while true {
            let slot = next(hash, from: &position)
            if slot == .max { return nil }
            if matches(slot) { return slot }
        }
    }

    /// The segments, each once, by their lowest numbers.
    var allSegments: [(number: Int, segment: Segment)] {
        guard let directory else { return [] }
        return (0..<directoryCount).map { (number: $0, segment: directory[$0]) }.filter { number, segment in
            number & ~(-1 << Int(segment.depth)) == number
        }
    }

    /// The number of keys.
    var count: Int { allSegments.reduce(0) { $0 + Int($1.segment.keyCount) } }

    /// The number of entries there is memory for.
    var capacity: Int { allSegments.reduce(0) { $0 + $1.segment.capacity } }

    /// The bytes that the index holds.
    var footprint: Int {
        let segments = allSegments.reduce(0) { $0 + ($1.segment.capacity + Segment.headerWords) * 4 }
        let levels = levels == nil ? 0 : (Int(Self.maxDepth) + 1) * 4
        return segments + levels + (directory == nil ? 0 : directoryCount * MemoryLayout<Segment>.stride)
    }

    /// Checks that every entry is where the directory says, that every search ends, and that none passes a tombstone in
    /// vain.
    ///
    /// - Parameter hashOf: Returns the hash of the key of a slot.
    func checkInvariants(hashOf: (UInt32) -> UInt) -> [String] {
        var broken = InvariantReport()
        guard let directory else {
            broken.unless(depth == 0 && levels == nil, "an index without a directory has no depth")
            return broken.rules
        }
        for number in 0..<directoryCount {
            let segment = directory[number]
            guard segment.depth <= depth else {
                broken.rules.append("segment \(number) is deeper than the directory")
                continue
            }
            let first = directory[number & ~(-1 << Int(segment.depth))]
            broken.unless(
                first.entries == segment.entries && first.mask == segment.mask && first.slotMask == segment.slotMask,
                "the directory has one segment for all numbers with its bits: \(number)")
        }
        for (number, segment) in allSegments { check(segment, number, hashOf, &broken) }
        let levelled = (0...Int(Self.maxDepth)).map { level in allSegments.count { Int($0.segment.depth) == level } }
        if let levels {
            broken.unless(
                levelled == (0...Int(Self.maxDepth)).map { Int(levels[$0]) }, "the segments of each depth are counted")
            broken.unless(depth > 0 && levels[Int(depth)] > 0, "the directory is as deep as a segment")
        } else {
            broken.unless(depth == 0, "the segments of a deep directory are counted")
        }
        return broken.rules
    }

    private func check(_ segment: Segment, _ number: Int, _ hashOf: (UInt32) -> UInt, _ broken: inout InvariantReport) {
        let entries = UnsafeBufferPointer(start: segment.entries, count: segment.capacity)
        broken.unless(entries.count.nonzeroBitCount == 1, "segment \(number) has a power of two of entries")
        broken.unless(
            Int(segment.usedCount) == entries.count { $0 != 0 }, "the entries in use of segment \(number) are counted")
        broken.unless(
            Int(segment.keyCount) == entries.count { $0 & segment.slotMask != 0 },
            "the keys of segment \(number) are counted")
        broken.unless(segment.usedCount < entries.count, "a search in segment \(number) comes to an end")
        broken.unless(
            segment.depth == 0 || entries.count >= Self.segmentCapacity,
            "segment \(number) has been split when it was full")
        for position in entries.indices {
            let entry = entries[position]
            let next = entries[(position + 1) & Int(segment.mask)]
            if entry == segment.tombstone {
                broken.unless(next != 0, "no tombstone at \(position), before an empty entry")
            } else if entry != 0 {
                let slot = entry & segment.slotMask - 1
                let hash = hashOf(slot)
                broken.unless(
                    Self.bits(hash) & ~(-1 << Int(segment.depth)) == number, "slot \(slot) is in its segment")
                broken.unless(
                    entry & ~segment.slotMask == UInt32(truncatingIfNeeded: hash) & ~segment.slotMask,
                    "the entry of slot \(slot) has its part of the hash")
            }
        }
    }
}
