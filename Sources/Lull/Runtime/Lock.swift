#if os(Linux)
    public import CLullSystem
#else
    public import Synchronization
#endif

/// The one lock that everything in Lull is guarded by. Not recursive.
///
/// The state that it guards lies beside it, not inside, since the `sending` results of `Mutex.withLock` do not let values that
/// came out of it pass through generic code.
///
/// On Linux it is a mutex of the C library: the Thread Sanitizer sees it, which it does not see of a `Mutex` there.
/// `docs/decisions.md` has the figures.
@usableFromInline
package struct Lock: ~Copyable, @unchecked Sendable {
    // Proof of @unchecked Sendable: a mutex is made for being used by several threads, and nothing else is in here.
    #if os(Linux)
        @usableFromInline let mutex: UnsafeMutableRawPointer

        @inlinable
        package init() { mutex = lull_mutex_make() }

        @inlinable
        deinit { lull_mutex_free(mutex) }

        @inlinable
        @inline(__always)
        func lock() { lull_mutex_lock(mutex) }

        @inlinable
        @inline(__always)
        func unlock() { lull_mutex_unlock(mutex) }
    #else
        @usableFromInline let mutex = Mutex<Void>(())

        @inlinable
        package init() {}

        @inlinable
        @inline(__always)
        func lock() { mutex._unsafeLock() }

        @inlinable
        @inline(__always)
        func unlock() { mutex._unsafeUnlock() }
    #endif

    /// Runs `body` while holding the lock.
    @inlinable
    @inline(__always)
    package func withLock<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        lock()
        defer { unlock() }
        return try body()
    }
}
