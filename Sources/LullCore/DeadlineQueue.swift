/// The instants at which gates have to be looked at: a priority queue for times that never run backwards.
///
/// It is a radix heap. The highest bit in which an entry's instant differs from the last instant popped is the number
/// of its bucket, so that adding an entry costs the same however many there are and however far they lie apart. When
/// the front bucket is reached, its entries are redistributed to the buckets below, each entry at most once a bit.
/// Entries are written and read in sequence, which makes it faster than a binary heap with its jumps through memory.
///
/// No call exceeds its budget: a bucket is a chain of chunks, and redistributing one can be interrupted.
///
/// An entry cannot be removed before it is popped: the caller checks whether it is still current.
///
/// The unsafe memory, chunks and buckets, pays in the rows `due` and `growth`: arrays checked at each move of an entry
/// whether they were shared.
///
/// - Complexity: O(1) to add an entry; O(64) amortised to remove one, in steps of which a caller gives the budget.
struct DeadlineQueue: ~Copyable {
    struct Bucket {
        /// Entries in any order. Only the first chunk has room. Nil if there are no entries.
        var chain: Chunk?
        /// An entry at the earliest instant, if there are any.
        var front = Entry(at: .farFuture, slot: .max, burst: 0)
    }

    /// Bucket `b` holds the entries whose highest bit that differs from `last` is `b - 1`; `ties` stands for bucket 0.
    /// Nil until there is more than one entry at a time.
    var buckets: UnsafeMutablePointer<Bucket>?
    /// The only entry, if there is one and there are no buckets: a debouncer with one key needs no more.
    var only = Entry(at: .farFuture, slot: .max, burst: 0)
    /// A bit for every bucket but the first that is not empty.
    var occupied: UInt64 = 0
    /// The last instant popped. Nothing earlier is ever added.
    var last = Int64.min
    /// The entries at `last` itself, unless some of them are still to be redistributed.
    var ties = TieQueue()
    /// A chain that is being redistributed, since `last` has come to it.
    var redistributing: Chunk?
    /// A chain whose entries the caller checks one by one, and pushes again if they are current.
    var detached: Chunk?
    /// No detached entry is earlier.
    var detachedFront = Int64.max
    /// Whether a pass of compaction has detached the chain.
    var isDetachedToCompact = false
    /// A bit for every bucket but the first that a pass of compaction has yet to come to.
    var uncompacted: UInt64 = 0
    /// The number of the latest pass of compaction.
    var pass: UInt8 = 0
    /// Empty chunks of the smallest size, for the next buckets.
    var spares: Chunk?
    var spareCount = 0
    /// The number of entries.
    var count = 0

    /// The number of buckets.
    static let width = 65

    init() {}

    deinit {
        Chunk.deallocate(chain: redistributing)
        Chunk.deallocate(chain: detached)
        Chunk.deallocate(chain: spares)
        guard let buckets else { return }
        for number in 0..<Self.width { Chunk.deallocate(chain: buckets[number].chain) }
        buckets.deallocate()
    }

    /// The earliest instant; while chains are checked possibly an earlier one, but not earlier than what has been
    /// popped.
    var next: CoreInstant? {
        count > 0 ? CoreInstant(nanoseconds: min(front, detached == nil ? .max : detachedFront)) : nil
    }

    /// The earliest instant of what is not detached; the far future if there is nothing.
    private var front: Int64 {
        guard let buckets else { return count > 0 ? only.at : .max }
        if ties.count > 0 || redistributing != nil { return last }
        guard occupied != 0 else { return .max }
        return buckets[frontBucket].front.at
    }

    /// The number of the lowest bucket that is not empty. There must be one.
    var frontBucket: Int { occupied.trailingZeroBitCount + 1 }

    /// The bucket in which an instant belongs.
    func bucketNumber(of instant: Int64) -> Int { 64 - (instant ^ last).leadingZeroBitCount }

    // MARK: - Adding

    /// Adds an entry at the last instant popped or later.
    mutating func push(_ entry: Entry) {
        assert(entry.at >= last, "an entry was added before the last instant popped: time ran backwards")
        count += 1
        if buckets == nil, count == 1 {
            only = entry
        } else {
            insert(entry, into: buckets ?? makeBuckets())
        }
    }

