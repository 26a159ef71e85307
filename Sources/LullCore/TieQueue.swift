/// The entries at one instant, in the order in which their bursts began.
///
/// Entries gather in one chunk. When it is full it is sorted and becomes one of the runs, which a binary heap keeps in the order
/// of their oldest entries: so no call sorts more than one chunk, however many entries there are. They mostly come in their
/// order, which makes the front of one run come out in a row.
@frozen
@usableFromInline
struct TieQueue: ~Copyable {
    @usableFromInline typealias Entry = DeadlineQueue.Entry
    @usableFromInline typealias Chunk = DeadlineQueue.Chunk

    /// A full chunk when it was made, the oldest entry last; never empty.
    @frozen
    @usableFromInline
    struct Run {
        @usableFromInline var chunk: Chunk
        /// The oldest entry's burst: beside the chunk, so that ordering runs does not look into them.
        @usableFromInline var birth: UInt32

        @inlinable
        init(_ chunk: Chunk) {
            self.chunk = chunk
            birth = chunk.last.birth
        }

        @inlinable
        func isOlder(than other: Run) -> Bool { Int32(bitPattern: birth &- other.birth) < 0 }
    }

    /// Where entries gather.
    @usableFromInline var open: UnsafeMutablePointer<Chunk.Header>?
    /// Whether the gathering entries are in order, the oldest last.
    @usableFromInline var isSorted: Bool
    /// A binary heap, 16 bytes for a chunk of entries.
    @usableFromInline var runs: UnsafeMutablePointer<Run>?
    @usableFromInline var runCount: Int
    @usableFromInline var runCapacity: Int
    /// The number of entries.
    @usableFromInline var count: Int

    @inlinable
    init() {
        isSorted = true
        runCount = 0
        runCapacity = 0
        count = 0
    }

    @inlinable
    deinit {
        for run in UnsafeMutableBufferPointer(start: runs, count: runCount) { run.chunk.deallocate() }
        runs?.deallocate()
        if let open { Chunk(open).deallocate() }
    }

    @inlinable
    mutating func push(_ entry: Entry) {
        let chunk = roomyChunk()
        if isSorted, !chunk.isEmpty { isSorted = entry.isOlder(than: chunk.last) }
        chunk.append(entry)
        count += 1
    }

    /// Takes the entry whose burst is oldest, if there is one.
    @inlinable
    mutating func pop() -> Entry? {
        guard count > 0 else { return nil }
        count -= 1
        if !isSorted { sort() }
        if let open, !Chunk(open).isEmpty, runCount == 0 || isOpenOlder(Chunk(open)) {
            let entry = Chunk(open).removeLast()
            if count == 0 { giveBack() }
            return entry
        }
        return popFromRuns()
    }

    @inlinable
    func isOpenOlder(_ chunk: Chunk) -> Bool {
        guard let runs else { return true }
        return Int32(bitPattern: chunk.last.birth &- runs[0].birth) < 0
    }

    /// The gathering chunk, with room for one more.
    @inlinable
    mutating func roomyChunk() -> Chunk {
        if let open, !Chunk(open).isFull { return Chunk(open) }
        return makeRoom()
    }

    @inlinable
    @inline(never)
    mutating func makeRoom() -> Chunk {
        guard let open else { return startChunk(capacity: Chunk.smallest) }
        let full = Chunk(open)
        guard full.header.pointee.capacity == Chunk.largest else {
            let chunk = startChunk(capacity: Chunk.capacity(after: full.header.pointee.capacity))
            for entry in full.entries { chunk.append(entry) }
            full.deallocate()
            return chunk
        }
        if !isSorted { sort() }
        add(Run(full))
        return startChunk(capacity: Chunk.largest)
    }

    @inlinable
    mutating func startChunk(capacity: Int) -> Chunk {
        let chunk = Chunk(capacity: capacity, next: nil)
        open = chunk.header
        return chunk
    }

    /// Puts the oldest burst of the gathering entries last.
    @inlinable
    @inline(never)
    mutating func sort() {
        if let open {
            var entries = Chunk(open).entries
            entries.sort { $1.isOlder(than: $0) }
        }
        isSorted = true
    }

    /// With no entry left, keeps no more memory than a few ties need.
    @inlinable
    mutating func giveBack() {
        if let open, open.pointee.capacity > Chunk.capacity(after: UInt32(Chunk.smallest)) {
            Chunk(open).deallocate()
            self.open = nil
        }
        runs?.deallocate()
        runs = nil
        runCapacity = 0
    }

    // MARK: - Runs

    @inlinable
    mutating func add(_ run: Run) {
        if runCount == runCapacity { growRuns() }
        // Proof: there is room for one more, as was just seen to.
        let runs = runs.unsafelyUnwrapped
        (runs + runCount).initialize(to: run)
        runCount += 1
        var child = runCount - 1
        while child > 0, runs[child].isOlder(than: runs[(child - 1) / 2]) {
            (runs[child], runs[(child - 1) / 2]) = (runs[(child - 1) / 2], runs[child])
            child = (child - 1) / 2
        }
    }

    @inlinable
    mutating func growRuns() {
        let room = max(runCapacity * 2, 4)
        let memory = UnsafeMutablePointer<Run>.allocate(capacity: room)
        if let runs {
            memory.moveInitialize(from: runs, count: runCount)
            runs.deallocate()
        }
        runs = memory
        runCapacity = room
    }

    /// Takes the oldest entry of the runs, of which there is one.
    @inlinable
    @inline(never)
    mutating func popFromRuns() -> Entry {
        // Proof: there is a run, or there would be no entry.
        let runs = runs.unsafelyUnwrapped
        let entry = runs[0].chunk.removeLast()
        if runs[0].chunk.isEmpty {
            runs[0].chunk.deallocate()
            runCount -= 1
            runs[0] = runs[runCount]
        } else {
            runs[0].birth = runs[0].chunk.last.birth
        }
        siftDown()
        if count == 0 { giveBack() }
        return entry
    }

    @inlinable
    mutating func siftDown() {
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
