/// The entries at one instant, in the order in which their bursts began.
///
/// Entries gather in one chunk. When it is full, it is sorted and becomes one of the runs, which a binary heap orders by
/// their oldest entries: no call sorts more than one chunk, however many entries there are. Entries mostly come in order,
/// so that the front of one run comes out in a row.
///
/// The heap of runs is unsafe memory for the sake of the row `due`, as in ``DeadlineQueue``.
@usableFromInline
struct TieQueue: ~Copyable {
    typealias Entry = DeadlineQueue.Entry
    typealias Chunk = DeadlineQueue.Chunk

    /// A chunk that was full when it became a run, the oldest entry last; never empty.
    struct Run {
        let chunk: Chunk
        /// The burst of the oldest entry: beside the chunk, so that ordering runs does not look into chunks.
        var burst: UInt32

        init(_ chunk: Chunk) {
            self.chunk = chunk
            burst = chunk.last.burst
        }

        func isOlder(than other: Run) -> Bool { Int32(bitPattern: burst &- other.burst) < 0 }
    }

    /// Where entries gather.
    private(set) var gathering: Chunk?
    /// Whether the gathering entries are in order, the oldest last.
    private(set) var isSorted = true
    /// A binary heap, 16 bytes for a chunk of entries.
    private(set) var runs: UnsafeMutablePointer<Run>?
    private(set) var runCount = 0
    private(set) var runCapacity = 0
    /// The number of entries.
    private(set) var count = 0

    // Inlinable, or the compiler (6.3) crashes in Embedded Swift where it inlines the deinit into generic code.
    @inlinable
    deinit { deallocate() }

    @usableFromInline
    func deallocate() {
        for run in UnsafeMutableBufferPointer(start: runs, count: runCount) { run.chunk.deallocate() }
        runs?.deallocate()
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
        guard runCount > 0, let runs else { return true }
        return chunk.last.isOlder(than: runs[0].burst)
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
        add(Run(full))
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
        runs?.deallocate()
        runs = nil
        runCapacity = 0
    }

    // MARK: - Runs

    private mutating func add(_ run: Run) {
        if runCount == runCapacity { growRuns() }
        // Proof: growing has made room for one more.
        let runs = runs.unsafelyUnwrapped
        (runs + runCount).initialize(to: run)
        runCount += 1
        var child = runCount - 1
        while child > 0, runs[child].isOlder(than: runs[(child - 1) / 2]) {
            (runs[child], runs[(child - 1) / 2]) = (runs[(child - 1) / 2], runs[child])
            child = (child - 1) / 2
        }
    }

    private mutating func growRuns() {
        let capacity = max(runCapacity * 2, 4)
        let memory = UnsafeMutablePointer<Run>.allocate(capacity: capacity)
        if let runs {
            memory.moveInitialize(from: runs, count: runCount)
            runs.deallocate()
        }
        runs = memory
        runCapacity = capacity
    }

    /// Removes and returns the oldest entry of the runs. There must be a run.
    @inline(never)
    private mutating func popFromRuns() -> Entry {
        // Proof: there is a run.
        let runs = runs.unsafelyUnwrapped
        let chunk = runs[0].chunk
        let entry = chunk.removeLast()
        if chunk.isEmpty {
            chunk.deallocate()
            runCount -= 1
            runs[0] = runs[runCount]
        } else {
            runs[0].burst = chunk.last.burst
        }
        siftDown()
        if count == 0 { trim() }
        return entry
    }

    /// Restores the heap after its first run has changed.
    private mutating func siftDown() {
        guard let runs else { return }
        var parent = 0
        while true {
            var child = parent * 2 + 1
            guard child < runCount else { return }
            if child + 1 < runCount, runs[child + 1].isOlder(than: runs[child]) { child += 1 }
            guard runs[child].isOlder(than: runs[parent]) else { return }
            (runs[child], runs[parent]) = (runs[parent], runs[child])
            parent = child
        }
    }
}
