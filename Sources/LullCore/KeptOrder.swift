/// A submit whose value is kept, where the oldest one may have to make room: the companion of that value.
package final class KeptSubmit {
    /// Its place in the order of submits.
    fileprivate let number: UInt64
    /// The slot of its key.
    fileprivate let slot: UInt32
    /// What the owner wants to go with the value.
    package let companion: Companion?
    fileprivate var isQueued = true

    fileprivate init(number: UInt64, slot: UInt32, _ companion: Companion?) {
        self.number = number
        self.slot = slot
        self.companion = companion
    }
}

/// The submits that are kept, in order, and some that are kept no more: those leave the queue when they are its first,
/// or when they are too many.
struct KeptOrder {
    private var submits: ArraySlice<KeptSubmit> = []
    private var count: UInt64 = 0

    mutating func add(at slot: UInt32, _ companion: Companion?, bound: Int) -> KeptSubmit {
        count += 1
        let submit = KeptSubmit(number: count, slot: slot, companion)
        submits.append(submit)
        if submits.count > bound { compact() }
        return submit
    }

    /// Adds a submit again that was not kept for a while.
    mutating func putBack(_ submit: KeptSubmit) {
        if submit.isQueued { return }
        submit.isQueued = true
        let place = submits.firstIndex { $0.number > submit.number } ?? submits.endIndex
        submits.insert(submit, at: place)
    }

    mutating func takeFirst() -> (submit: KeptSubmit, slot: UInt32)? {
        guard let first = submits.popFirst() else { return nil }
        first.isQueued = false
        return (first, first.slot)
    }

    /// Removes those that nothing but this queue refers to.
    private mutating func compact() {
        var kept: ArraySlice<KeptSubmit> = []
        while var submit = submits.popFirst() {
            if !isKnownUniquelyReferenced(&submit) { kept.append(submit) }
        }
        submits = kept
    }
}
