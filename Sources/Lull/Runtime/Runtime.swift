internal import Dispatch
public import LullCore

/// What all debouncers and throttlers are made of: the engine behind a lock, a clock that wakes it, and a handler.
///
/// The lock is held for one event of the engine at a time. Handlers, callbacks, continuations and the release of values
/// all happen after it has been let go.
@usableFromInline
package final class Runtime<Key: Hashable & Sendable, Value: Sendable, Output: Sendable>: @unchecked Sendable {
    /// A submitted value, and the promise of its outcome if somebody has asked for it.
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

    @usableFromInline typealias Answer = Actions<Key, Item>

    // Proof of @unchecked Sendable: everything that varies is only touched while `lock` is held.
    @usableFromInline let lock = Lock()
    // The lock is what keeps accesses to the engine apart; the runtime's own check of that took a sixth of a submit.
    @exclusivity(unchecked) @usableFromInline var engine: Engine<Key, Item>
    /// The tasks of running executions, which may have to be cancelled. The engine knows the place of each.
    @exclusivity(unchecked) @usableFromInline var tasks = Slab<Launched>()
    /// Executions on their way to the queue of a synchronous handler. The engine knows the place of each.
    @exclusivity(unchecked) @usableFromInline var ready = ReadyRuns()
    /// The blocks that are on their way there or running, to take care of them.
    @exclusivity(unchecked) @usableFromInline var blocks = 0
    /// Those of them that have not begun.
    @exclusivity(unchecked) @usableFromInline var blocksOnWay = 0
    /// Those who wait for executions to end.
    @usableFromInline var waiters: [WaiterID: Promise<Void>] = [:]
    @usableFromInline var tickets: WaiterID = 0

    /// Those who want to know what happens, and whether there are any.
    @usableFromInline var watchers: [EventBuffer<Key>] = []
    @usableFromInline var recordings: [RecordingBuffer<Key>] = []
    @exclusivity(unchecked) @usableFromInline var isWatched = false

    /// Tells it apart from all others, of any time.
    @usableFromInline let number = DebouncerNumber.next()
    /// The number of wake-ups that have been arranged.
    @exclusivity(unchecked) @usableFromInline var arrangements: UInt64 = 0
    /// Whether the last handle has gone.
    @usableFromInline var isOrphaned = false
    /// The runtime itself, while nobody else holds it and a value is still to fall due.
    @exclusivity(unchecked) @usableFromInline var kept: Runtime?

    @usableFromInline let clock: WakingClock
    @usableFromInline let observer: (any WorkObserver)?
    /// Whether there is one. It would have to be copied to be looked at.
    @usableFromInline let isObserved: Bool
    /// When it was made.
    @usableFromInline let origin: CoreInstant
    @usableFromInline let handler: Handler
    @usableFromInline let onFailure: (@Sendable (any Error, Key) async -> Void)?
    @usableFromInline let atEnd: AtEnd
    let kind: Policy.Kind
    /// Where it is made in the source code.
    let site: SourceSite

    init(
        _ setup: Setup, clock: any Clock<Duration>, tolerance: Duration = .zero, atEnd: AtEnd,
        onFailure: (@Sendable (any Error, Key) async -> Void)?, madeAt site: SourceSite, handler: Handler
    ) {
        require(tolerance >= .zero, "the tolerance is \(tolerance), but must be zero or more")
        engine = Engine(setup)
        kind = setup.policy.kind
        self.site = site
        var queue: DispatchQueue?
        if case .queue(let its, _) = handler { queue = its }
        self.clock = WakingClock.make(
            for: clock, wakingOn: queue, tolerance: min(CoreDuration(tolerance), longestSleep))
        observer = self.clock.observer
        isObserved = observer != nil
        origin = self.clock.now()
        self.handler = handler
        self.onFailure = onFailure
        self.atEnd = atEnd
    }

    deinit {
        clock.leave()
        for watcher in watchers { watcher.end() }
    }

    // MARK: - Submitting

    // Inlined where it is called, so that `wait` and `promise` are known not to be there: a tenth of a submit.
    @inlinable
    @inline(__always)
    func submit(
        _ value: Value, for key: Key, wait: CoreDuration? = nil, promise: Promise<Outcome<Output>>? = nil
    ) {
        var item = Item(value: value, promise: promise)
        let now = clock.now()
        lock.lock()
        let place = engine.slotIndex(of: key)
        // Who watches is told on the long way.
        switch isWatched ? .needsSlowPath : engine.submitFastPath(&item, at: place, at: now, wait: wait) {
        case .displaced(let fate):
            lock.unlock()
            if let promise = item.promise { promise.deliver(Outcome(fate)) }
        case .collected:
            lock.unlock()
        case .needsSlowPath:
            offer(item, for: key, at: place, at: now, wait: wait)
        }
    }

    /// The long way of a submit. Called with the lock held, which it lets go of.
    @inlinable
    @inline(never)
    func offer(_ item: consuming Item, for key: Key, at place: UInt32, at now: CoreInstant, wait: CoreDuration?) {
        var actions = engine.submitSlowPath(item, for: key, at: place, at: now, wait: wait)
        let isTold = isWatched && noteSubmit(of: key, actions, at: engine.now)
        let discarded = engine.takeDiscarded()
        lock.unlock()
        discarded.free()
        perform(&actions)
        if isTold { wakeWatchers() }
    }

    // MARK: - Doing what the engine says

    /// Does it, and empties the answer: to take it as a value would copy it first.
    @inlinable
    @inline(never)
    func perform(_ actions: inout Answer, isWaking: Bool = false) {
        actions.displaced?.promise?.deliver(Outcome(actions.fate))
        // An empty array would be made anew in there.
        if !actions.more.isEmpty { performMore(&actions) }
        if actions.movesAlarm, !isWaking { rearm() }
    }

    @inlinable
    func performMore(_ actions: inout Answer) {
        var hasStarted = false
        actions.more.withUnsafeMutableBufferPointer { all in
            guard let start = all.baseAddress else { return }
            for place in start..<start + all.count {
                // Moved, all in one function: a copy of an execution takes as long as the engine takes to start it. And
                // something has to be there when the array goes away.
                defer { place.initialize(to: .resume(0)) }
                switch place.move() {
                case .start(let execution):
                    if case .task(let isolation, let body) = handler {
                        startTask(execution, isolation, body)
                    } else {
                        makeReady(execution)
                        hasStarted = true
                    }
                case .cancel(let run):
                    cancel(run)
                case .settle(_, let batch, let fate):
                    deliver(Outcome(fate), to: batch)
                case .resume(let ticket):
                    lock.withLock { waiters.removeValue(forKey: ticket) }?.deliver(())
                case .release:
                    break
                }
            }
        }
        actions.more = []
        if hasStarted { sendBlocks() }
    }

    /// Cancels the task of an execution that has been told to stop, or ends it before its queue comes to it.
    @inlinable
    func cancel(_ run: RunID) {
        guard case .task = handler else { return takeBack(run) }
        lock.withLock { engine.attachment(of: run).map { tasks[$0].pointee } }?.cancel()
    }

    /// Tells everybody who has asked for the outcome of one of these submits.
    ///
    /// - Returns: Whether anybody has taken it.
    @inlinable
    @discardableResult
    func deliver(_ outcome: Outcome<Output>, to batch: Batch<Item>) -> Bool {
        var isTaken = false
        for item in batch.earlier where item.promise?.deliver(outcome) == true { isTaken = true }
        if batch.value.promise?.deliver(outcome) == true { isTaken = true }
        return isTaken
    }

    /// Calls an event of the engine at the present instant, and does what it says.
    @inlinable
    func report(_ event: (inout Engine<Key, Item>, CoreInstant) -> Answer) {
        let now = clock.now()
        reportEvent { engine in ((), event(&engine, now)) }
    }

    /// Calls an event of the engine, does what it says, and returns what else it has found out.
    @inlinable
    func reportEvent<R>(_ event: (inout Engine<Key, Item>) -> (R, Answer)) -> R {
        lock.lock()
        var (result, actions) = event(&engine)
        let isWatched = isWatched
        if isWatched { note(actions.more[...], at: engine.now) }
        let discarded = engine.takeDiscarded()
        lock.unlock()
        discarded.free()
        perform(&actions)
        if isWatched { wakeWatchers() }
        return result
    }

    /// The same, and waits for what runs and waits of a key afterwards to have ended.
    ///
    /// From inside a handler of the same debouncer it does not wait: a handler cannot wait for its own end.
    @inlinable
    nonisolated(nonsending) func reportAndWait(
        for key: Key, _ event: (inout Engine<Key, Item>, CoreInstant) -> Answer
    ) async {
        let isInside = isInsideHandler
        let now = clock.now()
        let promise = reportEvent { engine -> (Promise<Void>?, Answer) in
            let actions = event(&engine, now)
            tickets += 1
            guard !isInside, engine.addWaiter(tickets, for: key) else { return (nil, actions) }
            let promise = Promise<Void>()
            waiters[tickets] = promise
            return (promise, actions)
        }
        _ = await promise?.value(observer: observer)
    }

    /// Carries out a call for all keys, and waits for what runs and waits afterwards to have ended.
    ///
    /// From inside a handler of the same debouncer it does not wait.
    @inlinable
    nonisolated(nonsending) func carryOutAndWait(_ kind: Sweep.Kind, closing: Bool = false) async {
        if isInsideHandler { return carryOut(kind, closing: closing) }
        let promise = Promise<Void>()
        carryOut(kind, closing: closing, promise: promise)
        _ = await promise.value(observer: observer)
    }

    /// Whether the caller belongs to a run of the handler that has not ended. A task that has outlived the handler which
    /// made it no longer does, and neither does a callback.
    @usableFromInline
    var isInsideHandler: Bool {
        guard let run = Work.current?.run(of: number) else { return false }
        return lock.withLock { engine.isRunning(run) }
    }
}

