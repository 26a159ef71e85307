public import LullCore

// An execution from its start, in a task, to its end. Executions on a queue end here, too.
extension Runtime {
    // MARK: - Starting a task

    /// Runs an execution in a task of its own.
    @inlinable
    func startTask(_ execution: Execution<Key, Item>, on isolation: (any Actor)?, _ body: TaskBody) {
        let work = beginWork(of: execution.run, key: execution.key)
        let task = launch(work, workObserver, on: isolation) {
            let outcome: Outcome<Output>
            do {
                // A cancel may have come before the actor was free.
                if self.lock.withLock({ self.engine.isCancelling(execution.run) }) { throw CancellationError() }
                outcome = .executed(try await body(execution))
            } catch {
                outcome = .failed(error)
            }
            var execution = execution
            if let failure = self.end(&execution, outcome) { await self.reportFailure(failure, of: execution.key) }
            self.workObserver?.ended(work)
        }
        register(ExecutionTask(task, work, workObserver, on: isolation), execution.run)
    }

    /// Keeps a task so that it can be cancelled, unless it has ended already.
    @inlinable
    func register(_ task: ExecutionTask, _ run: RunID) {
        let state = lock.withLock { () -> RunState in
            let state = engine.state(of: run)
            if state != .ended { engine.attach(tasks.insert(task), to: run) }
            return state
        }
        if state == .cancelling { task.cancel() }
    }

    /// Makes the work of an execution, and reports to a tracking clock that it begins.
    @inlinable
    func beginWork(of run: RunID, key: Key) -> Work {
        let work = makeWork(of: Value.self, run: run, runtime: number, key: key)
        workObserver?.began(work)
        return work
    }

    // MARK: - Cancelling

    /// Cancels the task of an execution, or ends it if its queue has not begun it.
    @inlinable
    func cancel(_ run: RunID) {
        guard case .task = handler else { return removeCancelled(run) }
        lock.withLock { engine.attachment(of: run).map { tasks[$0].pointee } }?.cancel()
    }

    // MARK: - Ending

    /// The engine's answer to the end of an execution.
    @usableFromInline
    struct ExecutionEnd: ~Copyable {
        @usableFromInline let verdict: Verdict
        @usableFromInline var actions: EngineActions
        /// Held so that it is released without the lock.
        @usableFromInline let task: ExecutionTask?
        /// Freed without the lock, too.
        @usableFromInline let discarded: Discarded
        @usableFromInline let hasObservers: Bool
        @usableFromInline let sendsBlocks: Bool

        @inlinable
        init(
            verdict: Verdict, actions: EngineActions, task: ExecutionTask?, discarded: consuming Discarded,
            hasObservers: Bool, sendsBlocks: Bool
        ) {
            self.verdict = verdict
            self.actions = actions
            self.task = task
            self.discarded = discarded
            self.hasObservers = hasObservers
            self.sendsBlocks = sendsBlocks
        }
    }

    /// Reports the end of an execution to the engine, delivers its outcome, and starts what waited for it.
    ///
    /// - Returns: The error that is to be reported, if the execution has failed.
    @inlinable
    func end(_ execution: inout Execution<Key, Item>, _ outcome: Outcome<Output>) -> (any Error)? {
        let now = lockForEnd()
        var end = reportEnd(of: &execution, outcome, at: now)
        lock.unlock()
        return conclude(&execution, outcome, &end)
    }

    /// Reports the end of an execution to the engine. The caller holds the lock, by ``lockForEnd()``.
    @inlinable
    func reportEnd(
        of execution: inout Execution<Key, Item>, _ outcome: Outcome<Output>, at now: CoreInstant
    ) -> ExecutionEnd {
        var ending = Ending.returned
        if case .failed = outcome { ending = .threw }
        let task = tasks.count == 0 ? nil : engine.attachment(of: execution.run).map { tasks.remove($0) }
        var (verdict, actions) = engine.ended(execution.run, ending)
        if hasObservers { recordEnd(of: execution, verdict, actions, at: now) }
        let sendsBlocks = makeReady(&actions)
        return ExecutionEnd(
            verdict: verdict, actions: actions, task: task, discarded: engine.takeDiscarded(),
            hasObservers: hasObservers, sendsBlocks: sendsBlocks)
    }

    /// Delivers the outcome of an execution, and performs what the engine asks for.
    @inlinable
    func conclude(
        _ execution: inout Execution<Key, Item>, _ outcome: Outcome<Output>, _ end: inout ExecutionEnd
    ) -> (any Error)? {
        var failure: (any Error)?
        switch end.verdict {
        case .executed:
            deliver(outcome, to: execution.batch)
        case .failed:
            let isTaken = deliver(outcome, to: execution.batch)
            if case .failed(let error) = outcome, onFailure != nil || !isTaken { failure = error }
        case .superseded:
            deliver(.superseded, to: execution.batch)
        case .cancelled:
            deliver(.cancelled, to: execution.batch)
        }
        if !end.actions.isQuiet || end.sendsBlocks { perform(&end.actions, sendsBlocks: end.sendsBlocks) }
        if end.hasObservers { wakeObservers() }
        return failure
    }

    /// Delivers an outcome to every caller that waits for one of these submits.
    ///
    /// - Returns: Whether any caller has taken it.
    @inlinable
    @discardableResult
    func deliver(_ outcome: Outcome<Output>, to batch: Batch<Item>) -> Bool {
        var isTaken = false
        for item in batch.earlier where item.promise?.deliver(outcome) == true { isTaken = true }
        if batch.value.promise?.deliver(outcome) == true { isTaken = true }
        return isTaken
    }

    /// Calls `onFailure`, or logs.
    @usableFromInline
    func reportFailure(_ failure: any Error, of key: Key) async {
        if let onFailure {
            await onFailure(failure, key)
        } else {
            logFailure(failure, of: describe(key, of: Value.self), kind, madeAt: site)
        }
    }
}
