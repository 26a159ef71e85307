/// Numbered places for elements that do not move: a place is taken, used by its number, and given back.
///
/// Places come in blocks of 64 with one word of occupancy each, and blocks in segments of 1,024. A block whose last element
/// has gone is given back to the allocator, and so is a segment, so that memory follows the number of elements down as well
/// as up. No call copies or walks more than one segment's blocks, however many elements there are. The first block and the
/// first segment start small: a debouncer with one key needs one place.
@frozen
@usableFromInline
package struct Slab<Element>: ~Copyable {
    @frozen
    @usableFromInline
    struct Block {
        @usableFromInline var memory: UnsafeMutablePointer<Element>?
        /// A bit for every place that is taken.
        @usableFromInline var occupancy: UInt64
        /// The number of places that there is memory for.
        @usableFromInline var capacity: UInt32
        /// The next block of the segment that has a free place, if this one has; `UInt32.max` for none.
        @usableFromInline var nextVacant: UInt32

        @inlinable
        init(nextVacant: UInt32) {
            occupancy = 0
            capacity = 0
            self.nextVacant = nextVacant
        }
    }

    @frozen
    @usableFromInline
    struct Segment {
        @usableFromInline var blocks: UnsafeMutablePointer<Block>?
        /// The number of elements.
        @usableFromInline var count: UInt32
        /// The number of blocks in use, from the first one on.
        @usableFromInline var blockCount: UInt32
        /// The number of blocks that there is memory for.
        @usableFromInline var capacity: UInt32
        /// A block in use that has a free place; `UInt32.max` for none.
        @usableFromInline var firstVacant: UInt32
        /// The next segment that has a free place, if this one has; `UInt32.max` for none.
        @usableFromInline var nextVacant: UInt32

        @inlinable
        init(nextVacant: UInt32) {
            count = 0
            blockCount = 0
            capacity = 0
            firstVacant = .max
            self.nextVacant = nextVacant
        }
    }

    // In memory of their own: an array would ask at every step whether it is shared.
    @usableFromInline var segments: UnsafeMutablePointer<Segment>?
    @usableFromInline var segmentCount: Int
    /// The number of segments that there is memory for.
    @usableFromInline var segmentCapacity: Int
    /// A segment that has a free place; `UInt32.max` for none.
    @usableFromInline var firstVacant: UInt32
    @usableFromInline var elementCount: Int
    /// The memory of blocks that are empty.
    @usableFromInline var discarded: Discarded

    /// The number of elements.
    @inlinable
    package var count: Int { elementCount }

    @inlinable
    static var blocksPerSegment: Int { 1024 }

    @inlinable
    static var placesPerSegment: Int { 1 << 16 }

    /// A slab without elements, and without memory.
    @inlinable
    package init() {
        segmentCount = 0
        segmentCapacity = 0
        firstVacant = .max
        elementCount = 0
        discarded = Discarded()
    }

    @inlinable
    deinit {
        forEach { _, element in element.deinitialize(count: 1) }
        for segment in UnsafeMutableBufferPointer(start: segments, count: segmentCount) {
            for block in UnsafeMutableBufferPointer(start: segment.blocks, count: Int(segment.blockCount)) {
                block.memory?.deallocate()
            }
            segment.blocks?.deallocate()
        }
        segments?.deallocate()
    }

    // MARK: - Places

    /// The element at a place that is taken. The pointer is good until the next ``insert(_:)`` or ``remove(_:)``.
    ///
    /// A caller that changes the element takes the pointer first: the compiler ends in a broken module (6.3, Thread Sanitizer)
    /// where a statement does both.
    @inlinable
    package subscript(place: UInt32) -> UnsafeMutablePointer<Element> {
        assert(contains(place), "no element at place \(place)")
        // Proof: a place that is taken lies in a block, and one that has memory.
        return segments.unsafelyUnwrapped[Int(place >> 16)].blocks.unsafelyUnwrapped[Int(place >> 6 & 1023)].memory
            .unsafelyUnwrapped + Int(place & 63)
    }

    /// Whether a place is taken.
    @inlinable
    package func contains(_ place: UInt32) -> Bool {
        let (number, block) = (Int(place >> 16), Int(place >> 6 & 1023))
        guard number < segmentCount, let segments, block < Int(segments[number].blockCount),
            let blocks = segments[number].blocks
        else { return false }
        return blocks[block].occupancy & (1 << UInt64(place & 63)) != 0
    }

    /// Takes a free place for an element.
    @inlinable
    package mutating func insert(_ element: consuming Element) -> UInt32 {
        if firstVacant == .max { addSegment() }
        let number = firstVacant
        // Proof: there is a segment with a free place, it gets a block with one, and that gets the memory if need be.
        let segment = segments.unsafelyUnwrapped + Int(number)
        if segment.pointee.firstVacant == .max { addBlock(to: segment) }
        let blockNumber = segment.pointee.firstVacant
        let block = segment.pointee.blocks.unsafelyUnwrapped + Int(blockNumber)
        let index = UInt32((~block.pointee.occupancy).trailingZeroBitCount)
        if index >= block.pointee.capacity { grow(block, isFirst: number == 0 && blockNumber == 0) }
        (block.pointee.memory.unsafelyUnwrapped + Int(index)).initialize(to: element)
        block.pointee.occupancy |= 1 << UInt64(index)
        if block.pointee.occupancy == .max { segment.pointee.firstVacant = block.pointee.nextVacant }
        segment.pointee.count += 1
        if segment.pointee.count == UInt32(Self.placesPerSegment) { firstVacant = segment.pointee.nextVacant }
        elementCount += 1
        return number << 16 | blockNumber << 6 | index
    }

    /// Gets the memory for a first element, so that inserting it takes no longer than it must.
    @inlinable
    package mutating func prepare() {
        if segmentCount == 0 { addSegment() }
        // Proof: there is a first segment, and it gets a first block.
        let segment = segments.unsafelyUnwrapped
        if segment.pointee.blockCount == 0 { addBlock(to: segment) }
        let block = segment.pointee.blocks.unsafelyUnwrapped
        if block.pointee.capacity == 0 { grow(block, isFirst: true) }
    }

    /// Gives a place back, and returns the element that was there.
    @inlinable
    package mutating func remove(_ place: UInt32) -> Element {
        let element = self[place].move()
        vacate(place)
        return element
    }

    /// Gives a place back, and moves the element to where nothing is initialised.
    @inlinable
    package mutating func move(_ place: UInt32, to destination: UnsafeMutablePointer<Element>) {
        destination.moveInitialize(from: self[place], count: 1)
        vacate(place)
    }

    /// Gives a place back, and forgets the element.
    @inlinable
    package mutating func discard(_ place: UInt32) {
        self[place].deinitialize(count: 1)
        vacate(place)
    }

    /// Gives back a place whose element is gone.
    @inlinable
    mutating func vacate(_ place: UInt32) {
        let (number, blockNumber) = (place >> 16, place >> 6 & 1023)
        // Proof: a place that is taken lies in a block.
        let segment = segments.unsafelyUnwrapped + Int(number)
        let block = segment.pointee.blocks.unsafelyUnwrapped + Int(blockNumber)
        if block.pointee.occupancy == .max {
            block.pointee.nextVacant = segment.pointee.firstVacant
            segment.pointee.firstVacant = blockNumber
        }
        if segment.pointee.count == UInt32(Self.placesPerSegment) {
            segment.pointee.nextVacant = firstVacant
            firstVacant = number
        }
        block.pointee.occupancy &= ~(1 << UInt64(place & 63))
        segment.pointee.count -= 1
        elementCount -= 1
        if block.pointee.occupancy == 0, place >= 64 { giveBack(block) }
        if segment.pointee.count == 0, number > 0 { giveBack(segment) }
        if elementCount == 0, blockCount > 1 { trim() }
    }

    // MARK: - Going through all

    /// No element is in the block with this number or a later one; a block has 64 places.
    @inlinable
    package var blockCount: Int {
        guard segmentCount > 0, let segments else { return 0 }
        return (segmentCount - 1) * Self.blocksPerSegment + Int(segments[segmentCount - 1].blockCount)
    }

    /// Calls `body` with every place that is taken.
    @inlinable
    package func forEach(_ body: (UInt32, UnsafeMutablePointer<Element>) -> Void) {
        forEach(inBlocks: 0..<blockCount, body)
    }

    /// Calls `body` with every place that is taken in some blocks: in order, at most 64 places a block.
    ///
    /// A caller that cannot look at all elements in one go asks for a few blocks at a time, up to ``blockCount``. An element that
    /// stays in the slab meanwhile is seen once, since none moves.
    @inlinable
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
                        let index = taken.trailingZeroBitCount
                        body(UInt32(number << 6 | index), memory + index)
                        taken &= taken - 1
                    }
                    number += 1
                }
            }
            number = first + Self.blocksPerSegment
        }
    }
}
