internal import Dispatch
internal import Lull
internal import LullCore

/// Drives a ``WorkerStateMachine`` with a store, a clock and tasks: hands events in, and carries the actions out.
///
/// Nothing but the state machine runs under the lock. Whatever has to be awaited runs in an unstructured task: the task
/// that runs the worker may be cancelled, and its handlers still have their time.
///
/// What keeps the leases (the alarm, and the calls of the store) has a thread of its own: handlers, encoding, decoding
/// and folding may take all threads of the cooperative pool for as long as they like.
///
/// Handlers that end are not reported one by one. A task waits until all handlers that were decided on have been
/// started, and until those that end at once have ended; then it hands their ends in together. Their reports, and one
/// claim for all the slots that they free, go to the store in one call and can therefore share a transaction.
final class WorkerDriver<Key: DurableKey, Value: Codable & Sendable>: Sendable {
    typealias Handler = @Sendable @isolated(any) (DurableExecution<Key, Value>) async throws -> Void
    private typealias Completion = (continuation: CheckedContinuation<Void, Never>, work: Work?)

    private struct State {
        var worker: WorkerStateMachine
        /// The handlers that run or will be started, by run.
        var handlers: [Int64: RunningHandler] = [:]
        /// The number of handlers that were decided on and have not been started.
        var unstarted = 0
        /// Handlers that have ended and have not been handed in.
        var ended: [EndedHandler] = []
        /// The instant for which a wake-up has been arranged.
        var alarmInstant = CoreInstant.farFuture
        var alarm: Task<Void, any Error>?
        var waiting: Task<Void, any Error>?
        var watching: Task<Void, any Error>?
        /// The caller of `run()`, resumed when the worker has finished.
        var completion: Completion?
    }

    private struct RunningHandler {
        let fence: Int64
        var task: Task<Void, any Error>?
        var isCancelled = false
    }

    /// The run may be another worker's by now.
    private struct TooLate: Error {}

    private struct EndedHandler {
        let run: DurableRun
        let failure: (any Error)?

        /// With as much of the error as the store keeps.
        var event: WorkerStateMachine.Event {
            if failure is TooLate { return .notStarted(run: run.id) }
            return .handlerEnded(run: run.id, error: failure.map { String("\($0)".prefix(500)) })
        }
    }

    /// The effects of a step that are carried out without the lock.
    private struct Effects {
        var actions: [WorkerStateMachine.Action]
        var cancelled: [Task<Void, any Error>] = []
        var alarm = CoreInstant.farFuture
        var completion: Completion?
    }

    private let state: Guarded<State>
    private let namespace: String
    private let owner: Int64
    private let store: any StoreCalls
    private let clock: WorkerClock
    private let counters: Guarded<DurableCounters>
    private let fold: DurableFold<Value>?
    private let onFailure: (@Sendable (DurableFailure) async -> Void)?
    private let handler: Handler
    private let executor = OwnThread()

    init(
        _ configuration: WorkerStateMachine.Configuration, _ store: any StoreCalls, _ clock: WorkerClock,
        _ counters: Guarded<DurableCounters>, _ fold: DurableFold<Value>?,
        _ onFailure: (@Sendable (DurableFailure) async -> Void)?,
        _ handler: @escaping Handler
    ) {
        state = Guarded(State(worker: WorkerStateMachine(configuration)))
        namespace = configuration.namespace
        owner = configuration.owner
        self.store = store
        self.clock = clock
        self.counters = counters
        self.fold = fold
        self.onFailure = onFailure
        self.handler = handler
    }

