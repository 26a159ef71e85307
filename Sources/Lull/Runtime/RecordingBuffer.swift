internal import LullCore

/// The newest submits and touches of a debouncer.
///
/// They are added while the runtime's lock is held. The recording does not hold the runtime, so that there is one more
/// lock. They lie in chunks of raw memory: an array of generic elements made a recorded submit take ten times as long
/// (row `recording`).
final class RecordingBuffer<Key: Sendable>: @unchecked Sendable {
    // Proof of @unchecked Sendable: everything that changes is only touched while `lock` is held.

    struct Stamp {
        let at: CoreInstant
        let isTouch: Bool
    }

    /// Entries in memory of their own. What has been added does not change: whoever holds a chunk may read that much.
    final class Chunk {
        let stamps: UnsafeMutablePointer<Stamp>
        let keys: UnsafeMutablePointer<Key>
        fileprivate(set) var count = 0

        init(capacity: Int) {
            stamps = .allocate(capacity: capacity)
            keys = .allocate(capacity: capacity)
        }

        deinit {
            keys.deinitialize(count: count)
            keys.deallocate()
            stamps.deallocate()
        }
    }

    let lock = Lock()
    let limit: Int
    /// How many entries a chunk has.
    private let size: Int
    /// All but the last are full, and none is empty.
    private var chunks: [Chunk] = []
    private var last: Chunk?
    /// How many entries of the first chunk have been dropped: never all of them.
    private var dropped = 0
    private var entryCount = 0
    private var lostCount = 0
    /// Chunks of which every entry has been dropped.
    private var usedUp: [Chunk] = []

    init(limit: Int) {
        self.limit = limit
        size = min(max(limit, 16), 1024)
    }

    var count: Int { lock.withLock { entryCount } }
    var lost: Int { lock.withLock { lostCount } }

    /// - Returns: Whether the caller has to release used-up chunks, without a lock.
    func add(_ key: Key, at instant: CoreInstant, isTouch: Bool = false) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        let chunk = chunkWithRoom()
        (chunk.stamps + chunk.count).initialize(to: Stamp(at: instant, isTouch: isTouch))
        (chunk.keys + chunk.count).initialize(to: key)
        chunk.count += 1
        entryCount += 1
        return entryCount > limit ? dropFirst() : false
    }

    private func chunkWithRoom() -> Chunk {
        if let last, last.count < size { return last }
        let chunk = Chunk(capacity: size)
        chunks.append(chunk)
        last = chunk
        return chunk
    }

    /// Drops the oldest entry, and returns whether a chunk is used up.
    private func dropFirst() -> Bool {
        entryCount -= 1
        lostCount += 1
        dropped += 1
        if dropped == size {
            usedUp.append(chunks.removeFirst())
            dropped = 0
        }
        return dropped == 0
    }

    /// Takes the chunks that are used up. The caller releases them without a lock.
    func takeUsedUp() -> [Chunk] {
        lock.withLock {
            let taken = usedUp
            usedUp = []
            return taken
        }
    }

    /// Calls `body` with each entry, in order, without the lock.
    func forEach(_ body: (CoreInstant, Key, Bool) -> Void) {
        lock.lock()
        let (chunks, first) = (chunks, dropped)
        let counts = chunks.map { $0.count }
        lock.unlock()
        for (number, chunk) in chunks.enumerated() {
            for index in (number == 0 ? first : 0)..<counts[number] {
                body(chunk.stamps[index].at, chunk.keys[index], chunk.stamps[index].isTouch)
            }
        }
    }
}
