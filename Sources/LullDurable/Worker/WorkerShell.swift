internal import Lull
internal import LullCore

/// Gives a ``Worker`` its store, its clock and its tasks: hands in what happens, and does what it says.
///
/// Nothing runs under the lock but the worker. What has to be waited for runs in tasks of its own, which belong to nobody's
/// task: whoever runs the worker may be cancelled, and its handlers still have their time.
///
/// Handlers that end do not go to the store one by one. A task of its own, which has its turn when the handlers that were
/// started before it have had theirs, hands in all that have ended by then: their reports, and one claim for all the room that
/// they have made, are with the store at the same time and can share a transaction.
final class WorkerShell: Sendable {
    typealias Handler = nonisolated(nonsending) @Sendable (DurableRun) async throws -> Void

    private struct State {
        var worker: Worker
        /// The handlers that run.
        var handlers: [Int64: Handling] = [:]
        /// The instant for which a wake-up has been arranged.
        var armed = CoreInstant.farFuture
        var alarm: Task<Void, any Error>?
        var listening: Task<Void, any Error>?
        /// Handlers that have ended, and have not been handed in.
        var ended: [Ended] = []
        /// Whoever waits for the end.
        var waiting: (CheckedContinuation<Void, Never>, Work?)?
    }

    /// A handler that was or will be entered.
    private struct Handling {
        let fence: Int64
        var task: Task<Void, any Error>?
        var isToldToStop = false
    }

    /// A handler that has returned or thrown.
    private struct Ended {
        let run: DurableRun
        let failure: (any Error)?

        var event: Worker.Event { .ended(run: run.id, error: failure.map { WorkerShell.text(of: $0) }) }
    }

    /// What a step leaves to be done outside the lock.
    private struct Rest {
        var actions: [Worker.Action]
        var cancelled: [Task<Void, any Error>] = []
        var alarm = CoreInstant.farFuture
        var over: (CheckedContinuation<Void, Never>, Work?)?
    }

    private let state: Guarded<State>
    private let namespace: String
    private let store: any DurableStore
    private let clock: WorkerClock
    private let counters: Guarded<DurableCounters>
    private let onFailure: (@Sendable (DurableFailure) async -> Void)?
    private let isolation: (any Actor)?
    private let handler: Handler

    init(
        _ settings: Worker.Settings, _ store: any DurableStore, _ clock: WorkerClock,
        _ counters: Guarded<DurableCounters>, _ onFailure: (@Sendable (DurableFailure) async -> Void)?,
        on isolation: (any Actor)?, _ handler: @escaping Handler
    ) {
        state = Guarded(State(worker: Worker(settings)))
        namespace = settings.namespace
        self.store = store
        self.clock = clock
        self.counters = counters
        self.onFailure = onFailure
        self.isolation = isolation
        self.handler = handler
    }

