/// Numbered places for elements that do not move: a place is taken, used by its number, and given back.
///
/// Places come in blocks of 64 with one word of occupancy each. A block whose last element has gone is given back to
/// the allocator, so that memory follows the number of elements down as well as up. The first block starts small: a
/// debouncer with one key needs one place.
@frozen
@usableFromInline
struct Slab<Element>: ~Copyable {
    @usableFromInline var blocks: [UnsafeMutablePointer<Element>?]
    /// A bit for every place of a block that is taken.
    @usableFromInline var occupancy: [UInt64]
    /// The blocks that have a free place.
    @usableFromInline var vacant: [UInt32]
    /// The number of places that the first block has memory for.
    @usableFromInline var firstCapacity: Int
    /// The number of elements.
    @usableFromInline var count: Int

    @inlinable
    init() {
        blocks = []
        occupancy = []
        vacant = []
        firstCapacity = 0
        count = 0
    }

    @inlinable
    deinit {
        for block in blocks.indices {
            guard let memory = blocks[block] else { continue }
            var taken = occupancy[block]
            while taken != 0 {
                (memory + taken.trailingZeroBitCount).deinitialize(count: 1)
                taken &= taken - 1
            }
            memory.deallocate()
        }
    }

    /// The element at a place that is taken. The pointer is good until the next ``insert(_:)`` or ``remove(_:)``.
    @inlinable
    subscript(place: UInt32) -> UnsafeMutablePointer<Element> {
        assert(contains(place), "no element at place \(place)")
        // Proof: a place that is taken lies in a block that has memory.
        return blocks[Int(place >> 6)].unsafelyUnwrapped + Int(place & 63)
    }

    /// Whether a place is taken.
    @inlinable
    func contains(_ place: UInt32) -> Bool {
        let block = Int(place >> 6)
        return block < occupancy.count && occupancy[block] & (1 << UInt64(place & 63)) != 0
    }

    /// Takes a free place for an element.
    @inlinable
    mutating func insert(_ element: consuming Element) -> UInt32 {
        let block = blockWithRoom()
        let index = (~occupancy[block]).trailingZeroBitCount
        if block == 0, index >= firstCapacity { growFirst() }
        if blocks[block] == nil { blocks[block] = .allocate(capacity: 64) }
        (blocks[block].unsafelyUnwrapped + index).initialize(to: element)
        occupancy[block] |= 1 << UInt64(index)
        // The block came from the end of `vacant`.
        if occupancy[block] == .max { vacant.removeLast() }
        count += 1
        return UInt32(block << 6 | index)
    }

    /// Gets the memory for a first element, so that inserting it takes no longer than it must.
    @inlinable
    mutating func prepare() {
        guard firstCapacity == 0 else { return }
        _ = blockWithRoom()
        growFirst()
    }

    @inlinable
    mutating func blockWithRoom() -> Int {
        if let block = vacant.last { return Int(block) }
        precondition(blocks.count < (1 << 25) - 1, "more than two billion keys")
        blocks.append(nil)
        occupancy.append(0)
        vacant.append(UInt32(blocks.count - 1))
        return blocks.count - 1
    }

    @inlinable
    mutating func growFirst() {
        let capacity = firstCapacity == 0 ? 1 : min(firstCapacity * 4, 64)
        let memory = UnsafeMutablePointer<Element>.allocate(capacity: capacity)
        if let old = blocks[0] {
            // Growing happens when all of its places are taken, and so all of them are initialised.
            memory.moveInitialize(from: old, count: firstCapacity)
            old.deallocate()
        }
        blocks[0] = memory
        firstCapacity = capacity
    }

    /// Gives a place back, and returns the element that was there.
    @inlinable
    mutating func remove(_ place: UInt32) -> Element {
        let block = Int(place >> 6)
        let element = self[place].move()
        if occupancy[block] == .max { vacant.append(UInt32(block)) }
        occupancy[block] &= ~(1 << UInt64(place & 63))
        count -= 1
        if occupancy[block] == 0, block > 0 {
            blocks[block].unsafelyUnwrapped.deallocate()
            blocks[block] = nil
        }
        if count == 0, blocks.count > 1 { trim() }
        return element
    }

    /// With no element left, forgets all blocks but the first.
    @inlinable
    mutating func trim() {
        blocks = [blocks[0]]
        occupancy = [0]
        vacant = [0]
        if firstCapacity == 64 {
            blocks[0].unsafelyUnwrapped.deallocate()
            blocks[0] = nil
            firstCapacity = 0
        }
    }

    /// No element is at this place or a later one.
    @inlinable
    var bound: Int { blocks.count * 64 }

    /// The number of steps that ``forEach(_:)`` takes: a place may be taken high above many empty blocks.
    @inlinable
    var steps: Int { max(count, blocks.count) }

    /// Calls `body` with every place that is taken.
    @inlinable
    func forEach(_ body: (UInt32, UnsafeMutablePointer<Element>) -> Void) {
        for block in blocks.indices {
            guard let memory = blocks[block] else { continue }
            var taken = occupancy[block]
            while taken != 0 {
                let index = taken.trailingZeroBitCount
                body(UInt32(block << 6 | index), memory + index)
                taken &= taken - 1
            }
        }
    }
}
