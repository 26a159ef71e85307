// Stale entries are found by handing entries out: the caller pushes those that are current again.
extension DeadlineQueue {
    /// Whether entries have been handed out and more are to come.
    var isCompacting: Bool { uncompacted != 0 || detached != nil }

    /// Checks some entries, and drops those that are not to be kept.
    ///
    /// - Parameters:
    ///   - limit: How many entries are checked.
    ///   - keeps: Whether to keep an entry that this pass of compaction has come to. Each pass has another number than
    ///     those before it, from 1 to 127, what a slot has bits for; then they begin again at 1. An entry that was detached
    ///     outside a pass comes with 0, since a pass may have come to it before.
    mutating func compact(limit: Int, keeping keeps: (_ entry: Entry, _ pass: UInt8) -> Bool) {
        // An interrupted redistribution would be no part of the pass, and must not be missed for ever.
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
    /// A pass goes from the lowest bucket upwards: entries only ever move down, so that none is handed out twice. One that is
    /// redistributed meanwhile may be missed, which cannot happen more than 64 times in a row.
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
