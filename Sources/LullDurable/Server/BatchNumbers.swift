/// Numbers of batches: the server answers one that is repeated as the first time, if it is the latest of its slot.
package struct BatchNumbers {
    private var latest: Int64 = 0
    private var free: [Int] = []
    private var slots = 0

    package init() {}

    /// Takes a slot, and a number for the batch in it.
    package mutating func begin() -> (slot: Int, number: Int64) {
        latest += 1
        if let slot = free.popLast() { return (slot, latest) }
        slots += 1
        return (slots, latest)
    }

    package mutating func end(_ slot: Int) { free.append(slot) }
}
