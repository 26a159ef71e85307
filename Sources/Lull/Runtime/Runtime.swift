internal import Dispatch
public import LullCore

/// The engine behind a lock, the clock that wakes it, and the handler: the common part of all debouncers and throttlers.
///
/// It drives the engine, a state machine, and performs the actions that the engine answers with. The lock is held for one event
/// of the engine at a time. Handlers, callbacks, continuations and the release of values run without it.
@usableFromInline
package final class Runtime<Key: Hashable & Sendable, Value: Sendable, Output: Sendable>: @unchecked Sendable {
    /// A submitted value, and the promise of its outcome if the caller has asked for it.
    @frozen
    @usableFromInline
    struct Item: Sendable {
        @usableFromInline let value: Value
        @usableFromInline let promise: Promise<Outcome<Output>>?

        @inlinable
        init(value: Value, promise: Promise<Outcome<Output>>?) {
            self.value = value
            self.promise = promise
        }
    }

    @usableFromInline typealias EngineActions = Actions<Key, Item>

    // Proof of @unchecked Sendable: everything that varies is only touched while `lock` is held.
    @usableFromInline let lock = Lock()
    // The lock excludes overlapping accesses. The language's own check of that took a sixth of a submit (`make bench ROWS=hot`).
    @exclusivity(unchecked) @usableFromInline var engine: Engine<Key, Item>
    /// The tasks of running executions, to be cancelled. The engine keeps the slot of each.
    @exclusivity(unchecked) @usableFromInline var tasks = Slab<Task<Void, any Error>>()
    /// The executions of a synchronous handler. The engine keeps the slot of each.
    @exclusivity(unchecked) @usableFromInline var queueRuns = QueueRuns()
    /// The promises to callers that wait for executions to end.
    @usableFromInline var waiters: [WaiterID: Promise<Void>] = [:]
    @usableFromInline var lastWaiter: WaiterID = 0

    var eventBuffers: [EventBuffer<Key>] = []
    @usableFromInline var recordingBuffers: [RecordingBuffer<Key>] = []
    /// Whether any of these exist.
    @exclusivity(unchecked) @usableFromInline var hasObservers = false

    /// Identifies the runtime for the life of the process.
    @usableFromInline let number = RuntimeNumber.next()
    /// The stamp of the wake-up that was scheduled last.
    @exclusivity(unchecked) @usableFromInline var wakeUpStamp: UInt64 = 0
    /// Whether the debouncer or throttler has been released.
    @usableFromInline var isOwnerReleased = false
    /// The runtime itself, if its owner has been released and a value is still to fall due.
    @exclusivity(unchecked) @usableFromInline var retainedSelf: Runtime?

    @usableFromInline let clock: any WakingClock
    @usableFromInline let workObserver: (any WorkObserver)?
    /// Whether there is a `workObserver`. To look at an existential is to copy it.
    @usableFromInline let tracksWork: Bool
    /// When the runtime was made.
    let origin: CoreInstant
    @usableFromInline let handler: Handler
    @usableFromInline let onFailure: FailureHandler<Key>?
    @usableFromInline let atEnd: AtEnd
    let kind: Policy.Kind
    /// Where the program makes it.
    let site: SourceSite

    init(
        _ options: CheckedOptions, clock: any WakingClock, onFailure: FailureHandler<Key>?, madeAt site: SourceSite,
        handler: Handler
    ) {
        engine = Engine(options.setup)
        kind = options.setup.policy.kind
        atEnd = options.atEnd
        self.site = site
        self.clock = clock
        workObserver = clock.workObserver
        tracksWork = workObserver != nil
        origin = clock.now()
        self.handler = handler
        self.onFailure = onFailure
    }

    deinit {
        clock.removeClient()
        for buffer in eventBuffers { buffer.end() }
    }
}

// MARK: - Submitting

extension Runtime {
    // Inlined into the caller, as is the function below, where `wait` and `promise` are then nil: a tenth of a submit (`make bench
    // ROWS=hot`).
    @inlinable
    @inline(__always)
    func submit(_ value: Value, for key: Key) {
        submitInline(value, for: key, wait: nil, promise: nil)
    }

    @inlinable
    @inline(never)
    func submit(_ value: Value, for key: Key, wait: CoreDuration?, promise: Promise<Outcome<Output>>?) {
        submitInline(value, for: key, wait: wait, promise: promise)
    }

    @inlinable
    @inline(__always)
    func submitInline(_ value: Value, for key: Key, wait: CoreDuration?, promise: Promise<Outcome<Output>>?) {
        var item = Item(value: value, promise: promise)
        let now = clock.now()
        lock.lock()
        let slot = engine.slotIndex(of: key)
        // The slow path records submits for observers.
        switch hasObservers ? .needsSlowPath : engine.submitFastPath(&item, at: slot, at: now, wait: wait) {
        case .displaced(let fate):
            lock.unlock()
            if let promise = item.promise { promise.deliver(Outcome(fate)) }
        case .collected:
            lock.unlock()
        case .needsSlowPath:
            submitSlowPath(item, for: key, at: slot, at: now, wait: wait)
        }
    }

