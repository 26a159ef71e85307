internal import LullCore

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

// Calls for all keys. With many keys they take the lock several times, for a portion of the keys each: a submit in
// between waits no longer than for any other call (`make bench ROWS=holds`).

extension RuntimeCore {
    /// How many keys a call for all keys handles under one lock.
    private static var keysAtOnce: Int { 256 }

    /// Pauses so that a thread that waits for the lock can wake up and take it.
    private func pauseBetweenPortions() {
        usleep(20)
    }

    /// Passes a call for all keys at the present instant to the engine, and performs the answer (<doc:Semantics>,
    /// section 5).
    ///
    /// - Parameters:
    ///   - kind: The call.
    ///   - closing: Whether later submits are rejected.
    func sweep(_ kind: Sweep.Kind, closing: Bool = false) {
        _ = sweep(kind, closing: closing, awaiting: false)
    }

    /// Does the same, and waits until the executions that run or wait after the call have ended.
    ///
    /// Inside a handler of the same debouncer it does not wait.
    nonisolated(nonsending) func sweepAndWait(_ kind: Sweep.Kind, closing: Bool = false) async {
        guard let waiter = sweep(kind, closing: closing, awaiting: !isInsideHandler) else { return }
        let call: StaticString = closing ? "shutDownAndWait()" : "flushAndWait()"
        if await !waiter.promise.wait(observer: workObserver, in: wait(in: call)) { withdraw(waiter.id) }
    }

    /// Withdraws a caller that waited for all keys: with many, in portions, as the call for all keys was made.
    private func withdraw(_ waiter: WaiterID) {
        removePromise(of: waiter)
        var blocks = 0..<Self.keysAtOnce / 64
        while !lock.withLock({ engine.removeWaiter(waiter, fromBlocks: blocks) }) {
            blocks = blocks.upperBound..<blocks.upperBound + Self.keysAtOnce / 64
            pauseBetweenPortions()
        }
    }

    private func sweep(
        _ kind: Sweep.Kind, closing: Bool, awaiting: Bool
    ) -> (id: WaiterID, promise: Promise)? {
        let now = self.now
        if lock.withLock({ engine.keyCount > Self.keysAtOnce }) {
            return sweepInPortions(kind, closing: closing, awaiting: awaiting, at: now)
        }
        return handle {
            if closing { close(kind) }
            engine.sweep(kind, at: now)
            return awaiting ? addWaiter() : nil
        }
    }

    private func sweepInPortions(
        _ kind: Sweep.Kind, closing: Bool, awaiting: Bool, at now: CoreInstant
    ) -> (id: WaiterID, promise: Promise)? {
        catchUp(to: now)
        let promise = awaiting ? Promise() : nil
        lock.lock()
        if closing { close(kind) }
        lastWaiter += 1
        let waiter = lastWaiter
        if let promise { waiters[waiter] = promise }
        var sweep = engine.beginSweep(kind, at: now, waiter: awaiting ? waiter : nil)
        lock.unlock()
        while !sweep.isDone {
            sweep.sortIfNeeded()
            handle { engine.continueSweep(&sweep, limit: Self.keysAtOnce) }
            pauseBetweenPortions()
        }
        return promise.map { (waiter, $0) }
    }

    /// Refuses submits from now on. The caller holds the lock.
    private func close(_ kind: Sweep.Kind) {
        engine.close()
        engine.stopHolding(flushing: kind == .flush)
    }

    /// Starts the executions that are due by an instant, in portions.
    private func catchUp(to now: CoreInstant) {
        var isBehind = true
        while isBehind {
            isBehind = handle {
                engine.advance(to: now, limit: Self.keysAtOnce / 4)
                return engine.nextAlarm <= now
            }
        }
    }

    /// How things stand under all keys. With many, it searches the queue of deadlines in portions.
    var state: WorkState {
        let now = self.now
        while true {
            catchUp(to: now)
            let state = lock.withLock { () -> CoreState? in
                let (isExact, due) = engine.refineNextDue(at: now, budget: 16 * Self.keysAtOnce)
                var state = engine.state
                state.due = due
                return isExact ? state : nil
            }
            if let state { return WorkState(state, at: now) }
            pauseBetweenPortions()
        }
    }
}
