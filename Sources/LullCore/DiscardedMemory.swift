/// Memory that a ``SlotEngine`` no longer needs, to be freed by the driver while it holds no lock.
///
/// Freeing a small block can take long: it may be all that has kept half a gigabyte beside it from going back to the
/// system (rows `holds` and `stalls`). The blocks are linked through their own first words, so that adding one costs
/// nothing. A driver that never takes them leaves at most 16 of them behind.
@frozen
package struct DiscardedMemory: ~Copyable {
    var first: UnsafeMutableRawPointer?
    var count: Int

    static let limit = 16

    package init() {
        count = 0
    }

    deinit {
        if first != nil { Self.free(first) }
    }

    /// Frees the memory; call it without holding a lock.
    package consuming func free() {}

    /// Adds a block of at least a word, aligned to it.
    mutating func add(_ block: UnsafeMutableRawPointer) {
        if count == Self.limit { self = DiscardedMemory() }
        block.storeBytes(of: first, as: UnsafeMutableRawPointer?.self)
        first = block
        count += 1
    }

    /// Hands all blocks to the caller.
    package mutating func take() -> DiscardedMemory {
        let all = self
        self = DiscardedMemory()
        return all
    }

    @inline(never)
    static func free(_ blocks: UnsafeMutableRawPointer?) {
        var next = blocks
        while let block = next {
            next = block.load(as: UnsafeMutableRawPointer?.self)
            block.deallocate()
        }
    }
}
