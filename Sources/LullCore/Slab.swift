/// Elements that do not move, under numbers: an index is assigned to an element, used to reach it, and freed.
///
/// Elements lie in blocks of 64 with one word of occupancy each, and blocks in segments of 1,024. A block whose last
/// element is removed is given back to the allocator, and so is a segment: memory follows the number of elements down
/// as well as up. No call copies or visits more than one segment's blocks, however many elements there are. The first
/// block and the first segment start small: a debouncer with one key needs one element.
///
/// The memory is unsafe for the sake of the rows `hot`, `keyed` and `memory`: an array would check at every step
/// whether it is shared, and move all elements as it grows. Outside these files, only ``subscript(_:)`` hands out a
/// pointer.
///
/// Behind each element lies a cell, of a size that is known at run time alone: there the generic owner of a slab keeps
/// its keys and values, of which code that is compiled once knows nothing. The slab gives them memory, and moves them
/// where it has to; the owner initialises and deinitialises them.
///
/// - Complexity: O(1) to reach, insert or remove an element; allocating or freeing moves 1,024 blocks' worth of
///   pointers at most.
package struct Slab<Element>: ~Copyable {
    struct Block {
        var memory: UnsafeMutableRawPointer?
        /// A bit for every index that is taken.
        var occupancy: UInt64 = 0
        /// The number of elements that there is memory for.
        var capacity: UInt32 = 0
        /// The next block of the segment that has a free index, if this one has; `UInt32.max` for none.
        var nextVacant: UInt32
    }

    struct Segment {
        var blocks: UnsafeMutablePointer<Block>?
        /// The number of elements.
        var count: UInt32 = 0
        /// The number of blocks in use, from the first one on.
        var blockCount: UInt32 = 0
        /// The number of blocks that there is memory for.
        var capacity: UInt32 = 0
        /// A block in use that has a free index; `UInt32.max` for none.
        var firstVacant = UInt32.max
        /// The next segment that has a free index, if this one has; `UInt32.max` for none.
        var nextVacant: UInt32
    }

    var segments: UnsafeMutablePointer<Segment>?
    var segmentCount: Int
    /// The number of segments that there is memory for.
    var segmentCapacity: Int
    /// A segment that has a free index; `UInt32.max` for none.
    var firstVacant: UInt32
    var elementCount: Int
    /// The bytes from one element to the next.
    let stride: Int
    let alignment: Int
    /// Moves what is in an element's cell to that of another one, which has been moved there already.
    let moveCell: CellMove?
    /// The memory of blocks that are empty.
    package internal(set) var discarded: DiscardedMemory

    package typealias CellMove = (_ from: UnsafeMutablePointer<Element>, _ to: UnsafeMutablePointer<Element>) -> Void

    /// The number of elements.
    package var count: Int { elementCount }

    static var blocksPerSegment: Int { 1024 }

    static var elementsPerSegment: Int { 1 << 16 }

    /// Creates a slab without elements and without memory.
    ///
    /// - Parameters:
    ///   - stride: The bytes of an element and its cell; a multiple of both alignments.
    ///   - alignment: The greater alignment.
    ///   - moveCell: Moves what is in a cell; nil if there are none.
    package init(
        stride: Int = MemoryLayout<Element>.stride, alignment: Int = MemoryLayout<Element>.alignment,
        moveCell: CellMove? = nil
    ) {
        self.stride = stride
        self.alignment = alignment
        self.moveCell = moveCell
        segmentCount = 0
        segmentCapacity = 0
        firstVacant = .max
        elementCount = 0
        discarded = DiscardedMemory()
    }

    deinit {
        forEach { _, element in element.deinitialize(count: 1) }
        deallocate()
    }

    func deallocate() {
        for segment in UnsafeMutableBufferPointer(start: segments, count: segmentCount) {
            for block in UnsafeMutableBufferPointer(start: segment.blocks, count: Int(segment.blockCount)) {
                block.memory?.deallocate()
            }
            segment.blocks?.deallocate()
        }
        segments?.deallocate()
    }

    // MARK: - Elements

    /// The element at an index that is taken. The pointer is valid until the next ``insert(_:)`` or ``remove(_:)``.
    ///
    /// Bind the pointer before mutating the element; one statement doing both miscompiles under Thread Sanitizer (Swift
    /// 6.3).
    package subscript(index: UInt32) -> UnsafeMutablePointer<Element> {
        assert(contains(index), "no element at index \(index)")
        // Proof: an index that is taken lies in a block that has memory.
        let block = segments.unsafelyUnwrapped[Int(index >> 16)].blocks.unsafelyUnwrapped[Int(index >> 6 & 1023)]
        return (block.memory.unsafelyUnwrapped + Int(index & 63) &* stride).assumingMemoryBound(to: Element.self)
    }

    /// The element with a number in the memory of a block.
    @inline(__always)
    func element(_ number: Int, in memory: UnsafeMutableRawPointer) -> UnsafeMutablePointer<Element> {
        (memory + number &* stride).assumingMemoryBound(to: Element.self)
    }

    /// The block of an index. There must be one.
    func block(of index: UInt32) -> UnsafeMutablePointer<Block> {
        // Proof: the precondition.
        segments.unsafelyUnwrapped[Int(index >> 16)].blocks.unsafelyUnwrapped + Int(index >> 6 & 1023)
    }

    /// Whether an index is taken.
    package func contains(_ index: UInt32) -> Bool {
        let (number, block) = (Int(index >> 16), Int(index >> 6 & 1023))
        guard number < segmentCount, let segments, block < Int(segments[number].blockCount),
            let blocks = segments[number].blocks
        else { return false }
        return blocks[block].occupancy & (1 << UInt64(index & 63)) != 0
    }

    /// Adds an element, and returns its index.
    package mutating func insert(_ element: consuming Element) -> UInt32 {
        if firstVacant == .max { addSegment() }
        let number = firstVacant
        // Proof: there is a segment with a free index. It gets a block with one, and the block memory, if need be.
        let segment = segments.unsafelyUnwrapped + Int(number)
        if segment.pointee.firstVacant == .max { addBlock(to: segment) }
        let blockNumber = segment.pointee.firstVacant
        let block = segment.pointee.blocks.unsafelyUnwrapped + Int(blockNumber)
        let offset = UInt32((~block.pointee.occupancy).trailingZeroBitCount)
        if offset >= block.pointee.capacity { grow(block, isFirst: number == 0 && blockNumber == 0) }
        self.element(Int(offset), in: block.pointee.memory.unsafelyUnwrapped).initialize(to: element)
        block.pointee.occupancy |= 1 << UInt64(offset)
        if block.pointee.occupancy == .max { segment.pointee.firstVacant = block.pointee.nextVacant }
        segment.pointee.count += 1
        if segment.pointee.count == UInt32(Self.elementsPerSegment) { firstVacant = segment.pointee.nextVacant }
        elementCount += 1
        return number << 16 | blockNumber << 6 | offset
    }

    /// Allocates the memory for a first element, so that inserting it takes no longer than it must.
    package mutating func prepare() {
        if blockCount == 0 || block(of: 0).pointee.capacity == 0 { allocateFirst() }
    }

    /// Removes an element.
    package mutating func discard(_ index: UInt32) {
        self[index].deinitialize(count: 1)
        free(index)
    }

    /// Frees the index of an element that has been moved away or deinitialised.
    mutating func free(_ index: UInt32) {
        let (number, blockNumber) = (index >> 16, index >> 6 & 1023)
        // Proof: an index that is taken lies in a block.
        let segment = segments.unsafelyUnwrapped + Int(number)
        let block = segment.pointee.blocks.unsafelyUnwrapped + Int(blockNumber)
        if block.pointee.occupancy == .max {
            block.pointee.nextVacant = segment.pointee.firstVacant
            segment.pointee.firstVacant = blockNumber
        }
        if segment.pointee.count == UInt32(Self.elementsPerSegment) {
            segment.pointee.nextVacant = firstVacant
            firstVacant = number
        }
        block.pointee.occupancy &= ~(1 << UInt64(index & 63))
        segment.pointee.count -= 1
        elementCount -= 1
        if block.pointee.occupancy == 0, index >= 64 { giveBack(block) }
        if segment.pointee.count == 0, number > 0 { giveBack(segment) }
        if elementCount == 0, blockCount > 1 { trim() }
    }

    // MARK: - Visiting all

    /// No element is in the block with this number or a later one; a block has 64 elements.
    package var blockCount: Int {
        guard segmentCount > 0, let segments else { return 0 }
        return (segmentCount - 1) * Self.blocksPerSegment + Int(segments[segmentCount - 1].blockCount)
    }

    /// Calls `body` with every element and its index.
    package func forEach(_ body: (UInt32, UnsafeMutablePointer<Element>) -> Void) {
        forEach(inBlocks: 0..<blockCount, body)
    }

    /// Calls `body` with every element in some blocks and its index: in order, at most 64 elements a block.
    ///
    /// A caller that cannot visit all elements at once asks for a few blocks at a time, up to ``blockCount``. An
    /// element that stays in the slab meanwhile is visited once, since none moves.
    package func forEach(inBlocks range: Range<Int>, _ body: (UInt32, UnsafeMutablePointer<Element>) -> Void) {
        guard let segments else { return }
        var number = range.lowerBound
        let end = min(range.upperBound, blockCount)
        while number < end {
            let segment = segments + number / Self.blocksPerSegment
            let first = number / Self.blocksPerSegment * Self.blocksPerSegment
            if let blocks = segment.pointee.blocks {
                while number < min(end, first + Int(segment.pointee.blockCount)) {
                    let block = blocks + (number - first)
                    var taken = block.pointee.occupancy
                    while taken != 0, let memory = block.pointee.memory {
                        let offset = taken.trailingZeroBitCount
                        body(UInt32(number << 6 | offset), element(offset, in: memory))
                        taken &= taken - 1
                    }
                    number += 1
                }
            }
            number = first + Self.blocksPerSegment
        }
    }
}

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
        var alignment = alignment
        #if !hasFeature(Embedded)
            // A single element must not lie across two pages of memory: a submit to it took half as long again (row
            // `hot`).
            if capacity == 1 { alignment = max(alignment, 128) }
        #endif
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