    /// Allocates the buckets, and moves the only entry there.
    @inline(never)
    mutating func makeBuckets() -> UnsafeMutablePointer<Bucket> {
        let made = UnsafeMutablePointer<Bucket>.allocate(capacity: Self.width)
        made.initialize(repeating: Bucket(), count: Self.width)
        buckets = made
        insert(only, into: made)
        return made
    }

    /// Adds an entry to its bucket.
    private mutating func insert(_ entry: Entry, into buckets: UnsafeMutablePointer<Bucket>) {
        let number = bucketNumber(of: entry.at)
        guard number > 0 else { return ties.push(entry) }
        let bucket = buckets + number
        if let chunk = bucket.pointee.chain {
            if entry.at < bucket.pointee.front.at { bucket.pointee.front = entry }
            if !chunk.isFull { return chunk.append(entry) }
        } else {
            occupied |= 1 << UInt64(number - 1)
            bucket.pointee.front = entry
        }
        addChunk(to: bucket).append(entry)
    }

    /// Puts one more chunk at the front of a bucket's chain.
    @inline(never)
    private mutating func addChunk(to bucket: UnsafeMutablePointer<Bucket>) -> Chunk {
        let chunk: Chunk
        if let first = bucket.pointee.chain {
            chunk = Chunk(capacity: first.nextCapacity, next: first)
        } else if let spare = spares {
            spares = spare.next
            spareCount -= 1
            spare.next = nil
            chunk = spare
        } else {
            chunk = Chunk(capacity: Chunk.smallest, next: nil)
        }
        bucket.pointee.chain = chunk
        return chunk
    }

    // MARK: - Removing

    /// Removes and returns the earliest entry, if it is not later than `now`; of several at one instant the one whose
    /// burst is oldest.
    ///
    /// - Parameter budget: How many entries may be redistributed; afterwards what is left of it. Once it is used up
    ///   there may be no answer yet, and ``next`` is not later than `now`: call again.
    mutating func pop(notAfter now: CoreInstant, budget: inout Int) -> Entry? {
        guard count > 0 else { return nil }
        guard let buckets else {
            guard only.at <= now.nanoseconds else { return nil }
            count = 0
            last = only.at
            return only
        }
        while true {
            if redistributing != nil {
                redistributing = redistribute(redistributing, into: buckets, &budget)
                if redistributing != nil { return nil }
            }
            if detached != nil, detachedFront <= front {
                guard detachedFront <= now.nanoseconds else { return nil }
                if detachedFront > last { advance(to: detachedFront, buckets) }
                detached = redistribute(detached, into: buckets, &budget)
                if detached != nil { return nil }
                continue
            }
            guard front <= now.nanoseconds else { return nil }
            if let entry = ties.pop() {
                noteRemoval()
                return entry
            }
            guard occupied != 0 else { return nil }
            let number = frontBucket
            last = buckets[number].front.at
            let chunk = removeChain(of: number, buckets)
            // A single entry need not be redistributed.
            if chunk.count == 1, chunk.next == nil {
                let entry = chunk.removeLast()
                recycle(chunk)
                noteRemoval()
                return entry
            }
            redistributing = chunk
        }
    }

    /// Moves `last` to the front of what is detached; a bucket of the same range has to be redistributed then.
    private mutating func advance(to instant: Int64, _ buckets: UnsafeMutablePointer<Bucket>) {
        let number = bucketNumber(of: instant)
        last = instant
        if occupied & (1 << UInt64(number - 1)) != 0 { redistributing = removeChain(of: number, buckets) }
    }

    /// Removes and returns the chain of a bucket that is not empty.
    mutating func removeChain(of number: Int, _ buckets: UnsafeMutablePointer<Bucket>) -> Chunk {
        guard let chain = buckets[number].chain else {
            preconditionFailure("a bucket without entries was detached: this is a bug in LullCore")
        }
        buckets[number].chain = nil
        occupied &= ~(1 << UInt64(number - 1))
        return chain
    }

    /// Moves entries of a chain to where they belong seen from the last instant popped.
    ///
    /// - Returns: What is left of the chain when the budget is used up.
    mutating func redistribute(
        _ chain: Chunk?, into buckets: UnsafeMutablePointer<Bucket>, _ budget: inout Int
    ) -> Chunk? {
        var rest = chain
        while let chunk = rest {
            // From the end: the oldest bursts then come last, where they mostly have to be.
            while budget > 0, !chunk.isEmpty {
                budget -= 1
                insert(chunk.removeLast(), into: buckets)
            }
            guard chunk.isEmpty else { return chunk }
            rest = chunk.next
            recycle(chunk)
        }
        return nil
    }

