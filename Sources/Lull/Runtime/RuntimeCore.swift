package import Dispatch
package import LullCore

/// The engine behind a lock, and the clock that wakes it: what all debouncers and throttlers have in common, whatever
/// their keys and values are. ``Runtime`` keeps those, and calls the handler.
///
/// It drives the engine, a state machine, and performs the actions that the engine answers with. The lock is held for
/// one event of the engine at a time. Handlers, callbacks, continuations and the release of values run without it.
@usableFromInline
package class RuntimeCore: @unchecked Sendable {
    // Proof of @unchecked Sendable: everything that varies is only touched while `lock` is held.
    @usableFromInline package final let lock = Lock()
    // The lock excludes overlapping accesses. The language's own check of that took a sixth of a submit (`make bench
    // ROWS=hot`).
    @exclusivity(unchecked) @usableFromInline package internal(set) final var engine: SlotEngine
    /// Whether there are event buffers or recordings.
    @exclusivity(unchecked) @usableFromInline final var hasObservers = false
    /// Whether something has been recorded of which observers are to be told when the lock has been released.
    @exclusivity(unchecked) final var wakesObservers = false
    /// Whether the inspector has been told of this, if there is one.
    private final var isIntroduced = false
    /// The executions that are ready for the handler's queue.
    @exclusivity(unchecked) private final var ready = ReadyRuns()
    /// The promises to callers that wait for executions to end.
    final var waiters: [WaiterID: Promise] = [:]
    final var lastWaiter: WaiterID = 0

    /// The stamp of the wake-up that was scheduled last.
    private final var wakeUpStamp: UInt64 = 0
    /// Whether the debouncer or throttler has been released.
    private final var isOwnerReleased = false
    /// The runtime itself, if its owner has been released and a value is still to fall due, or to start when the limit
    /// allows.
    private final var retainedSelf: RuntimeCore?

    /// Identifies the runtime for the life of the process.
    package final let number = RuntimeNumber.next()
    final let clock: any WakingClock
    /// Whether that is the system's, which is read without a look at what it is.
    private final let hasSystemClock: Bool
    final let workObserver: (any WorkObserver)?
    /// When the runtime was made.
    final let origin: CoreInstant
    /// The queue of a synchronous handler.
    package final let queue: DispatchQueue?
    /// Whether all values are kept, in companions.
    final let collects: Bool
    private final let atEnd: EndPolicy
    package final let kind: Policy.Kind
    /// Where the program makes it.
    package final let site: SourceSite

    init(
        _ options: CheckedOptions, clock: any WakingClock, queue: DispatchQueue?, engine: consuming SlotEngine
    ) {
        self.engine = engine
        collects = options.setup.combination == .collect
        kind = options.setup.policy.kind
        atEnd = options.atEnd
        site = options.site
        self.clock = clock
        hasSystemClock = clock is SchedulerClient
        workObserver = clock.workObserver
        origin = clock.now()
        self.queue = queue
        if InspectorHook.isWanted {
            isIntroduced = true
            InspectorHook.introduce(self)
        }
    }

    deinit {
        clock.removeClient()
    }

    /// The present instant.
    @usableFromInline package final var now: CoreInstant { hasSystemClock ? SchedulerClient.now : clock.now() }

    // MARK: - What depends on the types of keys and values

    // `Runtime`, of which every object is, overrides each of these.

    /// Moves keys and values as the engine's actions say, and adds what is to be done without the lock. The caller
    /// holds it.
    ///
    /// - Parameter now: The instant that observers are told.
    func moveValues(_ orders: inout Orders, at now: CoreInstant) {}
    /// Releases keys and values that have left the engine, and their memory.
    func release(_ orders: borrowing Orders) {}
    /// Runs an execution in a task of its own.
    func startTask(_ run: RunID, _ work: TrackedWork?) {}
    /// Runs the handler for an execution that is not ready any more, unless it is being cancelled, and reports its end.
    /// The caller holds the lock; this releases it.
    func perform(_ run: StartedRun.Pointer, sendingBlock: Bool) {}
    /// Ends an execution that is not ready any more, since it was cancelled. The caller holds the lock; this releases
    /// it.
    func endCancelled(_ run: StartedRun.Pointer, at now: CoreInstant) {}
    /// Wakes the observers, and releases what they have dropped.
    func wakeObservers() {}

    // MARK: - Events of the engine

    /// What is to be done when the lock has been released.
    struct Orders: ~Copyable {
        enum Order {
            case start(RunID, TrackedWork?)
            case cancel(RunID)
            case resolve(Companion, NotExecutedError)
            /// The same for a single promise, which is not kept with values.
            case tell(AnyObject, NotExecutedError)
            case resume(WaiterID)
            /// Something rare.
            case other(() -> Void)
        }

        /// The first one: mostly it is the only one, which takes no allocation.
        private(set) var first: Order?
        /// The others, in order.
        private(set) var more: [Order] = []
        var sendsBlocks = false
        /// Values that have left the engine, and keys.
        var values = RawArray()
        var keys = RawArray()
        /// Memory to be freed.
        var discarded = DiscardedMemory()

        mutating func add(_ order: Order) {
            if first == nil { first = order } else { more.append(order) }
        }
    }

    /// An array in memory whose element type only `Runtime` knows.
    struct RawArray {
        var memory: UnsafeMutableRawPointer?
        var count = 0
        var capacity = 0
    }

    /// Adds what the engine asks for, and moves keys and values. The caller holds the lock.
    final func takeActions(_ orders: inout Orders, at now: CoreInstant) {
        guard engine.actionCount > 0 else { return }
        moveValues(&orders, at: now)
        engine.clearActions()
    }

    /// Releases the lock, and does what is to be done without it.
    final func unlock(performing orders: consuming Orders, isWaking: Bool = false) {
        orders.discarded = engine.takeDiscarded()
        // Without the owner, nothing but a wake-up that is to come keeps the runtime.
        let movesAlarm = engine.movesAlarm || (isOwnerReleased && retainedSelf == nil && needsWakeUp)
        engine.movesAlarm = false
        let wakesObservers = wakesObservers
        self.wakesObservers = false
        lock.unlock()
        if let first = orders.first {
            perform(first)
            for order in orders.more { perform(order) }
        }
        if orders.sendsBlocks { sendBlocks() }
        if movesAlarm, !isWaking { scheduleWakeUp() }
        if orders.values.memory != nil || orders.keys.memory != nil { release(orders) }
        if wakesObservers { wakeObservers() }
    }

    private final func perform(_ order: Orders.Order) {
        switch order {
        case .start(let run, let work): startTask(run, work)
        case .cancel(let run): cancel(run)
        case .resolve(let companion, let fate): resolve(companion, fate)
        case .tell(let promise, let fate): tell(promise, fate)
        case .resume(let waiter): lock.withLock { waiters.removeValue(forKey: waiter) }?.deliver()
        case .other(let body): body()
        }
    }

    /// Takes what the engine asks for, releases the lock, and performs it.
    ///
    /// - Parameter now: The instant that observers are told; the engine's by default.
    final func unlockAndPerform(at now: CoreInstant? = nil, isWaking: Bool = false) {
        var orders = Orders()
        takeActions(&orders, at: now ?? engine.now)
        unlock(performing: orders, isWaking: isWaking)
    }

    /// Passes an event to the engine, performs the answer, and returns what else the event has found out.
    final func handle<R>(_ event: () -> R) -> R {
        lock.lock()
        let result = event()
        unlockAndPerform()
        return result
    }

    /// Whether the caller is part of an execution whose outcome has not been told: of the handler, a completion or
    /// `onFailure`, or of a task that one of them made.
    final var isInsideHandler: Bool {
        guard let run = TrackedWork.current?.run(of: number) else { return false }
        return lock.withLock { engine.state(of: run) != .ended }
    }

    // MARK: - Waking

    /// Schedules the wake-up that the engine asks for.
    ///
    /// The alarm is read under the lock, and the wake-up scheduled without it. Of two threads that have moved the
    /// alarm, the one that has seen both moves has the higher stamp, which counts.
    private final func scheduleWakeUp(after source: WakeSource? = nil) {
        lock.lock()
        let alarm = engine.nextAlarm
        wakeUpStamp += 1
        let stamp = wakeUpStamp
        // No other thread has scheduled anything before the first stamp.
        if stamp == 1 { clock.wake = { [weak self] source in self?.wake(source) } }
        let previous = retainedSelf
        if isOwnerReleased { retainedSelf = needsWakeUp ? self : nil }
        let introduces = InspectorHook.isWanted && !isIntroduced
        if introduces { isIntroduced = true }
        lock.unlock()
        if introduces { InspectorHook.introduce(self) }
        clock.scheduleWakeUp(at: alarm, stamp: stamp, after: source)
        withExtendedLifetime(previous) {}
    }

    /// Whether a pending value has yet to fall due, or waits for the limit. The caller holds the lock.
    private final var needsWakeUp: Bool {
        engine.nextAlarm != .farFuture && (engine.tally.pending > engine.waitingSubmits || engine.awaitsLimit)
    }

    /// Performs what is due by now, up to about the limit of `source`, and schedules the next wake-up.
    ///
    /// On the handler's queue this is a block itself, and runs the first executions.
    final func wake(_ source: WakeSource) {
        if source == .onQueue { lock.withLock { ready.sendBlock() } }
        var isBehind = true
        var left = source.limit
        while isBehind, left > 0 {
            isBehind = performSome(dueBy: now, isWaking: true)
            left -= 64
        }
        scheduleWakeUp(after: source)
        if source == .onQueue { runBlock() }
    }

    /// Performs some of what is due by an instant, and returns whether more may be.
    private final func performSome(dueBy now: CoreInstant, isWaking: Bool = false) -> Bool {
        lock.lock()
        // Enough executions for one taking of the lock to be cheap, and few enough not to hold up submits.
        engine.advance(to: now, limit: 64)
        let isBehind = engine.nextAlarm <= now
        unlockAndPerform(isWaking: isWaking)
        return isBehind
    }

    /// Changes the wait or the interval, or stops the program if that breaks a rule.
    final func setWait(_ wait: Duration, at site: SourceSite) {
        let now = self.now
        while performSome(dueBy: now) {}
        lock.lock()
        do {
            try engine.setWait(CoreDuration(wait), at: now)
            unlockAndPerform()
        } catch {
            lock.unlock()
            refuse("\(error)", at: site)
        }
    }

    // MARK: - Executions

    /// Lets an execution run, whose start the engine asks for. The caller holds the lock.
    ///
    /// To other threads, an execution for a queue is pending or ready, and never in between.
    final func start(_ run: StartedRun.Pointer, _ orders: inout Orders) {
        let id = run.pointee.id
        _ = engine.attach(UInt(bitPattern: run), to: id)
        if queue == nil {
            orders.add(.start(id, run.pointee.work))
        } else {
            ready.append(run)
            orders.sendsBlocks = true
        }
    }

    /// An execution that runs in a task, or is ready for a queue. The caller holds the lock.
    final func started(_ id: RunID) -> StartedRun.Pointer? {
        engine.attachment(of: id) & 1 == 1 ? nil : unended(id)
    }

    /// An execution whose handler has not ended. The caller holds the lock.
    final func unended(_ id: RunID) -> StartedRun.Pointer? {
        let address = engine.attachment(of: id)
        return address == .max ? nil : StartedRun.Pointer(bitPattern: address & ~1)
    }

    /// What an execution that a queue has taken has attached: its address, which is even, and a mark.
    static func taken(_ run: StartedRun.Pointer) -> UInt { UInt(bitPattern: run) | 1 }

    /// Keeps a task so that it can be cancelled, unless it has ended already.
    final func register(_ task: Task<Void, any Error>, _ run: RunID) {
        let state = lock.withLock { () -> RunState in
            started(run)?.pointee.task = task
            return engine.state(of: run)
        }
        if state.isCancelling { task.cancel() }
    }

    /// Cancels the task of an execution, or ends it if its queue has not begun it: then under one lock, so that nobody
    /// sees it taken.
    private final func cancel(_ id: RunID) {
        let now = lockForEnd()
        guard let run = started(id) else { return lock.unlock() }
        if queue != nil {
            ready.remove(run)
            endCancelled(run, at: now)
        } else {
            let task = run.pointee.task
            lock.unlock()
            task?.cancel()
        }
    }

    /// Takes the lock to report an end. If there are observers, a limit or a time limit, reads the clock first, and not
    /// under the lock: it may be the user's.
    ///
    /// - Returns: The present instant for the observers.
    final func lockForEnd() -> CoreInstant {
        lock.lock()
        guard hasObservers || engine.setup.countsStarts else { return .farPast }
        lock.unlock()
        let now = self.now
        lock.lock()
        // Limits count what the end lets start as of now.
        if engine.setup.countsStarts { engine.advanceNow(to: now) }
        return now
    }

    // MARK: - Promises

    /// Calls `body` with each promise of a companion.
    ///
    /// Proof of the downcasts: where values are kept each, `Cells` makes the companions, and those of shared executions
    /// are tested; what they hold, and all others, are the promises that a runtime has submitted, or have them where
    /// the order of submits matters.
    final func forEachPromise(of companion: Companion, _ body: (Promise) -> Void) {
        if !collects, engine.setup.whileRunning != .share || !(companion is Companions) {
            return withPromise(companion, body)
        }
        for promise in unsafeDowncast(companion, to: Companions.self).all {
            if let promise { withPromise(promise, body) }
        }
    }

    /// Calls `body` with the promise of a single submit, if that has one.
    private final func withPromise(_ companion: AnyObject, _ body: (Promise) -> Void) {
        guard engine.setup.keepsOrder else { return body(unsafeDowncast(companion, to: Promise.self)) }
        let promise = (companion as? KeptSubmit).map { $0.companion } ?? companion
        if let promise { body(unsafeDowncast(promise, to: Promise.self)) }
    }

    /// Tells the callers of submits that are not executed what has become of them.
    private final func resolve(_ companion: Companion, _ fate: NotExecutedError) {
        forEachPromise(of: companion) { $0.resolve(fate) }
    }

    /// Tells the same to the caller of a single submit.
    private final func tell(_ promise: AnyObject, _ fate: NotExecutedError) {
        withPromise(promise) { $0.resolve(fate) }
    }

    /// Whether nothing is pending, waiting or running, whatever has become of it, and every outcome has been told.
    package final var isIdle: Bool { lock.withLock { engine.isIdle } }

    /// How many steps it takes to deliver an outcome: none if no caller has asked for it; otherwise one for all
    /// deliveries together, and one for each completion.
    final func deliverySteps(of companion: Companion?) -> Int {
        guard let companion else { return 0 }
        var steps = 0
        forEachPromise(of: companion) { steps = max(steps, 1) + ($0.hasCallback ? 1 : 0) }
        return steps
    }

    // MARK: - The handler's queue

    /// Sends as many blocks to the queue as are needed to run all that is ready.
    ///
    /// A block for each execution would double its cost. One block for all would keep the queue from everything else.
    private final func sendBlocks() {
        for _ in 0..<lock.withLock({ ready.sendBlocks() }) { sendBlock() }
    }

    final func sendBlock() {
        queue?.async { self.runBlock() }
    }

    /// Runs the first executions, on the handler's queue.
    private final func runBlock() {
        lock.lock()
        ready.beginBlock()
        for number in 0..<ReadyRuns.runsPerBlock {
            guard let run = ready.takeFirst() else {
                ready.endBlock()
                return lock.unlock()
            }
            perform(run, sendingBlock: number == 0 && ready.sendAnotherBlock())
            lock.lock()
        }
        let sendsAgain = ready.resendBlock()
        lock.unlock()
        if sendsAgain { sendBlock() }
    }

    /// Runs everything that is ready, on the stack of a caller that is on the handler's queue.
    package final func runReady() {
        lock.lock()
        while let run = ready.takeFirst() {
            perform(run, sendingBlock: false)
            lock.lock()
        }
        lock.unlock()
    }

    /// Whether a value is pending, or an execution waits for a block of the queue and is not being cancelled.
    package final var hasMoreToRun: Bool {
        lock.withLock { engine.tally.pending > 0 || ready.contains { engine.state(of: $0) == .running } }
    }

    /// The number of submits that are pending, or of those that are due and wait to start.
    @usableFromInline
    final func pendingSubmits(onlyDue: Bool) -> Int {
        lock.withLock { onlyDue ? engine.waitingSubmits : engine.tally.pending }
    }

    // MARK: - Callers that wait

    /// Lets a caller wait for the ends of what runs and waits: at a slot, or at all.
    ///
    /// The caller of this holds the lock.
    ///
    /// - Returns: The number of the caller, and the promise; nil if there is nothing to wait for.
    final func addWaiter(at slot: UInt32? = nil) -> (id: WaiterID, promise: Promise)? {
        lastWaiter += 1
        guard slot.map({ engine.addWaiter(lastWaiter, at: $0) }) ?? engine.addWaiter(lastWaiter) else { return nil }
        let promise = Promise()
        waiters[lastWaiter] = promise
        return (lastWaiter, promise)
    }

    // Nothing is kept for a caller whose wait was cancelled until what it waited for ends, which it may never do.

    final func removePromise(of waiter: WaiterID) {
        let released = lock.withLock {
            let promise = waiters.removeValue(forKey: waiter)
            if waiters.isEmpty { waiters = [:] }
            return promise
        }
        withExtendedLifetime(released) {}
    }

    // MARK: - The end of the owner

    /// Handles the release of the owner, as `atEnd` says. Values that are still pending keep the runtime alive until
    /// they are due.
    final func ownerIsReleased() {
        lock.withLock { engine.stopHolding(flushing: atEnd != .drop) }
        switch atEnd {
        case .executeWhenDue:
            // No call can bring forward what is due in the far future.
            if lock.withLock({ engine.tally.pending > 0 }) { sweep(.dropUnreachable) }
        case .flush: sweep(.flush)
        case .drop: sweep(.cancel(running: false))
        }
        lock.withLock {
            isOwnerReleased = true
            if needsWakeUp { retainedSelf = self }
        }
    }
}
