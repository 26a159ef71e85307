/// The entries at one instant, in the order in which their bursts began.
///
/// Entries gather in one chunk. When it is full, it is sorted and becomes one of the runs, which a ``Heap`` orders by
/// their oldest entries: no call sorts more than one chunk, however many entries there are. Entries mostly come in
/// order, so that the front of one run comes out in a row.
///
/// - Complexity: O(1) amortised to add an entry, apart from sorting it with 255 others; O(log n) to remove the oldest
///   one.
struct TieQueue: ~Copyable {
    typealias Entry = DeadlineQueue.Entry
    typealias Chunk = DeadlineQueue.Chunk

    /// A chunk that was full when it became a run, the oldest entry last; never empty.
    struct Run: HeapElement {
        let chunk: Chunk
        /// The burst of the oldest entry: beside the chunk, so that ordering runs does not look into chunks.
        var burst: UInt32

        init(_ chunk: Chunk) {
            self.chunk = chunk
            burst = chunk.last.burst
        }

        func precedes(_ other: Run) -> Bool { Int32(bitPattern: burst &- other.burst) < 0 }
    }

    /// Where entries gather.
    private(set) var gathering: Chunk?
    /// Whether the gathering entries are in order, the oldest last.
    private(set) var isSorted = true
    /// 16 bytes for a chunk of entries.
    private(set) var runs = Heap<Run>()
    /// The number of entries.
    private(set) var count = 0

    deinit {
        for position in 0..<runs.count { runs[position].chunk.deallocate() }
        gathering?.deallocate()
    }

    mutating func push(_ entry: Entry) {
        let chunk = gatheringChunk()
        if isSorted, !chunk.isEmpty { isSorted = entry.isOlder(than: chunk.last) }
        chunk.append(entry)
        count += 1
    }

    /// Removes and returns the entry whose burst is oldest, if there is one.
    mutating func pop() -> Entry? {
        guard count > 0 else { return nil }
        count -= 1
        if !isSorted { sort() }
        guard let chunk = gathering, !chunk.isEmpty, isOlderThanRuns(chunk) else { return popFromRuns() }
        let entry = chunk.removeLast()
        if count == 0 { trim() }
        return entry
    }

    /// Whether the last entry of a chunk comes before those of all runs.
    private func isOlderThanRuns(_ chunk: Chunk) -> Bool {
        runs.count == 0 || chunk.last.isOlder(than: runs[0].burst)
    }

    /// Returns the gathering chunk, with room for one more.
    private mutating func gatheringChunk() -> Chunk {
        if let gathering, !gathering.isFull { return gathering }
        return makeRoom()
    }

    @inline(never)
    private mutating func makeRoom() -> Chunk {
        guard let full = gathering else { return startChunk(capacity: Chunk.smallest) }
        guard full.capacity == Chunk.largest else {
            let chunk = startChunk(capacity: full.nextCapacity)
            for entry in full.entries { chunk.append(entry) }
            full.deallocate()
            return chunk
        }
        if !isSorted { sort() }
        runs.insert(Run(full))
        return startChunk(capacity: Chunk.largest)
    }

    private mutating func startChunk(capacity: Int) -> Chunk {
        let chunk = Chunk(capacity: capacity, next: nil)
        gathering = chunk
        return chunk
    }

    /// Sorts the gathering entries, the oldest burst last.
    @inline(never)
    private mutating func sort() {
        if var entries = gathering?.entries { entries.sort { $1.isOlder(than: $0) } }
        isSorted = true
    }

    /// Deallocates, with no entry left, what more than a few ties needed.
    private mutating func trim() {
        if let chunk = gathering, chunk.capacity > Chunk.smallest * 4 {
            chunk.deallocate()
            gathering = nil
        }
        runs = Heap()
    }

    /// Removes and returns the oldest entry of the runs. There must be a run.
    @inline(never)
    private mutating func popFromRuns() -> Entry {
        var run = runs[0]
        let entry = run.chunk.removeLast()
        if run.chunk.isEmpty {
            run.chunk.deallocate()
            runs.remove(at: 0)
        } else {
            run.burst = run.chunk.last.burst
            runs.replaceFirst(with: run)
        }
        if count == 0 { trim() }
        return entry
    }
}
