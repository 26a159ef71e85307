internal import LullCore

/// The newest submits and touches of a debouncer.
///
/// They are added while the runtime's lock is held. The recording does not hold the runtime, so that there is one more lock.
final class RecordingBuffer<Key: Sendable>: @unchecked Sendable {
    // Proof of @unchecked Sendable: everything that changes is only touched while `lock` is held.
    typealias Entry = (at: CoreInstant, key: Key, isTouch: Bool)

    let lock = Lock()
    let limit: Int
    var entries: Chunks<Entry>
    var lost = 0

    init(limit: Int) {
        self.limit = limit
        entries = Chunks(for: limit)
    }

    /// - Returns: Whether the caller has to release used-up chunks, without a lock.
    func add(_ key: Key, at instant: CoreInstant, isTouch: Bool = false) -> Bool {
        lock.withLock {
            entries.append((instant, key, isTouch))
            if entries.count > limit {
                entries.removeFirst()
                lost += 1
            }
            return !entries.usedUp.isEmpty
        }
    }

    /// Takes the chunks that are used up. The caller releases them without a lock.
    func takeUsedUp() -> [[Entry]] {
        lock.withLock { entries.takeUsedUp() }
    }
}
