/// A queue for use under a lock: nothing that it does there takes longer the more it holds, and nothing is released there.
///
/// Elements lie in chunks. Growing moves the elements of one chunk at most, and so does the first change after the whole
/// was copied. What is removed stays in memory until its chunk is used up; then the chunk is kept apart, to be taken and
/// released when the lock has been let go.
@usableFromInline
struct Chunks<Element> {
    /// How many elements a chunk has.
    @usableFromInline let size: Int
    /// All but the last are full, and none is empty.
    @usableFromInline var chunks: [[Element]] = []
    /// How many elements of the first chunk have been removed: fewer than it has.
    @usableFromInline var removed = 0
    @usableFromInline var count = 0
    /// Chunks of which every element has been removed.
    @usableFromInline var usedUp: [[Element]] = []

    /// - Parameter limit: How many elements there will be at most, as far as that is known.
    init(for limit: Int) {
        size = min(max(limit, 16), 1024)
    }

    @inlinable
    mutating func append(_ element: consuming Element) {
        if let last = chunks.indices.last, chunks[last].count < size {
            chunks[last].append(element)
        } else {
            chunks.append([element])
        }
        count += 1
    }

    @inlinable
    var first: Element? { count == 0 ? nil : chunks[0][removed] }

    /// Removes the first element. There must be one.
    @inlinable
    mutating func removeFirst() {
        removed += 1
        count -= 1
        guard removed == size else { return }
        usedUp.append(chunks.removeFirst())
        removed = 0
    }

    /// The elements in order.
    var all: some Sequence<Element> { chunks.joined().dropFirst(removed) }

    /// The chunks that are used up, to be released without a lock.
    @inlinable
    mutating func takeUsedUp() -> [[Element]] {
        let taken = usedUp
        if !taken.isEmpty { usedUp = [] }
        return taken
    }
}
