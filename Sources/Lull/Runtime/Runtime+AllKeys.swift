#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif
public import LullCore

// Calls for all keys: section 5 of the semantics. With many keys such a call reaches them in portions, so that
// submits in between wait no longer than for any other call.
extension Runtime {
    /// Carries out a call for all keys as of the present instant, and does what the engine says.
    ///
    /// - Parameters:
    ///   - kind: What is done at every key.
    ///   - closing: Whether no more submits are taken from then on.
    ///   - promise: Kept when what runs and waits afterwards has ended.
    @inlinable
    func carryOut(_ kind: Sweep.Kind, closing: Bool = false, promise: Promise<Void>? = nil) {
        let now = clock.now()
        if lock.withLock({ engine.slotCount > keysAtOnce }) {
            carryOutInPortions(kind, closing, promise, at: now)
        } else {
            reportAll(kind, closing, promise, at: now)
        }
    }

    @inlinable
    @inline(never)
    func reportAll(_ kind: Sweep.Kind, _ closing: Bool, _ promise: Promise<Void>?, at now: CoreInstant) {
        let isAwaited = reportEvent { engine in
            if closing { engine.close() }
            let actions = engine.sweep(kind, at: now)
            tickets += 1
            guard let promise, engine.addWaiter(tickets) else { return (false, actions) }
            waiters[tickets] = promise
            return (true, actions)
        }
        if !isAwaited { promise?.deliver(()) }
    }

    @inlinable
    @inline(never)
    func carryOutInPortions(_ kind: Sweep.Kind, _ closing: Bool, _ promise: Promise<Void>?, at now: CoreInstant) {
        catchUp(to: now)
        var sweep = lock.withLock {
            if closing { engine.close() }
            guard let promise else { return engine.beginSweep(kind, at: now) }
            tickets += 1
            waiters[tickets] = promise
            return engine.beginSweep(kind, at: now, waiter: tickets)
        }
        while !sweep.isDone {
            sweep.sortIfNeeded()
            reportEvent { engine in ((), engine.continueSweep(&sweep, limit: keysAtOnce)) }
            letOthersIn()
        }
    }

    /// Does what was due by an instant, in portions.
    @inlinable
    func catchUp(to now: CoreInstant) {
        var isBehind = true
        while isBehind {
            isBehind = reportEvent { engine in
                let actions = engine.advance(to: now, limit: keysAtOnce / 4)
                return (engine.alarm <= now, actions)
            }
        }
    }

    /// When the next value of any key falls due.
    ///
    /// With many keys it does what is due by now, as the timer would, and looks at the queue of deadlines in portions.
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
            letOthersIn()
        }
    }

    /// The last handle has gone.
    @inlinable
    func ownerHasGone() {
        switch atEnd {
        case .executeWhenDue:
            // Nothing will ever make what is due in the far future due earlier.
            if lock.withLock({ engine.counters.pending > 0 }) { carryOut(.dropUnreachable) }
        case .flush: carryOut(.flush)
        case .drop: carryOut(.cancel(running: false))
        }
        keepUntilDue()
    }
}

/// How many keys a call for all of them reaches with one taking of the lock.
@usableFromInline let keysAtOnce = 256

/// Pauses between two portions: a lock that is taken again at once leaves no time for a thread that waits for it to wake up.
@usableFromInline
func letOthersIn() {
    usleep(20)
}
