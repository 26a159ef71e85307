internal import Dispatch
internal import Lull
package import LullCore

/// Drives a ``WorkerStateMachine`` with a store and a clock: hands events in, makes the calls of the store and keeps
/// the alarm. Runs are carried out by its ``WorkerHost``, which hands in how they end.
///
/// Nothing but the state machine runs under the lock. The actions of a step are carried out after it, those of
/// different steps in their order, by one thread at a time. Whatever has to be awaited runs in an unstructured task:
/// the task that runs the worker may be cancelled, and its handlers still have their time.
///
/// What keeps the leases (the alarm, and the calls of the store) has a thread of its own: handlers, encoding, decoding
/// and folding may take all threads of the cooperative pool for as long as they like.
package final class WorkerDriver: Sendable {
    private typealias Completion = (continuation: CheckedContinuation<Void, Never>, work: TrackedWork?)

    private struct State {
        var worker: WorkerStateMachine
        /// The steps whose actions are to be carried out, in their order.
        var steps: [Step] = []
        /// Whether a thread carries them out.
        var isPerforming = false
        /// The instant for which a wake-up has been arranged.
        var alarmInstant = CoreInstant.farFuture
        var alarm: Task<Void, any Error>?
        var waiting: Task<Void, any Error>?
        /// The number of the wait that is under way, if any, and of the last one.
        var wait: Int?
        var lastWait = 0
        /// Whether the next wait ends at once.
        var looksAgain = false
        var watching: Task<Void, any Error>?
        /// The caller of `run()`, resumed when the worker has finished.
        var completion: Completion?
    }

    /// A step whose actions are to be carried out.
    private struct Step {
        let events: [WorkerStateMachine.Event]
        let actions: [WorkerStateMachine.Action]
        /// The caller of `run()` if it is the last one.
        var completion: Completion?
    }

    /// The effects of a step that are carried out without the lock.
    private struct Effects {
        var actions: [WorkerStateMachine.Action]
        var cancelled: [Task<Void, any Error>] = []
        var alarm = CoreInstant.farFuture
    }

    private let state: Guarded<State>
    private let namespace: String
    private let owner: Int64
    private let store: any StoreCalls
    private let clock: WorkerClock
    private let host: any WorkerHost
    private let executor = OwnThread()

    package init(
        _ configuration: WorkerStateMachine.Configuration, _ store: any StoreCalls, _ clock: WorkerClock,
        _ host: any WorkerHost
    ) {
        state = Guarded(State(worker: WorkerStateMachine(configuration)))
        namespace = configuration.namespace
        owner = configuration.owner
        self.store = store
        self.clock = clock
        self.host = host
    }

    /// Works until the task is cancelled and the handlers have ended, or the store cannot be used any more.
    package func run() async throws(DurableError) {
        let work = TrackedWork.current
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.change { $0.completion = (continuation, work) }
                handle([.woke])
                // Only now: the first events have begun work that the clock tracks.
                if let work { clock.observer?.slept(work) }
            }
        } onCancel: {
            handle([.stop])
        }
        if let failure = state.value.worker.failure { throw failure }
    }

    /// Returns how long the lease of a run lasts that the worker has; zero or less if it may be another worker's.
    package func leaseLeft(of run: Int64) -> CoreDuration {
        let end = state.change { $0.worker.leaseEnd(of: run) }
        return end.map { clock.now().duration(to: $0) } ?? .zero
    }

    /// Whether a newer value has interrupted a run, whose handler may throw for that.
    package func isInterrupted(_ run: Int64) -> Bool { state.change { $0.worker.isInterrupted(run) } }

    /// Claims once more although nothing new may be due, as soon as there is capacity.
    package func lookAgain() {
        let (isWaiting, task) = state.change { state -> (Bool, Task<Void, any Error>?) in
            guard state.wait != nil else {
                state.looksAgain = true
                return (false, nil)
            }
            state.wait = nil
            return (true, state.waiting)
        }
        guard isWaiting else { return }
        task?.cancel()
        handle([.waitEnded(.success(()))])
    }

    // MARK: - Steps

    /// Hands in events that have come together. The actions that follow are carried out, by this thread or by one that
    /// is at it.
    ///
    /// - Returns: These actions, to look at.
    @discardableResult
    package func handle(_ events: [WorkerStateMachine.Event]) -> [WorkerStateMachine.Action] {
        let now = clock.now()
        let effects = state.change { Self.step(events, at: now, in: &$0) }
        for task in effects.cancelled { task.cancel() }
        setAlarm(effects.alarm)
        performSteps()
        return effects.actions
    }

    private static func step(
        _ events: [WorkerStateMachine.Event], at now: CoreInstant, in state: inout State
    ) -> Effects {
        var effects = Effects(actions: state.worker.handle(events, at: now))
        var step = Step(events: events, actions: effects.actions)
        if state.worker.isFinished {
            effects.cancelled = [state.alarm, state.waiting, state.watching].compactMap(\.self)
            step.completion = state.completion
            state.completion = nil
        } else {
            effects.alarm = state.worker.alarm
        }
        state.steps.append(step)
        return effects
    }

    private func performSteps() {
        var isFirst = true
        while let step = state.change({ state -> Step? in
            if isFirst, state.isPerforming { return nil }
            state.isPerforming = !state.steps.isEmpty
            return state.steps.isEmpty ? nil : state.steps.removeFirst()
        }) {
            isFirst = false
            perform(step.actions, after: step.events)
            if let (continuation, work) = step.completion {
                if let work { clock.observer?.woke(work) }
                continuation.resume()
            }
        }
    }

    private func perform(_ actions: [WorkerStateMachine.Action], after events: [WorkerStateMachine.Event]) {
        host.perform(actions, after: events, of: self)
        var reports: [DurableReport] = []
        var claim: DurableClaim?
        for action in actions {
            switch action {
            case .announce:
                clock.spawn("a worker that says that it is there", preferring: executor) {
                    try? await self.store.announce(DurableWorker.Identity(id: self.owner), in: self.namespace)
                }
            case .claim(let wanted): claim = wanted
            case .report(let report): reports.append(report)
            case .wait(let mark, let time): wait(after: mark, atMost: time)
            case .watch(let known, let time): watch(besides: known, atMost: time)
            // The host's.
            case .start, .cancel, .leaseLost, .died, .overdue, .leaseGivenUp, .storeFailed, .paused, .resumed: break
            }
        }
        if !reports.isEmpty || claim != nil { exchange(reports, claim) }
    }

    // MARK: - The store

    private func exchange(_ reports: [DurableReport], _ claim: DurableClaim?) {
        clock.spawn("a worker's calls to its store", preferring: executor) {
            let answers = await self.host.exchange(reports, claim, with: self.store)
            var events = zip(reports, answers.reports).map { WorkerStateMachine.Event.reported($0, $1) }
            if claim != nil, let claimed = answers.claim { events.append(.claimed(claimed)) }
            self.handle(events)
        }
    }

    private func wait(after mark: Int64, atMost time: CoreDuration) {
        let number: Int? = state.change { state in
            defer { state.looksAgain = false }
            if state.looksAgain { return nil }
            state.lastWait += 1
            state.wait = state.lastWait
            return state.lastWait
        }
        guard let number else {
            handle([.waitEnded(.success(()))])
            return
        }
        let task = clock.spawn("a worker that waits for work", preferring: executor) {
            let result: Result<Void, DurableError>
            do throws(DurableError) {
                try await self.store.wait(in: self.namespace, after: mark, atMost: Duration(time))
                result = .success(())
            } catch {
                result = .failure(error)
            }
            let isCurrent = self.state.change { state in
                defer { if state.wait == number { state.wait = nil } }
                return state.wait == number
            }
            if isCurrent { self.handle([.waitEnded(result)]) }
        }
        keep(task, as: \.waiting)
    }

    private func watch(besides known: [Int64], atMost time: CoreDuration) {
        let owner = owner
        let task = clock.spawn("a worker that watches for interruptions", preferring: executor) {
            let result: Result<[Int64], DurableError>
            do throws(DurableError) {
                result = .success(
                    try await self.store.interruptions(
                        of: owner, besides: known, in: self.namespace, atMost: Duration(time)))
            } catch {
                result = .failure(error)
            }
            self.handle([.watchEnded(result)])
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

    // MARK: - The alarm

    private func wake(_ alarm: CoreInstant) {
        state.change { if $0.alarmInstant == alarm { $0.alarmInstant = .farFuture } }
        handle([.woke])
    }

    /// Arranges a wake-up at an instant, unless an earlier one has been arranged.
    private func setAlarm(_ instant: CoreInstant) {
        let isEarlier = state.change { state in
            guard instant < state.alarmInstant else { return false }
            state.alarmInstant = instant
            return true
        }
        guard isEarlier else { return }
        let task = clock.spawn("a worker's alarm", preferring: executor) {
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

/// Carries out the runs of a worker: tasks do that in an app or a server, the event loop of a program on the command
/// line.
package protocol WorkerHost: Sendable {
    /// Begins and cancels runs, and tells of what is for logs: whatever of these actions is not a call of the store.
    ///
    /// It is called for one step after another. It does not block, and hands in later how the runs have ended.
    ///
    /// - Parameter events: What the actions follow from.
    func perform(
        _ actions: [WorkerStateMachine.Action], after events: [WorkerStateMachine.Event], of driver: WorkerDriver)

    /// Makes a worker's calls of its store.
    func exchange(
        _ reports: [DurableReport], _ claim: DurableClaim?, with store: any StoreCalls
    ) async -> DurableExchange
}

extension StoreCalls {
    /// Makes a worker's calls. First come the pauses for which its handlers have asked: a report whose pause has failed
    /// is not sent, and fails with it, so that the worker repeats both.
    package func exchangeWithPauses(_ reports: [DurableReport], _ claim: DurableClaim?) async -> DurableExchange {
        var failures: [Int: DurableError] = [:]
        for (index, report) in reports.enumerated() {
            guard let pause = report.pause else { continue }
            do throws(DurableError) {
                try await self.pause(report.namespace, reason: pause.reason, for: CoreDuration(pause.time))
            } catch {
                failures[index] = error
            }
        }
        if failures.isEmpty { return await exchange(reports, claim) }
        let sent = reports.indices.filter { failures[$0] == nil }.map { reports[$0] }
        let isNothing = sent.isEmpty && claim == nil
        let answers = isNothing ? DurableExchange(reports: [], claim: nil) : await exchange(sent, claim)
        var all: [Result<DurableReport.Answer, DurableError>] = []
        var next = answers.reports.makeIterator()
        for index in reports.indices {
            all.append(failures[index].map { .failure($0) } ?? next.next() ?? .failure(.closed))
        }
        return DurableExchange(reports: all, claim: answers.claim)
    }
}

/// A thread for the tasks of a worker.
final class OwnThread: TaskExecutor {
    /// A serial queue gets a thread although all others are busy.
    let queue = DispatchQueue(label: "lull.worker")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
