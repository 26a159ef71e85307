// Callers that wait for the ends of executions: section 5 of the semantics.
extension SlotEngine {
    /// Lets a caller wait for the ends of what runs and waits at a slot, and returns whether there is anything.
    package mutating func addWaiter(_ waiter: WaiterID, at index: UInt32) -> Bool {
        guard index != .max, let executions = executions(of: slots[index]) else { return false }
        return setAwaited(executions.pointee.add(waiter), by: waiter)
    }

    /// Lets a caller wait for the ends of what runs and waits, and returns whether there is anything.
    package mutating func addWaiter(_ waiter: WaiterID) -> Bool {
        var awaited = 0
        keyExecutions.forEach { _, executions in awaited += executions.pointee.add(waiter) }
        return setAwaited(awaited, by: waiter)
    }

    /// Withdraws a caller that waits for a slot's key.
    package mutating func removeWaiter(_ waiter: WaiterID, at index: UInt32) {
        guard let left = waiters[waiter], index != .max, let executions = executions(of: slots[index]) else { return }
        _ = setAwaited(left - executions.pointee.remove(waiter), by: waiter)
    }

    /// Withdraws a caller from the executions of some blocks, and returns whether nothing is kept for it any more.
    package mutating func removeWaiter(_ waiter: WaiterID, fromBlocks blocks: Range<Int>) -> Bool {
        guard var left = waiters[waiter] else { return true }
        keyExecutions.forEach(inBlocks: blocks) { _, executions in left -= executions.pointee.remove(waiter) }
        return !setAwaited(left, by: waiter)
    }

    /// Sets the number of executions that a caller waits for, and returns whether there are any.
    private mutating func setAwaited(_ count: Int, by waiter: WaiterID) -> Bool {
        waiters[waiter] = count > 0 ? count : nil
        if waiters.isEmpty { waiters = [:] }
        return count > 0
    }

    /// Counts one execution less for each of these callers, and resumes those that wait for no other.
    mutating func noteEnd(for ended: [WaiterID]) {
        for waiter in ended {
            guard let left = waiters[waiter] else { continue }
            if left > 1 {
                waiters[waiter] = left - 1
            } else {
                waiters[waiter] = nil
                add(.resume(waiter))
            }
        }
    }
}
