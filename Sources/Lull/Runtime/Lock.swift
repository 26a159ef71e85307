#if os(Linux)
    public import CLullSystem
#else
    public import Synchronization
#endif

/// The lock of everything in Lull. Not recursive.
///
/// The state that it guards is beside it, not inside: the `sending` results of `Mutex.withLock` do not pass through
/// generic code.
///
/// On Linux it is a mutex of the C library, since the Thread Sanitizer does not see a `Mutex` there.
/// `docs/decisions/lock-of-the-platform.md` has the figures.
@usableFromInline
package struct Lock: ~Copyable, @unchecked Sendable {
    // Proof of @unchecked Sendable: it holds nothing but a mutex, which any thread may use.
    #if os(Linux)
        @usableFromInline let mutex: UnsafeMutableRawPointer

        package init() { mutex = lull_mutex_make() }

        deinit { lull_mutex_free(mutex) }

        @inlinable
        @inline(__always)
        func lock() { lull_mutex_lock(mutex) }

        @inlinable
        @inline(__always)
        func unlock() { lull_mutex_unlock(mutex) }
    #else
        @usableFromInline let mutex = Mutex<Void>(())

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

/// A value behind a lock. An exchange returns the old value, so that it is released without the lock.
package final class Guarded<Value: Sendable>: @unchecked Sendable {
    // Proof of @unchecked Sendable: `held` is only touched while `lock` is held.
    private let lock = Lock()
    private var held: Value

    package init(_ value: Value) {
        held = value
    }

    package var value: Value { lock.withLock { held } }

    package func exchange(_ new: Value) -> Value {
        change { value in
            let old = value
            value = new
            return old
        }
    }

    package func change<R>(_ body: (inout Value) -> R) -> R {
        lock.withLock { body(&held) }
    }
}
