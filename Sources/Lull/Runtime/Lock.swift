#if os(Linux)
    internal import CLullClock
    internal import CLullLock
#endif
public import Synchronization

/// The one lock that everything in Lull is guarded by. Not recursive.
///
/// The state that it guards lies beside it, not inside, since the `sending` results of `Mutex.withLock` do not let values that
/// came out of it pass through generic code.
///
/// On Linux it is not a `Mutex`: that one asks the kernel about every try that fails, which made one submit in a hundred ten
/// times as long when two threads shared a debouncer; and the Thread Sanitizer cannot see into it. `docs/decisions.md` has the
/// figures.
@usableFromInline
package struct Lock: ~Copyable, @unchecked Sendable {
    // Proof of @unchecked Sendable: a lock is made for being used by several threads, and has nothing but atomics or a mutex.
    #if os(Linux)
        /// 0 while free; 1 while held; 2 while held, and somebody may be sleeping until it is not.
        @usableFromInline let state = Atomic<UInt32>(0)
        /// When somebody who had to wait got the lock last, in nanoseconds since the machine was started.
        @usableFromInline let lastWait = Atomic<Int64>(0)
        /// How long he had left the others alone, in nanoseconds.
        @usableFromInline let lastPatience = Atomic<Int64>(0)

        @inlinable
        package init() {}

        @inlinable
        @inline(__always)
        func lock() { if !take() { wait() } }

        @inlinable
        @inline(__always)
        func unlock() { if state.exchange(0, ordering: .releasing) == 2 { wake() } }

        @inlinable
        @inline(__always)
        func take() -> Bool {
            state.compareExchange(
                expected: 0, desired: 1, successOrdering: .acquiring, failureOrdering: .relaxed
            ).exchanged
        }
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

#if os(Linux)
    // What is done by those who find the lock held.
    extension Lock {
        /// Who waits this soon after somebody else had to, in nanoseconds, is one of several who do nothing but take the lock.
        private static var soon: Int64 { 500 }
        private static var shortestPatience: Int64 { 50 }
        private static var longestPatience: Int64 { 6400 }

        /// Takes the lock as soon as it is free.
        ///
        /// Threads that do nothing but take it hand it over at every turn, with all the memory that it guards, which takes
        /// longer than what they do with it. So while that goes on, each waits twice as long as the one before without
        /// even looking, and the holder gets a hundred turns meanwhile.
        @usableFromInline
        @inline(never)
        func wait() {
            let began = lull_nanoseconds_since_boot()
            var patience: Int64 = 0
            if began - lastWait.load(ordering: .relaxed) < Self.soon {
                let last = lastPatience.load(ordering: .relaxed)
                patience = min(max(2 * last, Self.shortestPatience), Self.longestPatience)
                while lull_nanoseconds_since_boot() - began < patience { lull_pause() }
            }
            if !takeAwake() {
                // Who has slept cannot know whether others still do, so he leaves them to be woken.
                while state.exchange(2, ordering: .acquiring) != 0 { withAddress { lull_sleep($0, 2) } }
            }
            lastPatience.store(patience, ordering: .relaxed)
            lastWait.store(lull_nanoseconds_since_boot(), ordering: .relaxed)
        }

        /// Looks for a while whether the lock is free, since it is held for less time than going to sleep takes.
        private func takeAwake() -> Bool {
            for _ in 0..<100 {
                // To look leaves the line of memory with the holder; to try takes it away from him.
                if state.load(ordering: .relaxed) == 0, take() { return true }
                lull_pause()
            }
            return false
        }

        @usableFromInline
        @inline(never)
        func wake() { withAddress { lull_wake($0) } }

        /// An atomic stays where it is, and has the layout of what it holds.
        private func withAddress(_ body: (UnsafePointer<UInt32>) -> Void) {
            withUnsafePointer(to: state) { body(UnsafeRawPointer($0).assumingMemoryBound(to: UInt32.self)) }
        }
    }
#endif
