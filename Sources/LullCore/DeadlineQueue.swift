/// The instants at which gates want to be looked at: a priority queue for times that never run backwards.
///
/// It is a radix heap. An entry lies in the bucket that is numbered by the highest bit in which its instant differs
/// from the last instant popped, so that adding one costs the same however many there are and however far they lie
/// apart; when the front bucket is reached its entries are dealt out to the buckets below, each entry at most once a
/// bit. Entries are written and read in sequence, which is what makes it faster than a binary heap with its jumps
/// through memory.
///
/// No call does more than it is told to: a bucket is a chain of chunks, and dealing one out can be interrupted.
///
/// An entry cannot be taken back: a caller that pops one asks whether it still holds.
@frozen
@usableFromInline
struct DeadlineQueue: ~Copyable {
    @frozen
    @usableFromInline
    struct Bucket {
        /// Entries in any order. Only the first chunk is not full. Nil if there are none.
        @usableFromInline var chain: UnsafeMutablePointer<Chunk.Header>?
        /// An entry at the earliest instant, if there are any.
        @usableFromInline var front: Entry

        @inlinable
        init() {
            front = Entry(at: .farFuture, slot: .max, birth: 0)
        }
    }

    /// Bucket `b` holds the entries whose highest bit that differs from `last` is `b - 1`; bucket 0 is `ties`. Nil as long as
    /// there has been no more than one entry at a time.
    @usableFromInline var buckets: UnsafeMutablePointer<Bucket>?
    /// The only entry, if there is one and no bucket: a debouncer with one key needs no more.
    @usableFromInline var only: Entry
    /// A bit for every bucket but the first that is not empty.
    @usableFromInline var occupied: UInt64
    /// Nothing earlier than this is ever added.
    @usableFromInline var last: Int64
    /// The entries at `last` itself, unless some of them are still to be dealt out.
    @usableFromInline var ties: TieQueue
    /// A chain that is being dealt out, since `last` has come to it.
    @usableFromInline var moving: UnsafeMutablePointer<Chunk.Header>?
    /// A chain whose entries a caller looks at, one by one, to put back those that hold.
    @usableFromInline var detached: UnsafeMutablePointer<Chunk.Header>?
    /// No detached entry is earlier.
    @usableFromInline var detachedFront: Int64
    /// Whether a pass of compaction has detached them.
    @usableFromInline var isDetachedToCompact: Bool
    /// A bit for every bucket but the first that a pass of compaction has yet to come to.
    @usableFromInline var uncompacted: UInt64
    /// The number of the latest pass of compaction.
    @usableFromInline var pass: UInt8
    /// Empty chunks of the smallest size, for the next buckets.
    @usableFromInline var spares: UnsafeMutablePointer<Chunk.Header>?
    @usableFromInline var spareCount: Int
    /// The number of entries.
    @usableFromInline var count: Int

    /// The number of buckets.
    @inlinable
    static var width: Int { 65 }

    @inlinable
    init() {
        only = Entry(at: .farFuture, slot: .max, birth: 0)
        occupied = 0
        last = .min
        ties = TieQueue()
        detachedFront = .max
        isDetachedToCompact = false
        uncompacted = 0
        pass = 0
        spareCount = 0
        count = 0
    }

    @inlinable
    deinit {
        Self.deallocate(moving)
        Self.deallocate(detached)
        Self.deallocate(spares)
        guard let buckets else { return }
        for number in 0..<Self.width { Self.deallocate(buckets[number].chain) }
        buckets.deallocate()
    }

    @inlinable
    static func deallocate(_ chain: UnsafeMutablePointer<Chunk.Header>?) {
        var chain = chain
        while let header = chain {
            chain = header.pointee.next
            Chunk(header).deallocate()
        }
    }

    /// The earliest instant there is; perhaps an earlier one, but not than what has been popped, while chains are being looked
    /// through.
    @inlinable
    var next: CoreInstant? {
        count > 0 ? CoreInstant(nanoseconds: min(front, detached == nil ? .max : detachedFront)) : nil
    }

    /// The earliest instant of what is not detached; the far future if there is nothing.
    @inlinable
    var front: Int64 {
        guard let buckets else { return count > 0 ? only.at : .max }
        if ties.count > 0 || moving != nil { return last }
        guard occupied != 0 else { return .max }
        return buckets[occupied.trailingZeroBitCount + 1].front.at
    }

    // MARK: - Adding

    /// Adds an entry at `last` or later.
    @inlinable
    mutating func push(_ entry: Entry) {
        assert(entry.at >= last, "an entry was added before the last instant popped: time ran backwards")
        count += 1
        if buckets == nil {
            if count == 1 {
                only = entry
                return
            }
            makeBuckets()
        }
        // Proof: they have just been made if there were none.
        place(entry, in: buckets.unsafelyUnwrapped)
    }

    /// Makes the buckets, for the only entry and others.
    @inlinable
    @inline(never)
    mutating func makeBuckets() {
        let made = UnsafeMutablePointer<Bucket>.allocate(capacity: Self.width)
        made.initialize(repeating: Bucket(), count: Self.width)
        buckets = made
        place(only, in: made)
    }

