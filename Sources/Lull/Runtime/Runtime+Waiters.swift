public import LullCore

// Callers whose wait was cancelled: nothing is kept for them until what they waited for ends, which it may never do.
extension Runtime {
    /// Withdraws a caller that waited for a key.
    @usableFromInline
    func withdraw(_ waiter: WaiterID, for key: Key) {
        removePromise(of: waiter)
        lock.withLock { engine.removeWaiter(waiter, for: key) }
    }

    /// Withdraws a caller that waited for all keys: with many, in portions, as the call for all keys was made.
    @inlinable
    @inline(never)
    func withdraw(_ waiter: WaiterID) {
        removePromise(of: waiter)
        var blocks = 0..<keysAtOnce / 64
        while !lock.withLock({ engine.removeWaiter(waiter, fromBlocks: blocks) }) {
            blocks = blocks.upperBound..<blocks.upperBound + keysAtOnce / 64
            pauseBetweenPortions()
        }
    }

    @usableFromInline
    func removePromise(of waiter: WaiterID) {
        let released = lock.withLock {
            let promise = waiters.removeValue(forKey: waiter)
            if waiters.isEmpty { waiters = [:] }
            return promise
        }
        withExtendedLifetime(released) {}
    }
}
