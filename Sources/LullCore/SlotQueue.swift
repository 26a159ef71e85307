/// The keys that wait for one of the slots of `maxConcurrent`: a binary heap in order of due instants, equal ones in the
/// order in which the values fell due.
///
/// An entry is taken out as soon as its key waits no longer, so that no call has to step over millions that were
/// cancelled. Therefore each lane is told where its entry lies. The heap lies in pages, since copying millions of entries to
/// a larger place would take longer than a lock may be held.
@frozen
@usableFromInline
struct SlotQueue: ~Copyable {
    @frozen
    @usableFromInline
    struct Entry {
        @usableFromInline let at: CoreInstant
        @usableFromInline let turn: UInt64
        @usableFromInline let lane: UInt32

        @inlinable
        init(at: CoreInstant, turn: UInt64, lane: UInt32) {
            self.at = at
            self.turn = turn
            self.lane = lane
        }

        @inlinable
        func precedes(_ other: Entry) -> Bool {
            at == other.at ? turn < other.turn : at < other.at
        }
    }

    @usableFromInline var pages: [UnsafeMutablePointer<Entry>]
    /// The number of entries that the only page has memory for; further pages are full ones.
    @usableFromInline var firstCapacity: Int
    @usableFromInline var count: Int

    @inlinable
    static var pageSize: Int { 1024 }

    @inlinable
    init() {
        pages = []
        firstCapacity = 0
        count = 0
    }

    @inlinable
    deinit {
        for page in pages { page.deallocate() }
    }

    @inlinable
    subscript(index: Int) -> Entry {
        get { pages[index / Self.pageSize][index % Self.pageSize] }
        nonmutating set { pages[index / Self.pageSize][index % Self.pageSize] = newValue }
    }

    /// The entry that is first, if there is one.
    @inlinable
    var first: Entry? { count > 0 ? self[0] : nil }

    /// Adds an entry, and says of every lane whose entry has moved where it lies now.
    @inlinable
    mutating func insert(_ entry: Entry, moved: (_ lane: UInt32, _ index: UInt32) -> Void) {
        reserve()
        count += 1
        siftUp(entry, from: count - 1, moved)
    }

    /// Removes the entry at an index, and says of every lane whose entry has moved where it lies now.
    @inlinable
    mutating func remove(at index: Int, moved: (_ lane: UInt32, _ index: UInt32) -> Void) {
        count -= 1
        let last = self[count]
        if index < count {
            if index > 0, last.precedes(self[(index - 1) / 2]) {
                siftUp(last, from: index, moved)
            } else {
                siftDown(last, from: index, moved)
            }
        }
        if count % Self.pageSize == 0, count > 0 || firstCapacity == Self.pageSize { releasePage() }
    }

    @inlinable
    mutating func siftUp(_ entry: Entry, from start: Int, _ moved: (UInt32, UInt32) -> Void) {
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

    @inlinable
    mutating func siftDown(_ entry: Entry, from start: Int, _ moved: (UInt32, UInt32) -> Void) {
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

    @inlinable
    func put(_ entry: Entry, at index: Int, _ moved: (UInt32, UInt32) -> Void) {
        self[index] = entry
        moved(entry.lane, UInt32(index))
    }

    /// Sees to it that there is memory for one entry more.
    @inlinable
    mutating func reserve() {
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

    /// Gives the last page back, which has become empty.
    @inlinable
    mutating func releasePage() {
        pages.removeLast().deallocate()
        if pages.isEmpty { firstCapacity = 0 }
    }
}