    /// Puts an entry where it belongs seen from the last instant popped.
    @inlinable
    @inline(__always)
    mutating func place(_ entry: Entry, in buckets: UnsafeMutablePointer<Bucket>) {
        let number = 64 - (entry.at ^ last).leadingZeroBitCount
        guard number > 0 else { return ties.push(entry) }
        let bucket = buckets + number
        if let chain = bucket.pointee.chain {
            if entry.at < bucket.pointee.front.at { bucket.pointee.front = entry }
            if !Chunk(chain).isFull { return Chunk(chain).append(entry) }
        } else {
            occupied |= 1 << UInt64(number - 1)
            bucket.pointee.front = entry
        }
        lengthen(bucket).append(entry)
    }

    /// Gives a bucket one more chunk.
    @inlinable
    @inline(never)
    mutating func lengthen(_ bucket: UnsafeMutablePointer<Bucket>) -> Chunk {
        let chunk: Chunk
        if let first = bucket.pointee.chain {
            chunk = Chunk(capacity: Chunk.capacity(after: first.pointee.capacity), next: first)
        } else if let spare = spares {
            spares = spare.pointee.next
            spareCount -= 1
            spare.pointee.next = nil
            chunk = Chunk(spare)
        } else {
            chunk = Chunk(capacity: Chunk.smallest, next: nil)
        }
        bucket.pointee.chain = chunk.header
        return chunk
    }

    // MARK: - Taking

    /// Takes the earliest entry, if it is not later than `now`; of several at one instant the one whose burst is
    /// oldest.
    ///
    /// - Parameter budget: How many entries may be dealt out; what is left of it afterwards. When it is used up there may be no
    ///   answer yet, and ``next`` is not later than `now`: call again.
    @inlinable
    mutating func pop(notAfter now: CoreInstant, budget: inout Int) -> Entry? {
        guard count > 0 else { return nil }
        guard let buckets else {
            guard only.at <= now.nanoseconds else { return nil }
            count = 0
            last = only.at
            return only
        }
        while true {
            if moving != nil {
                moving = deal(moving, buckets, &budget)
                if moving != nil { return nil }
            }
            if detached != nil, detachedFront <= front {
                guard detachedFront <= now.nanoseconds else { return nil }
                if detachedFront > last { reach(detachedFront, buckets) }
                detached = deal(detached, buckets, &budget)
                if detached != nil { return nil }
                continue
            }
            guard front <= now.nanoseconds else { return nil }
            if let entry = ties.pop() {
                count -= 1
                if count == 0 { trim() }
                return entry
            }
            guard occupied != 0 else { return nil }
            let bucket = buckets + occupied.trailingZeroBitCount + 1
            last = bucket.pointee.front.at
            let chain = detach(bucket)
            // An only entry needs not be dealt out.
            if chain.pointee.count == 1, chain.pointee.next == nil {
                let entry = Chunk(chain).removeLast()
                count -= 1
                recycle(chain)
                if count == 0 { trim() }
                return entry
            }
            moving = chain
        }
    }

    /// Lets time come to the front of what is detached; a bucket of the same range has to be dealt out then.
    @inlinable
    mutating func reach(_ instant: Int64, _ buckets: UnsafeMutablePointer<Bucket>) {
        let number = 64 - (instant ^ last).leadingZeroBitCount
        last = instant
        if occupied & (1 << UInt64(number - 1)) != 0 { moving = detach(buckets + number) }
    }

    /// Takes the chain out of a bucket that is not empty.
    @inlinable
    mutating func detach(_ bucket: UnsafeMutablePointer<Bucket>) -> UnsafeMutablePointer<Chunk.Header> {
        guard let buckets, let chain = bucket.pointee.chain else {
            preconditionFailure("a bucket without entries was detached: this is a bug in LullCore")
        }
        bucket.pointee.chain = nil
        occupied &= ~(1 << UInt64(bucket - buckets - 1))
        return chain
    }

    /// Moves entries of a chain to where they belong seen from the last instant popped.
    ///
    /// - Returns: What is left of the chain when the budget is used up.
    @inlinable
    mutating func deal(
        _ chain: UnsafeMutablePointer<Chunk.Header>?, _ buckets: UnsafeMutablePointer<Bucket>, _ budget: inout Int
    ) -> UnsafeMutablePointer<Chunk.Header>? {
        var chain = chain
        while let header = chain {
            // From the end on: then the oldest bursts come last, as they mostly have to.
            while budget > 0, !Chunk(header).isEmpty {
                budget -= 1
                place(Chunk(header).removeLast(), in: buckets)
            }
            guard Chunk(header).isEmpty else { return chain }
            chain = header.pointee.next
            recycle(header)
        }
        return nil
    }

    /// Keeps an empty chunk for the next bucket, or gives it back.
    @inlinable
    mutating func recycle(_ header: UnsafeMutablePointer<Chunk.Header>) {
        guard header.pointee.capacity == Chunk.smallest, spareCount < 32 else { return Chunk(header).deallocate() }
        header.pointee.next = spares
        spares = header
        spareCount += 1
    }

    /// With no entry left, keeps no more memory than one needs.
    @inlinable
    mutating func trim() {
        guard spareCount > 1, let first = spares else { return }
        Self.deallocate(first.pointee.next)
        first.pointee.next = nil
        spareCount = 1
    }
}
