internal import LullCore

/// The newest events, for one observer.
///
/// Events are added while the runtime's lock is held. Adding therefore takes the same short time whatever the limit is,
/// and releases no key: a key's `deinit` may call the debouncer.
final class EventBuffer<Key: Sendable>: @unchecked Sendable {
    // Proof of @unchecked Sendable: everything that changes is only touched while `lock` is held.
    let lock = Lock()
    let limit: Int
    var events: Chunks<Event<Key>>
    var lost = 0
    var consumer: UnsafeContinuation<Event<Key>?, Never>?
    private var isOver = false

    init(limit: Int) {
        self.limit = limit
        events = Chunks(for: limit)
    }

    /// Adds an event, and drops the oldest one if there are too many. The caller calls ``wake()`` later, without the
    /// lock.
    func add(_ event: Event<Key>) {
        lock.withLock {
            events.append(event)
            if events.count > limit {
                events.removeFirst()
                lost += 1
            }
        }
    }

    /// Delivers the next event if the observer waits for one, and releases what was dropped. Called without the
    /// runtime's lock.
    func wake() {
        let isNeeded = lock.withLock { consumer != nil || !events.usedUp.isEmpty }
        if isNeeded { deliver() }
    }

    func deliver() {
        let (waiting, event, released) = lock.withLock {
            () -> (UnsafeContinuation<Event<Key>?, Never>?, Event<Key>?, [[Event<Key>]]) in
            guard consumer != nil else { return (nil, nil, events.takeUsedUp()) }
            let event = take()
            let waiting = event != nil || isOver ? consumer.take() : nil
            return (waiting, event, events.takeUsedUp())
        }
        waiting?.resume(returning: event)
        withExtendedLifetime(released) {}
    }

    /// Ends the observer's iteration after the events that are there.
    func end() {
        lock.withLock { isOver = true }
        wake()
    }

    private func take() -> Event<Key>? {
        guard var event = events.first else { return nil }
        events.removeFirst()
        event.lost = lost
        lost = 0
        return event
    }

    /// Returns the next event; nil at the end, or when the task was cancelled.
    nonisolated(nonsending) func next() async -> Event<Key>? {
        await withTaskCancellationHandler {
            // Proof of the unchecked continuation: only the caller that takes it out under the lock resumes it.
            await withUnsafeContinuation { (continuation: UnsafeContinuation<Event<Key>?, Never>) in
                let (answer, released) = lock.withLock { () -> (Event<Key>??, [[Event<Key>]]) in
                    require(
                        consumer == nil,
                        "two tasks wait for the next event of one iterator; let each iterate for itself")
                    if Task.isCancelled { return (.some(nil), []) }
                    if let event = take() { return (.some(event), events.takeUsedUp()) }
                    if isOver { return (.some(nil), []) }
                    consumer = continuation
                    return (.none, [])
                }
                if let answer { continuation.resume(returning: answer) }
                withExtendedLifetime(released) {}
            }
        } onCancel: {
            lock.withLock { consumer.take() }?.resume(returning: nil)
        }
    }
}

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
