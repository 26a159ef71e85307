internal import Lull
internal import LullCore

/// Gives a ``Worker`` its store, its clock and its tasks: hands in what happens, and does what it says.
///
/// Nothing runs under the lock but the worker. What has to be waited for runs in tasks of its own, which belong to nobody's
/// task: whoever runs the worker may be cancelled, and its handlers still have their time.
///
/// Handlers that end do not go to the store one by one. A task of its own waits until all that were decided on have been
/// started, and until those that end at once have ended; then it hands them in together. So their reports, and one claim for
/// all the room that they have made, go to the store in one call and can share a transaction.
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
        /// How many handlers have been decided on and not been started.
        var unstarted = 0
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

    /// Hands events in and does what comes of it.
    private func proceed(_ events: Worker.Event...) {
        perform(step(events))
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
            if case .start(let run) = action {
                state.handlers[run.id] = Handling(fence: run.fence)
                state.unstarted += 1
            }
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

    private func perform(_ actions: [Worker.Action]) {
        var reports: [DurableReport] = []
        var claim: DurableClaim?
        for action in actions {
            switch action {
            case .claim(let wanted): claim = wanted
            case .report(let report): reports.append(report)
            case .listen(let mark, let time): listen(after: mark, atMost: time)
            case .start(let run): start(run)
            case .cancel: break
            case .lost(let run):
                counters.change { $0.lostLeases += 1 }
                tell(.leaseLost(run))
            case .died(let run): tell(.died(run))
            case .trouble(let error): tell(.store(error))
            }
        }
        if !reports.isEmpty || claim != nil { exchange(reports, claim) }
    }

    /// Tells the store, and asks it.
    private func exchange(_ reports: [DurableReport], _ claim: DurableClaim?) {
        spawn("a worker's calls to its store") {
            let answers = await self.store.exchange(reports, claim)
            var events = zip(reports, answers.reports).map { Worker.Event.reported($0, $1) }
            if let claimed = answers.claim { events.append(.claimed(claimed)) }
            self.perform(self.step(events))
        }
    }

    private func listen(after mark: Int64, atMost time: CoreDuration) {
        let task = spawn("a worker that listens") {
            let answer: Result<Void, DurableError>
            do throws(DurableError) {
                try await self.store.wait(in: self.namespace, after: mark, atMost: Duration(time))
                answer = .success(())
            } catch {
                answer = .failure(error)
            }
            self.proceed(.heard(answer))
        }
        let isOver = state.change { state in
            state.listening = task
            return state.worker.isFinished
        }
        if isOver { task.cancel() }
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
        let (isToldToStop, haveEnded) = state.change { state in
            state.unstarted -= 1
            let haveEnded = state.unstarted == 0 && !state.ended.isEmpty
            // It may have ended already, and another attempt may have begun.
            guard state.handlers[run.id]?.fence == run.fence else { return (false, haveEnded) }
            state.handlers[run.id]?.task = task
            return (state.handlers[run.id]?.isToldToStop == true, haveEnded)
        }
        if isToldToStop { task.cancel() }
        if haveEnded { handInSoon() }
    }

    /// Notes that a handler has ended, and sees to it that this is handed in.
    private func end(_ run: DurableRun, _ failure: (any Error)?) {
        let isFirst = state.change { state in
            state.ended.append(Ended(run: run, failure: failure))
            return state.unstarted == 0 && state.ended.count == 1
        }
        if isFirst { handInSoon() }
    }

    /// Hands in what has ended, when nothing more ends while all that is ready to run has its turn.
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

    /// Hands in all that has ended, and tells of what has failed.
    private func handIn() {
        let ended = state.change { state in
            let ended = state.ended
            state.ended = []
            return ended
        }
        let actions = step(ended.map(\.event))
        let failures = ended.filter { $0.failure != nil }
        perform(actions)
        for action in actions {
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
        _ name: String, on isolation: (any Actor)? = nil, _ body: @escaping TaskOperation<Void>
    ) -> Task<Void, any Error> {
        let work = Work { name }
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
