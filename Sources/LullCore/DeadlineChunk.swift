extension DeadlineQueue {
    /// When to look at a gate.
    @frozen
    @usableFromInline
    struct Entry {
        /// When to look, in nanoseconds.
        @usableFromInline var at: Int64
        /// At which gate.
        @usableFromInline var slot: UInt32
        /// The order in which bursts began, modulo 2³²: it breaks ties, and tells a slot's present burst from an
        /// earlier one.
        @usableFromInline var birth: UInt32

        @inlinable
        init(at: CoreInstant, slot: UInt32, birth: UInt64) {
            self.at = at.nanoseconds
            self.slot = slot
            self.birth = UInt32(truncatingIfNeeded: birth)
        }

        /// Whether this entry's burst began before the other's; right for bursts less than 2³¹ apart.
        @inlinable
        func isOlder(than other: Entry) -> Bool {
            Int32(bitPattern: birth &- other.birth) < 0
        }
    }

    /// Some entries in memory of their own, and the chunk before it in a chain.
    ///
    /// A chain grows by chunks that never move, so that adding an entry copies no others. In arrays, besides, each move of an
    /// entry asked whether its array was shared, which made it all take twice as long.
    @frozen
    @usableFromInline
    struct Chunk {
        @frozen
        @usableFromInline
        struct Header {
            @usableFromInline var next: UnsafeMutablePointer<Header>?
            @usableFromInline var count: UInt32
            @usableFromInline var capacity: UInt32

            @inlinable
            init(capacity: Int, next: UnsafeMutablePointer<Header>?) {
                self.next = next
                count = 0
                self.capacity = UInt32(capacity)
            }
        }

        @usableFromInline let header: UnsafeMutablePointer<Header>

        @inlinable
        init(_ header: UnsafeMutablePointer<Header>) {
            self.header = header
        }

        @inlinable
        init(capacity: Int, next: UnsafeMutablePointer<Header>?) {
            // The entries come after the header, at a multiple of their own size.
            let size = MemoryLayout<Entry>.stride
            let memory = UnsafeMutableRawPointer.allocate(
                byteCount: (capacity + 1) * size, alignment: MemoryLayout<Entry>.alignment)
            (memory + size).bindMemory(to: Entry.self, capacity: capacity)
            header = memory.bindMemory(to: Header.self, capacity: 1)
            header.initialize(to: Header(capacity: capacity, next: next))
        }

        /// The number of entries of the smallest chunks, and of the largest ones.
        @inlinable
        static var smallest: Int { 4 }
        @inlinable
        static var largest: Int { 256 }

        /// The capacity of a chunk that follows one of this capacity.
        @inlinable
        static func capacity(after capacity: UInt32) -> Int { min(Int(capacity) * 4, largest) }

        @inlinable
        func deallocate() { UnsafeMutableRawPointer(header).deallocate() }

        @inlinable
        var memory: UnsafeMutablePointer<Entry> {
            (UnsafeMutableRawPointer(header) + MemoryLayout<Entry>.stride).assumingMemoryBound(to: Entry.self)
        }

        @inlinable
        var entries: UnsafeMutableBufferPointer<Entry> {
            UnsafeMutableBufferPointer(start: memory, count: Int(header.pointee.count))
        }

        @inlinable
        var isEmpty: Bool { header.pointee.count == 0 }

        @inlinable
        var isFull: Bool { header.pointee.count == header.pointee.capacity }

        /// The last entry of a chunk that has one.
        @inlinable
        var last: Entry { memory[Int(header.pointee.count) - 1] }

        /// Adds an entry to a chunk that is not full.
        @inlinable
        @inline(__always)
        func append(_ entry: Entry) {
            (memory + Int(header.pointee.count)).initialize(to: entry)
            header.pointee.count += 1
        }

        /// Takes the last entry of a chunk that has one.
        @inlinable
        @inline(__always)
        func removeLast() -> Entry {
            header.pointee.count -= 1
            return memory[Int(header.pointee.count)]
        }
    }
}
