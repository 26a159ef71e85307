// How entries that no longer hold are found: the queue hands out its entries, a caller puts back those that hold.
extension DeadlineQueue {
    /// Whether entries have been handed out and more are to come.
    @inlinable
    var isCompacting: Bool { uncompacted != 0 || detached != nil }

    /// Begins to hand out all entries, but not those that are about to be popped.
    ///
    /// It goes from the lowest bucket upwards: entries only ever move down, so that none is handed out twice. One that is dealt
    /// out meanwhile may be missed, which cannot happen more than 64 times in a row. Every pass has another number than the
    /// ones before it, from 1 on; after 127, what a slot has bits for, they begin anew.
    @inlinable
    mutating func beginCompaction() {
        uncompacted = .max
        pass = pass == 127 ? 1 : pass + 1
    }

    /// Takes the next entry of a pass of compaction, or of what has been detached otherwise; nil if the pass has ended. An entry that holds
    /// is pushed again.
    @inlinable
    mutating func takeToCompact() -> Entry? {
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
        return takeDetached()
    }

    /// Takes an entry of what is detached, if there is one.
    @inlinable
    mutating func takeDetached() -> Entry? {
        guard let header = detached else { return nil }
        let entry = Chunk(header).removeLast()
        if Chunk(header).isEmpty {
            detached = header.pointee.next
            recycle(header)
        }
        count -= 1
        if count == 0 { trim() }
        return entry
    }

    /// An entry at the earliest instant of those that are not about to be popped, nor detached.
    @inlinable
    var frontEntry: Entry? {
        guard let buckets else { return count > 0 ? only : nil }
        guard ties.count == 0, moving == nil, occupied != 0 else { return nil }
        return buckets[occupied.trailingZeroBitCount + 1].front
    }

    /// Detaches the bucket of ``frontEntry``, to be looked through with ``takeDetached()``.
    @inlinable
    mutating func detachFront() {
        if buckets == nil, count > 0 { makeBuckets() }
        guard detached == nil, occupied != 0 else { return }
        detach(bucket: occupied.trailingZeroBitCount + 1)
        isDetachedToCompact = false
    }

    @inlinable
    mutating func detach(bucket number: Int) {
        guard let buckets else { return }
        detachedFront = buckets[number].front.at
        detached = detach(buckets + number)
    }

    /// Goes on dealing out, if that has been interrupted.
    @inlinable
    mutating func deal(atMost limit: Int) {
        guard moving != nil, let buckets else { return }
        var budget = limit
        moving = deal(moving, buckets, &budget)
    }

    /// Drops all entries and gives their memory back.
    @inlinable
    mutating func removeAll() {
        let (last, pass) = (last, pass)
        self = DeadlineQueue()
        self.last = last
        self.pass = pass
    }
}
