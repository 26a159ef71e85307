/// What a ``Heap`` orders.
protocol HeapElement: BitwiseCopyable {
    /// Whether this element comes out before the other.
    func precedes(_ other: Self) -> Bool
}

/// A priority queue: a binary heap from which an element can be removed wherever it is.
///
/// The owner can keep the positions of elements: calls that move some say where each is now. The heap lies in pages of
/// unsafe memory: copying millions of elements to a larger place would take longer than a lock may be held (row
/// `holds`).
///
/// - Complexity: O(log n) to insert or remove an element, O(1) to read the first one.
struct Heap<Element: HeapElement>: ~Copyable {
    private(set) var pages: [UnsafeMutablePointer<Element>] = []
    /// The number of elements that an only page has memory for; with further pages, all are full ones.
    private var firstCapacity = 0
    private(set) var count = 0

    static var pageSize: Int { 1024 }

    init() {}

    deinit {
        for page in pages { page.deallocate() }
    }

    subscript(position: Int) -> Element {
        get { pages[position / Self.pageSize][position % Self.pageSize] }
        nonmutating set { pages[position / Self.pageSize][position % Self.pageSize] = newValue }
    }

    /// The first element, if there is one.
    var first: Element? { count > 0 ? self[0] : nil }

    /// Adds an element.
    ///
    /// - Parameter moved: Called for every element whose position is another one now.
    mutating func insert(_ element: Element, moved: (_ element: Element, _ position: Int) -> Void = { _, _ in }) {
        reserve()
        count += 1
        siftUp(element, from: count - 1, moved)
    }

    /// Removes the element at a position.
    ///
    /// - Parameter moved: Called for every element whose position is another one now.
    mutating func remove(
        at position: Int, moved: (_ element: Element, _ position: Int) -> Void = { _, _ in }
    ) {
        count -= 1
        let last = self[count]
        if position < count {
            if position > 0, last.precedes(self[(position - 1) / 2]) {
                siftUp(last, from: position, moved)
            } else {
                siftDown(last, from: position, moved)
            }
        }
        if count % Self.pageSize == 0, count > 0 || firstCapacity == Self.pageSize { removeLastPage() }
    }

    /// Puts an element in the place of the first one.
    mutating func replaceFirst(with element: Element) { siftDown(element, from: 0) { _, _ in } }

    private func siftUp(_ element: Element, from start: Int, _ moved: (Element, Int) -> Void) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            let other = self[parent]
            guard element.precedes(other) else { break }
            put(other, at: child, moved)
            child = parent
        }
        put(element, at: child, moved)
    }

    private func siftDown(_ element: Element, from start: Int, _ moved: (Element, Int) -> Void) {
        var parent = start
        while true {
            var child = parent * 2 + 1
            guard child < count else { break }
            if child + 1 < count, self[child + 1].precedes(self[child]) { child += 1 }
            let other = self[child]
            guard other.precedes(element) else { break }
            put(other, at: parent, moved)
            parent = child
        }
        put(element, at: parent, moved)
    }

    private func put(_ element: Element, at position: Int, _ moved: (Element, Int) -> Void) {
        self[position] = element
        moved(element, position)
    }

    /// Makes room for one element more.
    private mutating func reserve() {
        if count < Self.pageSize {
            guard count == firstCapacity else { return }
            let capacity = max(4, firstCapacity * 4)
            let page = UnsafeMutablePointer<Element>.allocate(capacity: capacity)
            if let old = pages.popLast() {
                page.moveInitialize(from: old, count: count)
                old.deallocate()
            }
            pages.append(page)
            firstCapacity = capacity
        } else if count == pages.count * Self.pageSize {
            pages.append(.allocate(capacity: Self.pageSize))
        }
    }

    /// Deallocates the last page, which has become empty.
    private mutating func removeLastPage() {
        pages.removeLast().deallocate()
        if pages.isEmpty { firstCapacity = 0 }
    }
}