    /// Works until the task is cancelled and the handlers have ended, or the store cannot be used any more.
    func run() async throws(DurableError) {
        let work = Work.current
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.change { $0.waiting = (continuation, work) }
                proceed(.woke)
                // Not before something else is under way that a clock keeps track of.
                if let work { clock.observer?.slept(work) }
            }
        } onCancel: {
            proceed(.stopped)
        }
        if let failure = state.value.worker.failure { throw failure }
    }

    // MARK: - Events

    /// Hands an event in and does what comes of it.
    private func proceed(_ event: Worker.Event) {
        for action in step([event]) { perform(action) }
    }

    /// Hands events in.
    ///
    /// - Returns: What is to be done, beside what can be done at once.
    private func step(_ events: [Worker.Event]) -> [Worker.Action] {
        let now = clock.now()
        let rest = state.change { Self.step(events, at: now, in: &$0) }
        for task in rest.cancelled { task.cancel() }
        arm(rest.alarm)
        if let (continuation, work) = rest.over {
            if let work { clock.observer?.woke(work) }
            continuation.resume()
        }
        return rest.actions
    }

    private static func step(_ events: [Worker.Event], at now: CoreInstant, in state: inout State) -> Rest {
        var rest = Rest(actions: state.worker.handle(events, at: now))
        for case .ended(let run, _) in events { state.handlers[run] = nil }
        for action in rest.actions {
            if case .start(let run) = action { state.handlers[run.id] = Handling(fence: run.fence) }
            if case .cancel(let run) = action {
                state.handlers[run]?.isToldToStop = true
                if let task = state.handlers[run]?.task { rest.cancelled.append(task) }
            }
        }
        guard state.worker.isFinished else {
            rest.alarm = state.worker.alarm
            return rest
        }
        rest.cancelled += [state.alarm, state.listening].compactMap(\.self)
        rest.over = state.waiting
        state.waiting = nil
        return rest
    }

    // MARK: - Actions

    private func perform(_ action: Worker.Action) {
        switch action {
        case .claim(let claim):
            spawn("a worker's claim") {
                let answer = await self.claim(claim)
                self.proceed(.claimed(answer))
            }
        case .listen(let mark, let time):
            let task = spawn("a worker that listens") {
                let answer = await self.listen(after: mark, atMost: time)
                self.proceed(.heard(answer))
            }
            let isOver = state.change { state in
                state.listening = task
                return state.worker.isFinished
            }
            if isOver { task.cancel() }
        case .report(let report):
            spawn("a worker's report") { await self.send(report) }
        case .start(let run):
            start(run)
        case .cancel:
            break
        case .lost(let run):
            counters.change { $0.lostLeases += 1 }
            tell(.leaseLost(run))
        case .trouble(let error):
            tell(.store(error))
        }
    }

    private func claim(_ claim: DurableClaim) async -> Result<DurableClaim.Answer, DurableError> {
        do { return .success(try await store.claim(claim)) } catch { return .failure(error) }
    }

    private func listen(after mark: Int64, atMost time: CoreDuration) async -> Result<Void, DurableError> {
        do {
            return .success(try await store.wait(in: namespace, after: mark, atMost: Duration(time)))
        } catch {
            return .failure(error)
        }
    }

    private func send(_ report: DurableReport) async {
        let answer: Result<DurableReport.Answer, DurableError>
        do { answer = .success(try await store.report(report)) } catch { answer = .failure(error) }
        proceed(.reported(report, answer))
    }

    /// Tells of a failure to whom it was agreed, or on standard error.
    private func tell(_ failure: DurableFailure) {
        if let onFailure {
            spawn("the failure handler of a worker") { await onFailure(failure) }
        } else {
            logLine("Lull: \(failure)")
        }
    }

    // MARK: - Handlers

    private func start(_ run: DurableRun) {
        counters.change { $0.attempts += 1 }
        let task = spawn(run.summary, on: isolation) {
            var failure: (any Error)?
            do { try await self.handler(run) } catch { failure = error }
            self.end(run, failure)
        }
        let isToldToStop = state.change { state in
            // It may have ended already, and another attempt may have begun.
            guard state.handlers[run.id]?.fence == run.fence else { return false }
            state.handlers[run.id]?.task = task
            return state.handlers[run.id]?.isToldToStop == true
        }
        if isToldToStop { task.cancel() }
    }

    /// Notes that a handler has ended, and sees to it that this is handed in.
    private func end(_ run: DurableRun, _ failure: (any Error)?) {
        let isFirst = state.change { state in
            state.ended.append(Ended(run: run, failure: failure))
            return state.ended.count == 1
        }
        if isFirst { spawn("a worker's reports") { self.handIn() } }
    }

    /// Hands in all that has ended, and tells of what has failed.
    private func handIn() {
        let ended = state.change { state in
            let ended = state.ended
            state.ended = []
            return ended
        }
        let actions = step(ended.map(\.event))
        let failures = ended.filter { $0.failure != nil }
        for action in actions {
            perform(action)
            guard case .report(let report) = action, case .failed(_, let retry) = report.word else { continue }
            for ended in failures where ended.run.id == report.run {
                guard let failure = ended.failure else { continue }
                counters.change { $0.failures += 1 }
                tell(.threw(failure, ended.run, retryIn: retry.map { Duration($0) }))
            }
        }
    }

    /// What the store keeps of an error.
    private static func text(of error: any Error) -> String { String("\(error)".prefix(500)) }

    // MARK: - Tasks

    @discardableResult
    private func spawn(
        _ name: String, on isolation: (any Actor)? = nil, _ body: @escaping Job<Void>
    ) -> Task<Void, any Error> {
        let work = Work(owner: ObjectIdentifier(self)) { name }
        clock.observer?.began(work)
        return launch(work, clock.observer, on: isolation) {
            defer { self.clock.observer?.ended(work) }
            try await body()
        }
    }

    /// Arranges a wake-up, if there is none as early.
    private func arm(_ instant: CoreInstant) {
        let isNew = state.change { state in
            guard instant < state.armed else { return false }
            state.armed = instant
            return true
        }
        guard isNew else { return }
        let task = spawn("a worker's alarm") {
            // Cancelled in favour of an earlier one, or since the worker is done.
            do { try await self.clock.sleep(instant) } catch { return }
            self.state.change { if $0.armed == instant { $0.armed = .farFuture } }
            self.proceed(.woke)
        }
        let late = state.change { state -> Task<Void, any Error>? in
            guard state.armed == instant, !state.worker.isFinished else { return task }
            defer { state.alarm = task }
            return state.alarm
        }
        late?.cancel()
    }
}
