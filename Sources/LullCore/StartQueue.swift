/// The keys whose waiting value may start as soon as `maxConcurrent` allows: a binary heap in order of due instants, equal ones
/// in the order in which the values fell due.
///
/// An entry is removed as soon as its key waits no longer, so that no call has to skip millions that were cancelled.
/// Therefore every key's executions know the position of their entry. The heap lies in pages of unsafe memory: copying
/// millions of entries to a larger place would take longer than a lock may be held (row `holds`).
@usableFromInline
struct StartQueue: ~Copyable {
    struct Entry {
        /// When the value fell due.
        let at: CoreInstant
        /// The number of the value in the order in which values fell due.
        let dueNumber: UInt64
        /// The index of the key's executions.
        let executions: UInt32

        init(at: CoreInstant, dueNumber: UInt64, executions: UInt32) {
            self.at = at
            self.dueNumber = dueNumber
            self.executions = executions
        }

        func precedes(_ other: Entry) -> Bool {
            at == other.at ? dueNumber < other.dueNumber : at < other.at
        }
    }

    var pages: [UnsafeMutablePointer<Entry>] = []
    /// The number of entries that an only page has memory for; with further pages, all are full ones.
    private var firstCapacity = 0
    private(set) var count = 0

    static let pageSize = 1024

    init() {}

    // Inlinable, or the compiler (6.3) crashes in Embedded Swift where it inlines the deinit into generic code.
    @inlinable
    deinit { deallocate() }

    @usableFromInline
    func deallocate() {
        for page in pages { page.deallocate() }
    }

    subscript(position: Int) -> Entry {
        get { pages[position / Self.pageSize][position % Self.pageSize] }
        nonmutating set { pages[position / Self.pageSize][position % Self.pageSize] = newValue }
    }

    /// The first entry, if there is one.
    var first: Entry? { count > 0 ? self[0] : nil }

    /// Adds an entry.
    ///
    /// - Parameter moved: Called for every entry whose position is another one now.
    mutating func insert(_ entry: Entry, moved: (_ executions: UInt32, _ position: UInt32) -> Void) {
        reserve()
        count += 1
        siftUp(entry, from: count - 1, moved)
    }

    /// Removes the entry at a position.
    ///
    /// - Parameter moved: Called for every entry whose position is another one now.
    mutating func remove(at position: Int, moved: (_ executions: UInt32, _ position: UInt32) -> Void) {
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

    private func siftUp(_ entry: Entry, from start: Int, _ moved: (UInt32, UInt32) -> Void) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            let other = self[parent]
            guard entry.precedes(other) else { break }
            put(other, at: child, moved)
            child = parent
        }
        put(entry, at: child, moved)
    }

    private func siftDown(_ entry: Entry, from start: Int, _ moved: (UInt32, UInt32) -> Void) {
        var parent = start
        while true {
            var child = parent * 2 + 1
            guard child < count else { break }
            if child + 1 < count, self[child + 1].precedes(self[child]) { child += 1 }
            let other = self[child]
            guard other.precedes(entry) else { break }
            put(other, at: parent, moved)
            parent = child
        }
        put(entry, at: parent, moved)
    }

    private func put(_ entry: Entry, at position: Int, _ moved: (UInt32, UInt32) -> Void) {
        self[position] = entry
        moved(entry.executions, UInt32(position))
    }

    /// Makes room for one entry more.
    private mutating func reserve() {
        if count < Self.pageSize {
            guard count == firstCapacity else { return }
            let capacity = max(4, firstCapacity * 4)
            let page = UnsafeMutablePointer<Entry>.allocate(capacity: capacity)
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
