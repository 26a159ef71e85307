#if LULL_PTHREAD_LOCK
    #if canImport(Darwin)
        internal import Darwin
    #elseif canImport(Glibc)
        internal import Glibc
    #elseif canImport(Musl)
        internal import Musl
    #endif
#else
    public import Synchronization
#endif

/// The one lock that everything in Lull is guarded by. Not recursive.
///
/// The state that it guards lies beside it, not inside, since the `sending` results of `Mutex.withLock` do not let values that
/// came out of it pass through generic code.
///
/// The Thread Sanitizer cannot see into `Mutex` on Linux and reports correct code. A build for it, with `LULL_PTHREAD_LOCK`
/// in the environment, takes a lock of the C library instead, which it knows.
@usableFromInline
package struct Lock: ~Copyable, @unchecked Sendable {
    // Proof of @unchecked Sendable: a mutex is made for being used by several threads; the pointer to one is constant.
    #if LULL_PTHREAD_LOCK
        private let mutex: UnsafeMutablePointer<pthread_mutex_t>

        @usableFromInline
        package init() {
            mutex = .allocate(capacity: 1)
            pthread_mutex_init(mutex, nil)
        }

        deinit {
            pthread_mutex_destroy(mutex)
            mutex.deallocate()
        }

        @usableFromInline
        func lock() { pthread_mutex_lock(mutex) }

        @usableFromInline
        func unlock() { pthread_mutex_unlock(mutex) }
    #else
        @usableFromInline let mutex = Mutex<Void>(())

        @inlinable
        package init() {}

        @inlinable
        @inline(__always)
        func lock() { if !mutex._unsafeTryLock() { wait() } }

        /// Tries a little longer before it asks the system: the lock is held for less time than that takes (measured with
        /// two threads that do nothing but submit: 67 ns a submit instead of 100).
        @inlinable
        @inline(never)
        func wait() {
            for _ in 0..<200 where mutex._unsafeTryLock() { return }
            mutex._unsafeLock()
        }

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
