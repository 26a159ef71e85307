extension DeadlineQueue {
    /// When to look at a gate.
    struct Entry {
        /// The instant, in nanoseconds.
        var at: Int64
        /// The slot of the gate.
        var slot: UInt32
        /// The number of the gate's burst, modulo 2³²: it breaks ties, and tells the present burst of a slot from an
        /// earlier one.
        var burst: UInt32

        init(at: CoreInstant, slot: UInt32, burst: UInt64) {
            self.at = at.nanoseconds
            self.slot = slot
            self.burst = UInt32(truncatingIfNeeded: burst)
        }

        /// Whether this entry's burst began before the other's; right for bursts less than 2³¹ apart.
        func isOlder(than other: Entry) -> Bool { isOlder(than: other.burst) }

        /// Whether this entry's burst began before the one with this number; right for bursts less than 2³¹ apart.
        func isOlder(than other: UInt32) -> Bool { Int32(bitPattern: burst &- other) < 0 }
    }

    /// A handle on memory for some entries, and the next chunk of a chain.
    ///
    /// This type alone touches that memory; the owner of the handle deallocates it. A chain grows by chunks that never
    /// move, so that adding an entry copies no others. Arrays checked at each move of an entry whether they were shared,
    /// which doubled the time of the row `due`.
    struct Chunk {
        private struct Header {
            var next: Chunk?
            var count: UInt32
            let capacity: UInt32
        }

        private let header: UnsafeMutablePointer<Header>

        /// Allocates an empty chunk.
        init(capacity: Int, next: Chunk?) {
            // The entries follow the header at a multiple of their own size.
            let size = MemoryLayout<Entry>.stride
            let memory = UnsafeMutableRawPointer.allocate(
                byteCount: (capacity + 1) * size, alignment: MemoryLayout<Entry>.alignment)
            (memory + size).bindMemory(to: Entry.self, capacity: capacity)
            header = memory.bindMemory(to: Header.self, capacity: 1)
            header.initialize(to: Header(next: next, count: 0, capacity: UInt32(capacity)))
        }

        func deallocate() { UnsafeMutableRawPointer(header).deallocate() }

        /// Deallocates a chunk and all that follow it.
        static func deallocate(chain: Chunk?) {
            var rest = chain
            while let chunk = rest {
                rest = chunk.next
                chunk.deallocate()
            }
        }

        /// The capacity of the smallest chunks, and of the largest ones.
        static let smallest = 4
        static let largest = 256

        /// The capacity of the chunk that is put before this one when it is full.
        var nextCapacity: Int { min(capacity * 4, Self.largest) }

        /// The next chunk of the chain.
        var next: Chunk? {
            get { header.pointee.next }
            nonmutating set { header.pointee.next = newValue }
        }

        var capacity: Int { Int(header.pointee.capacity) }
        var count: Int { Int(header.pointee.count) }
        var isEmpty: Bool { header.pointee.count == 0 }
        var isFull: Bool { header.pointee.count == header.pointee.capacity }

        private var memory: UnsafeMutablePointer<Entry> {
            (UnsafeMutableRawPointer(header) + MemoryLayout<Entry>.stride).assumingMemoryBound(to: Entry.self)
        }

        var entries: UnsafeMutableBufferPointer<Entry> { UnsafeMutableBufferPointer(start: memory, count: count) }

        /// The last entry. The chunk must not be empty.
        var last: Entry { memory[count - 1] }

        /// Adds an entry. The chunk must not be full.
        func append(_ entry: Entry) {
            (memory + count).initialize(to: entry)
            header.pointee.count += 1
        }

        /// Removes and returns the last entry. The chunk must not be empty.
        func removeLast() -> Entry {
            header.pointee.count -= 1
            return memory[count]
        }
    }
}
