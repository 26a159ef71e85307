/// A queue of elements in a ring of memory of its own. Elements are moved in and out, never copied, and the memory
/// follows their number down as well as up.
@frozen
@usableFromInline
struct Fifo<Element>: ~Copyable {
    /// Initialised are `count` places from `first` on, and round the end.
    @usableFromInline var memory: UnsafeMutablePointer<Element>?
    /// The number of places: zero or a power of two.
    @usableFromInline var capacity = 0
    @usableFromInline var first = 0
    @usableFromInline var count = 0

    @inlinable
    init() {}

    @inlinable
    deinit {
        guard let memory else { return }
        for offset in 0..<count { (memory + place(offset)).deinitialize(count: 1) }
        memory.deallocate()
    }

    @inlinable
    var isEmpty: Bool { count == 0 }

    /// Where the element lies that comes after `offset` others.
    @inlinable
    func place(_ offset: Int) -> Int { (first + offset) & (capacity - 1) }

    @inlinable
    @inline(__always)
    mutating func append(_ element: consuming Element) {
        if count == capacity { grow() }
        // Proof: after that there is memory.
        (memory.unsafelyUnwrapped + place(count)).initialize(to: element)
        count += 1
    }

    /// Moves the first element to a place that is not initialised, if there is one.
    @inlinable
    mutating func moveFirst(to place: UnsafeMutablePointer<Element>) -> Bool {
        guard count > 0, let memory else { return false }
        place.moveInitialize(from: memory + first, count: 1)
        first = self.place(1)
        count -= 1
        if capacity > 64, count * 8 < capacity { resize(to: capacity / 4) }
        return true
    }

    @inlinable
    mutating func grow() { resize(to: max(4, capacity * 2)) }

    @inlinable
    @inline(never)
    mutating func resize(to new: Int) {
        let fresh = UnsafeMutablePointer<Element>.allocate(capacity: new)
        if let memory {
            let front = min(count, capacity - first)
            fresh.moveInitialize(from: memory + first, count: front)
            (fresh + front).moveInitialize(from: memory, count: count - front)
            memory.deallocate()
        }
        memory = fresh
        capacity = new
        first = 0
    }

    func contains(where condition: (Element) -> Bool) -> Bool {
        guard let memory else { return false }
        return (0..<count).contains { condition(memory[place($0)]) }
    }

    /// Moves the elements that fulfil a condition to another queue.
    @inlinable
    mutating func move(to other: inout Fifo<Element>, where condition: (Element) -> Bool) {
        for _ in 0..<count {
            guard let memory else { return }
            let element = (memory + first).move()
            first = place(1)
            count -= 1
            if condition(element) { other.append(element) } else { append(element) }
        }
    }
}
