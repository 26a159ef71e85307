/// Memory that an ``Engine`` no longer needs, for its shell to free where it holds no lock.
///
/// To free a small block can take long: it may be all that has kept half a gigabyte beside it from going back to the system.
/// The blocks are linked through their own first words, so adding one costs nothing. A shell that never takes them leaves no
/// more than 16 of them behind.
@frozen
public struct Discarded: ~Copyable {
    @usableFromInline var first: UnsafeMutableRawPointer?
    @usableFromInline var count: Int

    @inlinable
    static var limit: Int { 16 }

    @inlinable
    init() {
        count = 0
    }

    @inlinable
    deinit {
        if first != nil { Self.free(first) }
    }

    /// Frees the memory; call it without holding a lock.
    @inlinable
    public consuming func free() {}

    /// Adds a block of at least a word, aligned to it.
    @inlinable
    mutating func add(_ block: UnsafeMutableRawPointer) {
        if count == Self.limit { self = Discarded() }
        block.storeBytes(of: first, as: UnsafeMutableRawPointer?.self)
        first = block
        count += 1
    }

    /// Hands all blocks to the caller.
    @inlinable
    mutating func take() -> Discarded {
        let all = self
        self = Discarded()
        return all
    }

    @inlinable
    @inline(never)
    static func free(_ chain: UnsafeMutableRawPointer?) {
        var chain = chain
        while let block = chain {
            chain = block.load(as: UnsafeMutableRawPointer?.self)
            block.deallocate()
        }
    }
}