    /// Works until the task is cancelled and the handlers have ended, or the store cannot be used any more.
    func run() async throws(DurableError) {
        let work = Work.current
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.change { $0.completion = (continuation, work) }
                handle(.woke)
                // Only now: the first events have begun work that the clock tracks.
                if let work { clock.observer?.slept(work) }
            }
        } onCancel: {
            handle(.stop)
        }
        if let failure = state.value.worker.failure { throw failure }
    }

    // MARK: - Events

    /// Hands events in, and carries out the actions that follow.
    private func handle(_ events: WorkerStateMachine.Event...) {
        perform(step(events))
    }

    /// Hands events in, and does what is not an action of the worker: cancels tasks, sets the alarm, ends `run()`.
    ///
    /// - Returns: The actions, which the caller performs.
    private func step(_ events: [WorkerStateMachine.Event]) -> [WorkerStateMachine.Action] {
        let now = clock.now()
        let effects = state.change { Self.step(events, at: now, in: &$0) }
        for task in effects.cancelled { task.cancel() }
        setAlarm(effects.alarm)
        if let (continuation, work) = effects.completion {
            if let work { clock.observer?.woke(work) }
            continuation.resume()
        }
        return effects.actions
    }

    private static func step(
        _ events: [WorkerStateMachine.Event], at now: CoreInstant, in state: inout State
    ) -> Effects {
        var effects = Effects(actions: state.worker.handle(events, at: now))
        for case .handlerEnded(let run, _) in events { state.handlers[run] = nil }
        for action in effects.actions {
            if case .start(let run) = action {
                state.handlers[run.id] = RunningHandler(fence: run.fence)
                state.unstarted += 1
            }
            if case .cancel(let run) = action {
                state.handlers[run]?.isCancelled = true
                if let task = state.handlers[run]?.task { effects.cancelled.append(task) }
            }
        }
        guard state.worker.isFinished else {
            effects.alarm = state.worker.alarm
            return effects
        }
        effects.cancelled += [state.alarm, state.waiting, state.watching].compactMap(\.self)
        effects.completion = state.completion
        state.completion = nil
        return effects
    }

    // MARK: - Actions

    private func perform(_ actions: [WorkerStateMachine.Action]) {
        var reports: [DurableReport] = []
        var claim: DurableClaim?
        for action in actions {
            switch action {
            case .announce:
                spawn("a worker that says that it is there", preferring: executor) {
                    try? await self.store.announce(DurableWorker.Identity(id: self.owner), in: self.namespace)
                }
            case .claim(let wanted): claim = wanted
            case .report(let report): reports.append(report)
            case .wait(let mark, let time): wait(after: mark, atMost: time)
            case .watch(let known, let time): watch(besides: known, atMost: time)
            case .start(let run): startHandler(of: run)
            case .cancel: break  // `step` has done it.
            case .leaseLost(let run):
                counters.change { $0.lostLeases += 1 }
                notify(.leaseLost(run))
            case .died(let run): notify(.died(run))
            case .storeFailed(let error): notify(.store(error))
            // It is no failure. Who looks at the status sees it.
            case .paused, .resumed: break
            }
        }
        if !reports.isEmpty || claim != nil { exchange(reports, claim) }
    }

    private func exchange(_ reports: [DurableReport], _ claim: DurableClaim?) {
        spawn("a worker's calls to its store", preferring: executor) {
            let answers = await self.store.exchange(reports, claim)
            var events = zip(reports, answers.reports).map { WorkerStateMachine.Event.reported($0, $1) }
            if claim != nil, let claimed = answers.claim { events.append(.claimed(claimed)) }
            self.perform(self.step(events))
        }
    }

    private func wait(after mark: Int64, atMost time: CoreDuration) {
        let task = spawn("a worker that waits for work", preferring: executor) {
            let result: Result<Void, DurableError>
            do throws(DurableError) {
                try await self.store.wait(in: self.namespace, after: mark, atMost: Duration(time))
                result = .success(())
            } catch {
                result = .failure(error)
            }
            self.handle(.waitEnded(result))
        }
        keep(task, as: \.waiting)
    }

    private func watch(besides known: [Int64], atMost time: CoreDuration) {
        let owner = owner
        let task = spawn("a worker that watches for interruptions", preferring: executor) {
            let result: Result<[Int64], DurableError>
            do throws(DurableError) {
                result = .success(
                    try await self.store.interruptions(
                        of: owner, besides: known, in: self.namespace, atMost: Duration(time)))
            } catch {
                result = .failure(error)
            }
            self.handle(.watchEnded(result))
        }
        keep(task, as: \.watching)
    }

    /// Keeps a task that is cancelled when the worker finishes.
    private func keep(_ task: Task<Void, any Error>, as place: WritableKeyPath<State, Task<Void, any Error>?>) {
        let isFinished = state.change { state in
            state[keyPath: place] = task
            return state.worker.isFinished
        }
        if isFinished { task.cancel() }
    }

    /// Calls `onFailure`, or logs.
    private func notify(_ failure: DurableFailure) {
        if let onFailure {
            spawn("the failure handler of a worker") { await onFailure(failure) }
        } else {
            logLine("Lull: \(failure)", kind: failure.kind)
        }
    }

    // MARK: - Handlers

    private func startHandler(of run: DurableRun) {
        counters.change { $0.attempts += 1 }
        let task = spawn(run.summary, on: handler.isolation) {
            var failure: (any Error)?
            do { try await self.callHandler(of: run) } catch { failure = error }
            self.handlerEnded(run, failure)
        }
        let (isCancelled, canHandIn) = state.change { state in
            state.unstarted -= 1
            let canHandIn = state.unstarted == 0 && !state.ended.isEmpty
            // The handler may have ended already, and another attempt may have begun.
            guard state.handlers[run.id]?.fence == run.fence else { return (false, canHandIn) }
            state.handlers[run.id]?.task = task
            return (state.handlers[run.id]?.isCancelled == true, canHandIn)
        }
        if isCancelled { task.cancel() }
        if canHandIn { handInSoon() }
    }

    private nonisolated(nonsending) func callHandler(of run: DurableRun) async throws {
        // A clock that tracks work knows only what is done in tasks.
        let execution: DurableExecution<Key, Value> =
            clock.observer != nil || run.isQuicklyDecoded(fold)
            ? try DurableExecution(run, fold)
            : try await Self.inBackground { [fold] in try DurableExecution(run, fold) }
        // All of that takes time, and the process may have been stopped.
        guard let leaseEnd = state.change({ $0.worker.leaseEnd(of: run.id) }), clock.now() < leaseEnd else {
            counters.change { $0.attempts -= 1 }
            throw TooLate()
        }
        try await handler(execution)
    }

    /// Does something in a thread that is none of the cooperative pool's, which other handlers need.
    private nonisolated(nonsending) static func inBackground<Result: Sendable>(
        _ work: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            // Tasks have the threads of another quality of service.
            DispatchQueue.global(qos: .utility).async { continuation.resume(with: .init { try work() }) }
        }
    }

    /// Notes that a handler has ended. The first one of a series arranges for all of them to be handed in.
    private func handlerEnded(_ run: DurableRun, _ failure: (any Error)?) {
        let isFirst = state.change { state in
            state.ended.append(EndedHandler(run: run, failure: failure))
            return state.unstarted == 0 && state.ended.count == 1
        }
        if isFirst { handInSoon() }
    }

    /// Hands in the handlers that have ended, once every task that is ready has had a turn and no further handler has
    /// ended.
    private func handInSoon() {
        spawn("a worker's reports") {
            var (seen, count) = (0, self.state.change { $0.ended.count })
            while count > seen {
                await Task.yield()
                (seen, count) = (count, self.state.change { $0.ended.count })
            }
            self.handIn()
        }
    }

    /// Hands in the handlers that have ended, and notifies of those that have failed.
    private func handIn() {
        let ended = state.change { state in
            let ended = state.ended
            state.ended = []
            return ended
        }
        let actions = step(ended.map(\.event))
        let failures = ended.filter { $0.failure != nil && !($0.failure is TooLate) }
        perform(actions)
        for action in actions {
            guard case .report(let report) = action else { continue }
            if report.kind == .interrupted { counters.change { $0.restarted += 1 } }
            guard case .failed(_, let retry) = report.kind else { continue }
            for ended in failures where ended.run.id == report.run {
                guard let failure = ended.failure else { continue }
                counters.change { $0.failures += 1 }
                notify(.threw(failure, ended.run, retryIn: retry.map { Duration($0) }))
            }
        }
    }

    // MARK: - Tasks

    /// Starts a task that the clock tracks, if it tracks work.
    @discardableResult
    private func spawn(
        _ name: String, on isolation: (any Actor)? = nil, preferring executor: OwnThread? = nil,
        _ body: @escaping TaskOperation
    ) -> Task<Void, any Error> {
        let work = Work { name }
        clock.observer?.began(work)
        return launch(work, clock.observer, on: isolation, preferring: executor) {
            defer { self.clock.observer?.ended(work) }
            try await body()
        }
    }

    private func wake(_ alarm: CoreInstant) {
        state.change { if $0.alarmInstant == alarm { $0.alarmInstant = .farFuture } }
        handle(.woke)
    }

    /// Arranges a wake-up at an instant, unless an earlier one has been arranged.
    private func setAlarm(_ instant: CoreInstant) {
        let isEarlier = state.change { state in
            guard instant < state.alarmInstant else { return false }
            state.alarmInstant = instant
            return true
        }
        guard isEarlier else { return }
        let task = spawn("a worker's alarm", preferring: executor) {
            // Cancelled if there is an earlier one, or if the worker has finished.
            do { try await self.clock.sleep(instant) } catch { return }
            self.wake(instant)
        }
        // The sleep of a task ends by way of the cooperative pool. This does not, but stands still while the machine
        // sleeps. The worker may be woken twice.
        if clock.isSystem, instant < .farFuture {
            let wait = max(.zero, min(clock.now().duration(to: instant), .seconds(3600)))
            executor.queue.asyncAfter(deadline: .now() + .nanoseconds(Int(clamping: wait.nanoseconds))) { [weak self] in
                self?.wake(instant)
            }
        }
        let superseded = state.change { state -> Task<Void, any Error>? in
            guard state.alarmInstant == instant, !state.worker.isFinished else { return task }
            defer { state.alarm = task }
            return state.alarm
        }
        superseded?.cancel()
    }
}

