public import LullCore

// Events of the engine other than a submit, a wake-up and the end of an execution.
extension Runtime {
    /// Passes an event at the present instant to the engine, and performs the answer.
    @inlinable
    func handle(_ event: (inout Engine<Key, Item>, CoreInstant) -> EngineActions) {
        let now = clock.now()
        handle { engine in ((), event(&engine, now)) }
    }

    /// Passes an event to the engine, performs the answer, and returns what else the event has found out.
    @inlinable
    func handle<R>(_ event: (inout Engine<Key, Item>) -> (R, EngineActions)) -> R {
        lock.lock()
        var (result, actions) = event(&engine)
        let hasObservers = hasObservers
        if hasObservers { record(actions.more[...], at: engine.now) }
        unlockAndPerform(&actions)
        if hasObservers { wakeObservers() }
        return result
    }

    /// Postpones what is pending under a key, without a value.
    @usableFromInline
    func touch(_ key: Key, wait: CoreDuration? = nil) {
        let now = clock.now()
        handle { engine in
            let actions = engine.touch(key, at: now, wait: wait)
            for buffer in recordingBuffers { _ = buffer.add(key, at: engine.now, isTouch: true) }
            return ((), actions)
        }
    }

    /// Passes an event to the engine, and waits until all executions of a key that run or wait after it have ended, and their outcomes
    /// have been told.
    ///
    /// Inside an execution of the same debouncer it does not wait: that cannot wait for its own end.
    @usableFromInline
    nonisolated(nonsending) func handleAndWait(
        for key: Key, _ event: (inout Engine<Key, Item>, CoreInstant) -> EngineActions
    ) async {
        let waits = !isInsideHandler
        let now = clock.now()
        let waiter = handle { engine -> ((id: WaiterID, promise: Promise<Void>)?, EngineActions) in
            let actions = event(&engine, now)
            lastWaiter += 1
            guard waits, engine.addWaiter(lastWaiter, for: key) else { return (nil, actions) }
            let promise = Promise<Void>()
            waiters[lastWaiter] = promise
            return ((lastWaiter, promise), actions)
        }
        if let waiter, await waiter.promise.value(observer: workObserver) == nil { withdraw(waiter.id, for: key) }
    }

    /// Whether the caller is part of an execution whose outcome has not been told: of the handler, a completion or `onFailure`,
    /// or of a task that one of them made.
    @usableFromInline
    var isInsideHandler: Bool {
        guard let run = Work.current?.run(of: number) else { return false }
        return lock.withLock { engine.hasStarted(run) }
    }
}
