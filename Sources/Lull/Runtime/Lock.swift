public import Synchronization

/// The one lock that everything in Lull is guarded by.
///
/// It is a type of its own so that a build for the Thread Sanitizer, which cannot see into `Mutex` on Linux, has one
/// place to change.
@usableFromInline
struct Lock: ~Copyable, Sendable {
    @usableFromInline let mutex = Mutex<Void>(())

    @inlinable
    init() {}

    /// Runs `body` while holding the lock. Not recursive.
    ///
    /// The state that the lock guards lies beside it, not inside, since the `sending` results of `Mutex.withLock` do
    /// not let values that came out of it pass through generic code.
    @inlinable
    @inline(__always)
    func withLock<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        mutex._unsafeLock()
        defer { mutex._unsafeUnlock() }
        return try body()
    }
}
