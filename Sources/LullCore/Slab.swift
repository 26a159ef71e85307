/// Numbered places for elements that do not move: a place is taken, used by its number, and given back.
///
/// Places come in blocks of 64 with one word of occupancy each. A block whose last element has gone is given back to
/// the allocator, so that memory follows the number of elements down as well as up. The first block starts small: a
/// debouncer with one key needs one place.
@frozen
@usableFromInline
struct Slab<Element>: ~Copyable {
    @frozen
    @usableFromInline
    struct Block {
        @usableFromInline var memory: UnsafeMutablePointer<Element>?
        /// A bit for every place that is taken.
        @usableFromInline var occupancy: UInt64
        /// The number of places that there is memory for.
        @usableFromInline var capacity: UInt32
        /// The next block that has a free place, if this one has; `UInt32.max` for none.
        @usableFromInline var nextVacant: UInt32

        @inlinable
        init(nextVacant: UInt32) {
            occupancy = 0
            capacity = 0
            self.nextVacant = nextVacant
        }
    }

    // In memory of their own: an array would ask at every step whether it is shared.
    @usableFromInline var blocks: UnsafeMutablePointer<Block>?
    /// The number of blocks.
    @usableFromInline var blockCount: Int
    /// The number of blocks that there is memory for.
    @usableFromInline var blockCapacity: Int
    /// A block that has a free place; `UInt32.max` for none.
    @usableFromInline var firstVacant: UInt32
    /// The number of elements.
    @usableFromInline var count: Int

    @inlinable
    init() {
        blockCount = 0
        blockCapacity = 0
        firstVacant = .max
        count = 0
    }

    @inlinable
    deinit {
        forEach { _, element in element.deinitialize(count: 1) }
        for block in allBlocks { block.memory?.deallocate() }
        blocks?.deallocate()
    }

    @inlinable
    var allBlocks: UnsafeMutableBufferPointer<Block> { UnsafeMutableBufferPointer(start: blocks, count: blockCount) }

    /// The element at a place that is taken. The pointer is good until the next ``insert(_:)`` or ``remove(_:)``.
    ///
    /// Who changes the element takes the pointer first: the compiler ends in a broken module (6.3, Thread Sanitizer) where a
    /// statement does both.
    @inlinable
    subscript(place: UInt32) -> UnsafeMutablePointer<Element> {
        assert(contains(place), "no element at place \(place)")
        // Proof: a place that is taken lies in a block, and one that has memory.
        return blocks.unsafelyUnwrapped[Int(place >> 6)].memory.unsafelyUnwrapped + Int(place & 63)
    }

    /// Whether a place is taken.
    @inlinable
    func contains(_ place: UInt32) -> Bool {
        let number = Int(place >> 6)
        guard number < blockCount, let blocks else { return false }
        return blocks[number].occupancy & (1 << UInt64(place & 63)) != 0
    }

    /// Takes a free place for an element.
    @inlinable
    mutating func insert(_ element: consuming Element) -> UInt32 {
        if firstVacant == .max { addBlock() }
        let number = firstVacant
        // Proof: there is a block that has a free place, and if need be it gets the memory for it.
        let block = blocks.unsafelyUnwrapped + Int(number)
        let index = UInt32((~block.pointee.occupancy).trailingZeroBitCount)
        if index >= block.pointee.capacity { grow(number) }
        (block.pointee.memory.unsafelyUnwrapped + Int(index)).initialize(to: element)
        block.pointee.occupancy |= 1 << UInt64(index)
        if block.pointee.occupancy == .max { firstVacant = block.pointee.nextVacant }
        count += 1
        return number << 6 | index
    }

    /// Gets the memory for a first element, so that inserting it takes no longer than it must.
    @inlinable
    mutating func prepare() {
        if let blocks, blocks[0].capacity > 0 { return }
        if blockCount == 0 { addBlock() }
        grow(0)
    }