    /// Submits what does not simply join a pending value. The caller holds the lock; this releases it.
    @inlinable
    @inline(never)
    func submitSlowPath(_ item: consuming Item, for key: Key, at slot: UInt32, at now: CoreInstant, wait: CoreDuration?)
    {
        var actions = engine.submitSlowPath(item, for: key, at: slot, at: now, wait: wait)
        let wakesObservers = hasObservers && recordSubmit(of: key, actions, at: engine.now)
        unlockAndPerform(&actions)
        if wakesObservers { wakeObservers() }
    }
}

// MARK: - Performing actions

extension Runtime {
    /// Releases the lock, which the caller holds since the engine has returned these actions, and performs them.
    @inlinable
    func unlockAndPerform(_ actions: inout EngineActions, isWaking: Bool = false) {
        let sendsBlocks = makeReady(&actions)
        let discarded = engine.takeDiscarded()
        lock.unlock()
        discarded.free()
        perform(&actions, sendsBlocks: sendsBlocks, isWaking: isWaking)
    }

    /// Performs actions, and empties them. The parameter is `inout` since a consumed one would be copied first.
    ///
    /// - Parameter sendsBlocks: What ``makeReady(_:)`` has returned.
    @inlinable
    @inline(never)
    func perform(_ actions: inout EngineActions, sendsBlocks: Bool, isWaking: Bool = false) {
        actions.displaced?.promise?.deliver(Outcome(actions.fate))
        if !actions.more.isEmpty { performMore(&actions) }
        if sendsBlocks { sendBlocks() }
        if actions.movesAlarm, !isWaking { scheduleWakeUp() }
    }

    @inlinable
    func performMore(_ actions: inout EngineActions) {
        var pending = actions.takeMore()
        while let action = pending.next() {
            switch consume action {
            case .start(let execution):
                guard case .task(let isolation, let body) = handler else {
                    preconditionFailure("an execution for a queue was not made ready")
                }
                startTask(execution, on: isolation, body)
            case .cancel(let run):
                cancel(run)
            case .settle(_, let batch, let fate):
                deliver(Outcome(fate), to: batch)
            case .resume(let waiter):
                lock.withLock { waiters.removeValue(forKey: waiter) }?.deliver(())
            case .release:
                break
            }
        }
    }
}

// MARK: - Waking

extension Runtime {
    /// Schedules the wake-up that the engine asks for.
    ///
    /// The alarm is read under the lock, and the wake-up scheduled without it. Of two threads that have moved the alarm, the one
    /// that has seen both moves has the higher stamp, which counts.
    @inlinable
    func scheduleWakeUp(after source: WakeSource? = nil) {
        lock.lock()
        let alarm = engine.alarm
        wakeUpStamp += 1
        let stamp = wakeUpStamp
        // Set here, where the types are known. No other thread has scheduled anything before the first stamp.
        if stamp == 1 { clock.wake = { [weak self] source in self?.wake(source) } }
        let previous = retainedSelf
        if isOwnerReleased { retainedSelf = willFallDue ? self : nil }
        lock.unlock()
        clock.scheduleWakeUp(at: alarm, stamp: stamp, after: source)
        withExtendedLifetime(previous) {}
    }

    /// Whether a pending value has yet to fall due. The caller holds the lock.
    @inlinable
    var willFallDue: Bool { engine.counters.pending > engine.waitingCount && engine.alarm != .farFuture }

    /// Performs what is due by now, up to about the limit of `source`, and schedules the next wake-up.
    ///
    /// On the handler's queue this is a block itself, and runs the first executions.
    @inlinable
    @inline(never)
    func wake(_ source: WakeSource) {
        if source == .onQueue { lock.withLock { queueRuns.sendBlock() } }
        var isBehind = true
        var hadObservers = false
        var left = source.limit
        while isBehind, left > 0 {
            let now = clock.now()
            // Enough executions for one taking of the lock to be cheap, and few enough not to hold up submits.
            lock.lock()
            var actions = engine.advance(to: now, limit: 64)
            hadObservers = hasObservers
            if hadObservers { record(actions.more[...], at: engine.now) }
            isBehind = engine.alarm <= now
            unlockAndPerform(&actions, isWaking: true)
            left -= 64
        }
        if hadObservers { wakeObservers() }
        scheduleWakeUp(after: source)
        if source == .onQueue, case .queue(let queue, let body) = handler { runBlock(queue, body) }
    }
}