extension Runtime {
    /// Arranges to be woken when the engine wants to be.
    ///
    /// The alarm is read with the lock held, and the wake-up arranged without it. Of two threads that have moved the alarm,
    /// the one that has seen both moves has the higher number, which counts.
    @inlinable
    func rearm(after waking: Waking? = nil) {
        lock.lock()
        let alarm = engine.alarm
        arrangements += 1
        let stamp = arrangements
        // Here, since only here the types are known. Nobody else has arranged anything by now.
        if stamp == 1 { clock.wake = { [weak self] waking in self?.wake(waking) } }
        let old = kept
        if isOrphaned { kept = hasMoreToCome ? self : nil }
        lock.unlock()
        clock.arrange(alarm, stamp: stamp, after: waking)
        withExtendedLifetime(old) {}
    }

    /// Whether a value is pending that has not fallen due. Called with the lock held.
    @inlinable
    var hasMoreToCome: Bool { engine.counters.pending > engine.waitingCount && engine.alarm != .farFuture }

    /// The last handle has gone: pending values are due even if nobody holds the runtime.
    @usableFromInline
    func keepUntilDue() {
        lock.withLock {
            isOrphaned = true
            if hasMoreToCome { kept = self }
        }
    }

    /// Does what is due by now, about as many executions at most as `waking` allows, and asks to be woken again.
    ///
    /// On the handler's queue this is a block there itself, and runs the first of them.
    @inlinable
    @inline(never)
    func wake(_ waking: Waking) {
        if waking == .onQueue {
            lock.lock()
            blocks += 1
            blocksOnWay += 1
            lock.unlock()
        }
        var isBehind = true
        var isWatched = false
        var left = waking.limit
        while isBehind, left > 0 {
            let now = clock.now()
            // As many executions between two takings of the lock as make it cheap, few enough not to hold up submits.
            lock.lock()
            var actions = engine.advance(to: now, limit: 64)
            isWatched = self.isWatched
            if isWatched { note(actions.more[...], at: engine.now) }
            isBehind = engine.alarm <= now
            let discarded = engine.takeDiscarded()
            lock.unlock()
            discarded.free()
            perform(&actions, isWaking: true)
            left -= 64
        }
        if isWatched { wakeWatchers() }
        rearm(after: waking)
        if waking == .onQueue, case .queue(let queue, let body) = handler { runBlock(queue, body) }
    }
}
