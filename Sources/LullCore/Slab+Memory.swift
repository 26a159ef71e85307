// The memory of a slab. No call copies or frees more than one segment's blocks.
//
// None of it is inlined: it runs once for 64 elements or fewer.
extension Slab {
    @inline(never)
    mutating func addSegment() {
        precondition(segmentCount < (1 << 15) - 1, "more than two billion keys")
        if segmentCount == segmentCapacity { moveSegments(capacity: max(segmentCapacity * 2, 1)) }
        // Proof: there is room for one more.
        (segments.unsafelyUnwrapped + segmentCount).initialize(to: Segment(nextVacant: firstVacant))
        firstVacant = UInt32(segmentCount)
        segmentCount += 1
    }

    /// Moves the segments, 32 bytes for 65,536 elements each, to memory for this many.
    private mutating func moveSegments(capacity: Int) {
        let memory = UnsafeMutablePointer<Segment>.allocate(capacity: capacity)
        if let segments {
            memory.moveInitialize(from: segments, count: segmentCount)
            discarded.add(segments)
        }
        segments = memory
        segmentCapacity = capacity
    }

    /// Takes one more block of a segment into use.
    @inline(never)
    mutating func addBlock(to segment: UnsafeMutablePointer<Segment>) {
        if segment.pointee.blockCount == segment.pointee.capacity {
            let isFirst = segment == segments
            let capacity = isFirst ? max(Int(segment.pointee.capacity) * 2, 1) : Self.blocksPerSegment
            moveBlocks(of: segment, capacity: capacity)
        }
        let number = segment.pointee.blockCount
        // Proof: there is room for one more.
        (segment.pointee.blocks.unsafelyUnwrapped + Int(number)).initialize(
            to: Block(nextVacant: segment.pointee.firstVacant))
        segment.pointee.firstVacant = number
        segment.pointee.blockCount += 1
    }

    /// Moves the blocks of a segment to memory for this many.
    private mutating func moveBlocks(of segment: UnsafeMutablePointer<Segment>, capacity: Int) {
        let memory = UnsafeMutablePointer<Block>.allocate(capacity: capacity)
        if let blocks = segment.pointee.blocks {
            memory.moveInitialize(from: blocks, count: Int(segment.pointee.blockCount))
            discarded.add(blocks)
        }
        segment.pointee.blocks = memory
        segment.pointee.capacity = UInt32(capacity)
    }

    /// Gives a block memory for more elements: the first block a few at a time, all others at once.
    @inline(never)
    mutating func grow(_ block: UnsafeMutablePointer<Block>, isFirst: Bool) {
        let capacity = isFirst ? max(1, min(block.pointee.capacity * 4, 64)) : 64
        // A single element must not lie across two pages of memory: a submit to it took half as long again (row `hot`).
        let alignment = capacity == 1 ? max(alignment, 128) : alignment
        let memory = UnsafeMutableRawPointer.allocate(byteCount: Int(capacity) * stride, alignment: alignment)
        if let old = block.pointee.memory {
            // A block without room is full, so that all of it is initialised.
            for number in 0..<Int(block.pointee.capacity) {
                let (from, to) = (element(number, in: old), element(number, in: memory))
                to.moveInitialize(from: from, count: 1)
                moveCell?(from, to)
            }
            old.deallocate()
        }
        block.pointee.memory = memory
        block.pointee.capacity = capacity
    }

    @inline(never)
    mutating func allocateFirst() {
        if segmentCount == 0 { addSegment() }
        // Proof: there is a first segment, and it gets a first block.
        let segment = segments.unsafelyUnwrapped
        if segment.pointee.blockCount == 0 { addBlock(to: segment) }
        grow(segment.pointee.blocks.unsafelyUnwrapped, isFirst: true)
    }

    /// Gives back the memory of an empty block.
    @inline(never)
    mutating func giveBack(_ block: UnsafeMutablePointer<Block>) {
        if let memory = block.pointee.memory { discarded.add(memory) }
        block.pointee.memory = nil
        block.pointee.capacity = 0
    }

    /// Gives back the blocks of a segment without elements: none of them has memory any more.
    @inline(never)
    mutating func giveBack(_ segment: UnsafeMutablePointer<Segment>) {
        if let blocks = segment.pointee.blocks { discarded.add(blocks) }
        segment.pointee.blocks = nil
        segment.pointee.blockCount = 0
        segment.pointee.capacity = 0
        segment.pointee.firstVacant = .max
    }

    /// Gives back, with no element left, all blocks but the first.
    @inline(never)
    mutating func trim() {
        segmentCount = 1
        moveSegments(capacity: 1)
        firstVacant = 0
        // Proof: there is one segment.
        let segment = segments.unsafelyUnwrapped
        segment.pointee.nextVacant = .max
        guard segment.pointee.blockCount > 0 else { return }
        segment.pointee.blockCount = 1
        moveBlocks(of: segment, capacity: 1)
        segment.pointee.firstVacant = 0
        // Proof: there is one block.
        let block = segment.pointee.blocks.unsafelyUnwrapped
        block.pointee.nextVacant = .max
        if block.pointee.capacity == 64 { giveBack(block) }
    }
}
