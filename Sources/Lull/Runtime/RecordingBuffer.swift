public import LullCore

/// The newest submits of a debouncer. Guarded by the runtime's lock.
@usableFromInline
final class RecordingBuffer<Key: Sendable>: @unchecked Sendable {
    // Proof of @unchecked Sendable: only the runtime touches it, under its lock.
    @usableFromInline typealias Entry = (at: CoreInstant, key: Key)

    @usableFromInline let limit: Int
    @usableFromInline var entries: Chunks<Entry>
    @usableFromInline var lost = 0

    init(limit: Int) {
        self.limit = limit
        entries = Chunks(for: limit)
    }

    /// - Returns: Whether the caller has to release used-up chunks, without the lock.
    @inlinable
    func add(_ key: Key, at instant: CoreInstant) -> Bool {
        entries.append((instant, key))
        if entries.count > limit {
            entries.removeFirst()
            lost += 1
        }
        return !entries.usedUp.isEmpty
    }
}
