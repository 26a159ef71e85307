/// A queue for use under a lock: each operation takes constant time, and none releases an element.
///
/// The elements are in chunks. Growing moves the elements of one chunk at most, and so does the first change after the
/// queue was copied. A removed element stays in memory until its chunk is used up. Used-up chunks are taken and
/// released without the lock.
struct Chunks<Element> {
    /// The number of elements in a chunk.
    let size: Int
    /// All but the last are full, and none is empty.
    var chunks: [[Element]] = []
    /// How many elements of the first chunk have been removed: never all of them.
    var removed = 0
    var count = 0
    /// Chunks of which every element has been removed.
    var usedUp: [[Element]] = []

    /// - Parameter limit: The largest number of elements, as far as it is known.
    init(for limit: Int) {
        size = min(max(limit, 16), 1024)
    }

    mutating func append(_ element: consuming Element) {
        if let last = chunks.indices.last, chunks[last].count < size {
            chunks[last].append(element)
        } else {
            chunks.append([element])
        }
        count += 1
    }

    var first: Element? { count == 0 ? nil : chunks[0][removed] }

    /// Removes the first element. The queue must not be empty.
    mutating func removeFirst() {
        removed += 1
        count -= 1
        guard removed == size else { return }
        usedUp.append(chunks.removeFirst())
        removed = 0
    }

    /// The elements in order.
    var all: some Sequence<Element> { chunks.joined().dropFirst(removed) }

    /// Takes the chunks that are used up. The caller releases them without the lock.
    mutating func takeUsedUp() -> [[Element]] {
        let taken = usedUp
        if !taken.isEmpty { usedUp = [] }
        return taken
    }
}