/// A thread for the tasks of a worker.
private final class OwnThread: TaskExecutor {
    /// A serial queue gets a thread although all others are busy.
    let queue = DispatchQueue(label: "lull.worker")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

extension DurableRun {
    /// Whether decoding and folding the values takes less time than another thread needs to begin. The user's function
    /// may take any time.
    fileprivate func isQuicklyDecoded<Value>(_ fold: DurableFold<Value>?) -> Bool {
        (values.count == 1 || fold == nil && values.count <= 64) && values.reduce(0) { $0 + $1.count } <= 1 << 16
    }
}

/// A clock with its type erased: the present instant of a worker, and its sleep.
struct WorkerClock: Sendable {
    /// Returns the present instant.
    let now: @Sendable () -> CoreInstant
    /// Suspends until an instant; throws when the task is cancelled.
    let sleep: @Sendable (CoreInstant) async throws -> Void
    /// The clock itself, if it tracks work.
    let observer: (any WorkObserver)?
    /// Whether it is the system's, so that timers of the system keep its time.
    let isSystem: Bool

    /// Clocks have limits, and some trap beyond them. A caller that wakes too early sleeps again.
    private static var longestSleep: CoreDuration { .seconds(365 * 24 * 3600) }

    init<C: Clock<Duration>>(_ clock: C) {
        let origin = clock.now
        let now: @Sendable () -> CoreInstant = {
            CoreInstant.origin.advanced(by: CoreDuration(origin.duration(to: clock.now)))
        }
        self.now = now
        sleep = { instant in
            let end = min(instant, now().advanced(by: Self.longestSleep))
            let wake = origin.advanced(by: Duration(CoreInstant.origin.duration(to: end)))
            try await clock.sleep(until: wake, tolerance: nil)
        }
        observer = clock as? any WorkTrackingClock<Duration>
        isSystem = clock is ContinuousClock
    }
}