    @inlinable
    @inline(never)
    mutating func addBlock() {
        precondition(blockCount < (1 << 25) - 1, "more than two billion keys")
        if blockCount == blockCapacity { moveBlocks(room: max(blockCapacity * 2, 1)) }
        // Proof: there is room for one more, as was just seen to.
        (blocks.unsafelyUnwrapped + blockCount).initialize(to: Block(nextVacant: firstVacant))
        firstVacant = UInt32(blockCount)
        blockCount += 1
    }

    /// Moves the blocks to where there is room for so many.
    @inlinable
    mutating func moveBlocks(room: Int) {
        let memory = UnsafeMutablePointer<Block>.allocate(capacity: room)
        if let blocks {
            memory.moveInitialize(from: blocks, count: blockCount)
            blocks.deallocate()
        }
        blocks = memory
        blockCapacity = room
    }

    /// Gives a block memory for more places: the first block a few at a time, all others at once.
    @inlinable
    @inline(never)
    mutating func grow(_ number: UInt32) {
        // Proof: who calls this has the block.
        let block = blocks.unsafelyUnwrapped + Int(number)
        let capacity = number > 0 ? 64 : max(1, min(block.pointee.capacity * 4, 64))
        let memory = UnsafeMutablePointer<Element>.allocate(capacity: Int(capacity))
        if let old = block.pointee.memory {
            // All of its places are taken, and so all of them are initialised.
            memory.moveInitialize(from: old, count: Int(block.pointee.capacity))
            old.deallocate()
        }
        block.pointee.memory = memory
        block.pointee.capacity = capacity
    }

    /// Gives a place back, and returns the element that was there.
    @inlinable
    mutating func remove(_ place: UInt32) -> Element {
        let number = place >> 6
        // Proof: a place that is taken lies in a block.
        let block = blocks.unsafelyUnwrapped + Int(number)
        let element = self[place].move()
        if block.pointee.occupancy == .max {
            block.pointee.nextVacant = firstVacant
            firstVacant = number
        }
        block.pointee.occupancy &= ~(1 << UInt64(place & 63))
        count -= 1
        if block.pointee.occupancy == 0, number > 0 { giveBack(number) }
        if count == 0, blockCount > 1 { trim() }
        return element
    }

    /// Gives back the memory of an empty block.
    @inlinable
    @inline(never)
    mutating func giveBack(_ number: UInt32) {
        // Proof: who calls this has the block.
        let block = blocks.unsafelyUnwrapped + Int(number)
        block.pointee.memory?.deallocate()
        block.pointee.memory = nil
        block.pointee.capacity = 0
    }

    /// With no element left, forgets all blocks but the first.
    @inlinable
    @inline(never)
    mutating func trim() {
        blockCount = 1
        moveBlocks(room: 1)
        firstVacant = 0
        // Proof: there is one block.
        blocks.unsafelyUnwrapped[0].nextVacant = .max
        if blocks.unsafelyUnwrapped[0].capacity == 64 { giveBack(0) }
    }

    /// No element is at this place or a later one.
    @inlinable
    var bound: Int { blockCount * 64 }

    /// The number of steps that ``forEach(_:)`` takes: a place may be taken high above many empty blocks.
    @inlinable
    var steps: Int { max(count, blockCount) }

    /// Calls `body` with every place that is taken.
    @inlinable
    func forEach(_ body: (UInt32, UnsafeMutablePointer<Element>) -> Void) {
        for (number, block) in allBlocks.enumerated() {
            guard let memory = block.memory else { continue }
            var taken = block.occupancy
            while taken != 0 {
                let index = taken.trailingZeroBitCount
                body(UInt32(number << 6 | index), memory + index)
                taken &= taken - 1
            }
        }
    }

    @inlinable
    func forEach(inBlocks range: Range<Int>, _ body: (UInt32, UnsafeMutablePointer<Element>) -> Void) {
        for number in range {
            let block = allBlocks[number]
            guard let memory = block.memory else { continue }
            var taken = block.occupancy
            while taken != 0 {
                let index = taken.trailingZeroBitCount
                body(UInt32(number << 6 | index), memory + index)
                taken &= taken - 1
            }
        }
    }
}