    /// Counts an entry as removed. With no entry left, one spare chunk is kept.
    mutating func noteRemoval() {
        count -= 1
        guard count == 0, spareCount > 1, let first = spares else { return }
        Chunk.deallocate(chain: first.next)
        first.next = nil
        spareCount = 1
    }

    /// Keeps an empty chunk for the next bucket, or deallocates it.
    mutating func recycle(_ chunk: Chunk) {
        guard chunk.capacity == Chunk.smallest, spareCount < 32 else { return chunk.deallocate() }
        chunk.next = spares
        spares = chunk
        spareCount += 1
    }
}

// Stale entries are found by handing entries out: the caller pushes those that are current again.
extension DeadlineQueue {
    /// Whether entries have been handed out and more are to come.
    var isCompacting: Bool { uncompacted != 0 || detached != nil }

    /// Checks some entries, and drops those that are not to be kept.
    ///
    /// - Parameters:
    ///   - limit: How many entries are checked.
    ///   - keeps: Whether to keep an entry that this pass of compaction has come to. Each pass has another number than
    ///     those before it, from 1 to 127, what a slot has bits for; then they begin again at 1. An entry that was
    ///     detached outside a pass comes with 0, since a pass may have come to it before.
    mutating func compact(limit: Int, keeping keeps: (_ entry: Entry, _ pass: UInt8) -> Bool) {
        // An interrupted redistribution would be no part of the pass, and must not be missed forever.
        if redistributing != nil, let buckets {
            var budget = limit
            redistributing = redistribute(redistributing, into: buckets, &budget)
        }
        if !isCompacting, redistributing == nil { beginPass() }
        for _ in 0..<limit {
            guard let entry = nextToCompact() else { return }
            if keeps(entry, isDetachedToCompact ? pass : 0) { push(entry) }
        }
    }

    /// Begins to hand out all entries but those that are about to be popped.
    ///
    /// A pass goes from the lowest bucket upwards: entries only ever move down, so that none is handed out twice. One
    /// that is redistributed meanwhile may be missed, which cannot happen more than 64 times in a row.
    mutating func beginPass() {
        uncompacted = .max
        pass = pass == 63 ? 1 : pass + 1
    }

    /// Removes and returns the next entry of a pass, or of what has been detached otherwise; nil if the pass has ended.
    mutating func nextToCompact() -> Entry? {
        if detached == nil {
            let left = occupied & uncompacted
            guard left != 0 else {
                uncompacted = 0
                return nil
            }
            let number = left.trailingZeroBitCount + 1
            uncompacted = .max << UInt64(number)
            detach(bucket: number)
            isDetachedToCompact = true
        }
        return popDetached()
    }

    /// Removes and returns an entry of what is detached, if there is one.
    mutating func popDetached() -> Entry? {
        guard let chunk = detached else { return nil }
        let entry = chunk.removeLast()
        if chunk.isEmpty {
            detached = chunk.next
            recycle(chunk)
        }
        noteRemoval()
        return entry
    }

    /// An entry at the earliest instant of those that are neither about to be popped nor detached.
    var frontEntry: Entry? {
        guard let buckets else { return count > 0 ? only : nil }
        guard ties.count == 0, redistributing == nil, occupied != 0 else { return nil }
        return buckets[frontBucket].front
    }

    /// Detaches the bucket of ``frontEntry``, to be checked with ``popDetached()``.
    mutating func detachFront() {
        if buckets == nil, count > 0 { _ = makeBuckets() }
        guard detached == nil, occupied != 0 else { return }
        detach(bucket: frontBucket)
        isDetachedToCompact = false
    }

    private mutating func detach(bucket number: Int) {
        guard let buckets else { return }
        detachedFront = buckets[number].front.at
        detached = removeChain(of: number, buckets)
    }

    /// Removes all entries and deallocates their memory.
    mutating func removeAll() {
        let (last, pass) = (last, pass)
        self = DeadlineQueue()
        self.last = last
        self.pass = pass
    }
}

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
    /// move, so that adding an entry copies no others. Arrays checked at each move of an entry whether they were
    /// shared, which doubled the time of the row `due`.
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
