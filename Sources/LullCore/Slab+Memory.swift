// The memory of a slab: what is got and given back. None of it copies or frees more than one segment's blocks.
extension Slab {
    @inlinable
    @inline(never)
    mutating func addSegment() {
        precondition(segmentCount < (1 << 15) - 1, "more than two billion keys")
        if segmentCount == segmentCapacity { moveSegments(room: max(segmentCapacity * 2, 1)) }
        // Proof: there is room for one more, as was just seen to.
        (segments.unsafelyUnwrapped + segmentCount).initialize(to: Segment(nextVacant: firstVacant))
        firstVacant = UInt32(segmentCount)
        segmentCount += 1
    }

    /// Moves the segments, 32 bytes for 65,536 places each, to where there is room for so many.
    @inlinable
    mutating func moveSegments(room: Int) {
        let memory = UnsafeMutablePointer<Segment>.allocate(capacity: room)
        if let segments {
            memory.moveInitialize(from: segments, count: segmentCount)
            discarded.add(segments)
        }
        segments = memory
        segmentCapacity = room
    }

    /// Takes one more block of a segment in use.
    @inlinable
    @inline(never)
    mutating func addBlock(to segment: UnsafeMutablePointer<Segment>) {
        if segment.pointee.blockCount == segment.pointee.capacity {
            let isFirst = segment == segments
            moveBlocks(of: segment, room: isFirst ? max(Int(segment.pointee.capacity) * 2, 1) : Self.blocksPerSegment)
        }
        let number = segment.pointee.blockCount
        // Proof: there is room for one more, as was just seen to.
        (segment.pointee.blocks.unsafelyUnwrapped + Int(number)).initialize(
            to: Block(nextVacant: segment.pointee.firstVacant))
        segment.pointee.firstVacant = number
        segment.pointee.blockCount += 1
    }

    /// Moves the blocks of a segment to where there is room for so many.
    @inlinable
    mutating func moveBlocks(of segment: UnsafeMutablePointer<Segment>, room: Int) {
        let memory = UnsafeMutablePointer<Block>.allocate(capacity: room)
        if let blocks = segment.pointee.blocks {
            memory.moveInitialize(from: blocks, count: Int(segment.pointee.blockCount))
            discarded.add(blocks)
        }
        segment.pointee.blocks = memory
        segment.pointee.capacity = UInt32(room)
    }

    /// Gives a block memory for more places: the first block a few at a time, all others at once.
    @inlinable
    @inline(never)
    mutating func grow(_ block: UnsafeMutablePointer<Block>, isFirst: Bool) {
        let capacity = isFirst ? max(1, min(block.pointee.capacity * 4, 64)) : 64
        let memory = UnsafeMutablePointer<Element>.allocate(capacity: Int(capacity))
        if let old = block.pointee.memory {
            // All of its places are taken, and so all of them are initialised.
            memory.moveInitialize(from: old, count: Int(block.pointee.capacity))
            old.deallocate()
        }
        block.pointee.memory = memory
        block.pointee.capacity = capacity
    }

    /// Gives back the memory of an empty block.
    @inlinable
    @inline(never)
    mutating func giveBack(_ block: UnsafeMutablePointer<Block>) {
        if let memory = block.pointee.memory { discarded.add(memory) }
        block.pointee.memory = nil
        block.pointee.capacity = 0
    }

    /// Gives back the blocks of a segment without elements: none of them has memory any more.
    @inlinable
    @inline(never)
    mutating func giveBack(_ segment: UnsafeMutablePointer<Segment>) {
        if let blocks = segment.pointee.blocks { discarded.add(blocks) }
        segment.pointee.blocks = nil
        segment.pointee.blockCount = 0
        segment.pointee.capacity = 0
        segment.pointee.firstVacant = .max
    }

    /// With no element left, forgets all blocks but the first.
    @inlinable
    @inline(never)
    mutating func trim() {
        segmentCount = 1
        moveSegments(room: 1)
        firstVacant = 0
        // Proof: there is one segment.
        let segment = segments.unsafelyUnwrapped
        segment.pointee.nextVacant = .max
        guard segment.pointee.blockCount > 0 else { return }
        segment.pointee.blockCount = 1
        moveBlocks(of: segment, room: 1)
        segment.pointee.firstVacant = 0
        // Proof: there is one block.
        let block = segment.pointee.blocks.unsafelyUnwrapped
        block.pointee.nextVacant = .max
        if block.pointee.capacity == 64 { giveBack(block) }
    }
}
