/// A submit whose value is kept, where the oldest one may have to make room: the companion of that value.
package final class KeptSubmit {
    /// Its place in the order of submits.
    fileprivate let number: UInt64
    /// The slot of its key.
    fileprivate let slot: UInt32
    /// What the owner wants to go with the value.
    package let companion: Companion?
    fileprivate var isQueued = true
    /// The one behind it in the queue.
    fileprivate var next: KeptSubmit?

    fileprivate init(number: UInt64, slot: UInt32, _ companion: Companion?) {
        self.number = number
        self.slot = slot
        self.companion = companion
    }
}

/// The submits that are kept, in order, and some that are kept no more: those leave the queue when they are its first,
/// or when they are too many.
///
/// A list: an array that is taken from the front would be 5 kB of every program (`make bench ROWS=building`).
struct KeptOrder: ~Copyable {
    private var first: KeptSubmit?
    private var last: KeptSubmit?
    private(set) var queued = 0
    private var count: UInt64 = 0

    deinit {
        // One after the other: releasing the first would recurse through all.
        var submit = first
        while let next = submit?.next {
            submit?.next = nil
            submit = next
        }
    }

    mutating func add(at slot: UInt32, _ companion: Companion?, bound: Int) -> KeptSubmit {
        count += 1
        let submit = KeptSubmit(number: count, slot: slot, companion)
        insert(submit, behind: last)
        // Those that are kept no more are mostly the oldest: so the others are hardly ever looked at.
        for _ in 0..<2 where first !== submit && isKnownUniquelyReferenced(&first) { _ = takeFirst() }
        if queued > bound { compact() }
        return submit
    }

    /// Adds submits again that were not kept for a while, in their order.
    mutating func putBack(_ submits: some Sequence<KeptSubmit>) {
        var place: KeptSubmit?
        for submit in submits where !submit.isQueued {
            submit.isQueued = true
            var next = place == nil ? first : place?.next
            while let other = next, other.number < submit.number {
                place = other
                next = other.next
            }
            insert(submit, behind: place)
            place = submit
        }
    }

    mutating func takeFirst() -> (submit: KeptSubmit, slot: UInt32)? {
        guard let submit = first else { return nil }
        first = submit.next.take()
        if first == nil { last = nil }
        submit.isQueued = false
        queued -= 1
        return (submit, submit.slot)
    }

    private mutating func insert(_ submit: KeptSubmit, behind place: KeptSubmit?) {
        if let place {
            submit.next = place.next
            place.next = submit
        } else {
            submit.next = first
            first = submit
        }
        if submit.next == nil { last = submit }
        queued += 1
    }

    /// Removes those that nothing but this queue refers to.
    private mutating func compact() {
        var rest = first.take()
        last = nil
        queued = 0
        while var submit = rest {
            rest = submit.next.take()
            if !isKnownUniquelyReferenced(&submit) { insert(submit, behind: last) }
        }
    }
}
