// How entries that no longer hold are found: the queue hands out its entries, a caller puts back those that hold.
extension DeadlineQueue {
    /// Whether entries have been handed out and more are to come.
    @inlinable
    var isCompacting: Bool { uncompacted > 0 || detached != nil }

    /// Begins to hand out all entries, but not those that are about to be popped.
    ///
    /// Every pass has another number than the ones before it, from 1 on. An entry that is in the queue for long is handed out
    /// once in 64 passes at least, since it can only be missed when it is dealt out meanwhile; so the numbers may begin anew
    /// after 127: that is what a slot has bits for.
    @inlinable
    mutating func beginCompaction() {
        uncompacted = Self.width - 1
        pass = pass == 127 ? 1 : pass + 1
    }

    /// Takes the next entry of a pass of compaction, or nil if it has ended. An entry that holds is pushed again.
    @inlinable
    mutating func takeToCompact() -> Entry? {
        if detached == nil {
            let left = occupied & ~(.max << UInt64(uncompacted))
            guard left != 0 else {
                uncompacted = 0
                return nil
            }
            uncompacted = 63 - left.leadingZeroBitCount
            detach(bucket: uncompacted + 1)
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
        guard ties.count == 0, moving == nil, occupied != 0, let buckets else { return nil }
        return buckets[occupied.trailingZeroBitCount + 1].front
    }

    /// Detaches the bucket of ``frontEntry``, to be looked through with ``takeDetached()``.
    @inlinable
    mutating func detachFront() {
        if detached == nil, occupied != 0 { detach(bucket: occupied.trailingZeroBitCount + 1) }
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
