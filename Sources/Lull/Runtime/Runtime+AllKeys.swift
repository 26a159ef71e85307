#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif
public import LullCore

// Flush, cancel and shut-down of all keys (<doc:Semantics>, section 5). With many keys they take the lock several times, for a
// portion of the keys each: a submit in between waits no longer than for any other call. They are inlined into the user's module:
// unspecialised, a portion held the lock five times as long (`make bench ROWS=holds`).
extension Runtime {
    /// Passes a call for all keys at the present instant to the engine, and performs the answer.
    ///
    /// - Parameters:
    ///   - kind: The call.
    ///   - closing: Whether later submits are rejected.
    ///   - promise: Fulfilled when the executions that run or wait after the call have ended.
    /// - Returns: The waiter that stands for the promise.
    @inlinable
    @discardableResult
    func sweep(_ kind: Sweep.Kind, closing: Bool = false, promise: Promise<Void>? = nil) -> WaiterID {
        let now = clock.now()
        if lock.withLock({ engine.slotCount > keysAtOnce }) {
            return sweepInPortions(kind, closing, promise, at: now)
        } else {
            return sweepAtOnce(kind, closing, promise, at: now)
        }
    }

    /// Does the same, and waits until the executions that run or wait after the call have ended.
    ///
    /// Inside a handler of the same debouncer it does not wait.
    @inlinable
    nonisolated(nonsending) func sweepAndWait(_ kind: Sweep.Kind, closing: Bool = false) async {
        let promise = isInsideHandler ? nil : Promise<Void>()
        let waiter = sweep(kind, closing: closing, promise: promise)
        if let promise, await promise.value(observer: workObserver) == nil { withdraw(waiter) }
    }

    @inlinable
    @inline(never)
    func sweepAtOnce(
        _ kind: Sweep.Kind, _ closing: Bool, _ promise: Promise<Void>?, at now: CoreInstant
    ) -> WaiterID {
        let (isAwaited, waiter) = handle { engine in
            if closing { close(kind) }
            let actions = engine.sweep(kind, at: now)
            lastWaiter += 1
            guard let promise, engine.addWaiter(lastWaiter) else { return ((false, lastWaiter), actions) }
            waiters[lastWaiter] = promise
            return ((true, lastWaiter), actions)
        }
        if !isAwaited { promise?.deliver(()) }
        return waiter
    }

    @inlinable
    @inline(never)
    func sweepInPortions(
        _ kind: Sweep.Kind, _ closing: Bool, _ promise: Promise<Void>?, at now: CoreInstant
    ) -> WaiterID {
        catchUp(to: now)
        let waiter: WaiterID
        var sweep: Sweep
        (sweep, waiter) = lock.withLock {
            if closing { close(kind) }
            lastWaiter += 1
            if let promise { waiters[lastWaiter] = promise }
            return (engine.beginSweep(kind, at: now, waiter: promise == nil ? nil : lastWaiter), lastWaiter)
        }
        while !sweep.isDone {
            sweep.sortIfNeeded()
            handle { engine in ((), engine.continueSweep(&sweep, limit: keysAtOnce)) }
            pauseBetweenPortions()
        }
        return waiter
    }

    /// Refuses submits from now on. The caller holds the lock.
    @inlinable
    func close(_ kind: Sweep.Kind) {
        engine.close()
        engine.stopHolding(flushing: kind == .flush)
    }

    /// Starts the executions that are due by an instant, in portions.
    @inlinable
    func catchUp(to now: CoreInstant) {
        var isBehind = true
        while isBehind {
            isBehind = handle { engine in
                let actions = engine.advance(to: now, limit: keysAtOnce / 4)
                return (engine.alarm <= now, actions)
            }
        }
    }

    /// Returns when the next value of any key falls due.
    ///
    /// With many keys it starts what is due by now, as the timer would, and searches the deadline queue in portions.
    @inlinable
    func nextDue(at now: CoreInstant) -> CoreInstant? {
        let (isFound, due) = lock.withLock {
            engine.slotCount > keysAtOnce ? (false, nil) : (true, engine.nextDue(at: now))
        }
        return isFound ? due : nextDueInPortions(at: now)
    }

    @inlinable
    @inline(never)
    func nextDueInPortions(at now: CoreInstant) -> CoreInstant? {
        while true {
            catchUp(to: now)
            let (isExact, due) = lock.withLock { engine.refineNextDue(at: now, budget: 16 * keysAtOnce) }
            if isExact { return due }
            pauseBetweenPortions()
        }
    }

    /// Handles the release of the owner, as `atEnd` says. Values that are still pending keep the runtime alive until they are due.
    @inlinable
    func ownerIsReleased() {
        lock.withLock { engine.stopHolding(flushing: atEnd != .drop) }
        switch atEnd {
        case .executeWhenDue:
            // No call can bring forward what is due in the far future.
            if lock.withLock({ engine.counters.pending > 0 }) { sweep(.dropUnreachable) }
        case .flush: sweep(.flush)
        case .drop: sweep(.cancel(running: false))
        }
        lock.withLock {
            isOwnerReleased = true
            if willFallDue { retainedSelf = self }
        }
    }
}

/// How many keys a call for all keys handles under one lock.
@usableFromInline let keysAtOnce = 256

/// Pauses so that a thread that waits for the lock can wake up and take it.
@usableFromInline
func pauseBetweenPortions() {
    usleep(20)
}
