/// The instants at which gates have to be looked at: a priority queue for times that never run backwards.
///
/// It is a radix heap. The highest bit in which an entry's instant differs from the last instant popped is the number of
/// its bucket, so that adding an entry costs the same however many there are and however far they lie apart. When the front
/// bucket is reached, its entries are redistributed to the buckets below, each entry at most once a bit. Entries are
/// written and read in sequence, which makes it faster than a binary heap with its jumps through memory.
///
/// No call exceeds its budget: a bucket is a chain of chunks, and redistributing one can be interrupted.
///
/// An entry cannot be removed before it is popped: the caller checks whether it is still current.
///
/// The unsafe memory, chunks and buckets, pays in the rows `due` and `growth`: arrays checked at each move of an entry
/// whether they were shared.
struct DeadlineQueue: ~Copyable {
    struct Bucket {
        /// Entries in any order. Only the first chunk has room. Nil if there are no entries.
        var chain: Chunk?
        /// An entry at the earliest instant, if there are any.
        var front = Entry(at: .farFuture, slot: .max, burst: 0)
    }

    /// Bucket `b` holds the entries whose highest bit that differs from `last` is `b - 1`; `ties` stands for bucket 0. Nil
    /// until there is more than one entry at a time.
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

    /// The earliest instant; while chains are checked possibly an earlier one, but not earlier than what has been popped.
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

    /// Removes and returns the earliest entry, if it is not later than `now`; of several at one instant the one whose burst
    /// is oldest.
    ///
    /// - Parameter budget: How many entries may be redistributed; afterwards what is left of it. Once it is used up there
    ///   may be no answer yet, and ``next`` is not later than `now`: call again.
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
