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
            self.end(&execution, outcome)
            self.workObserver?.ended(work)
        }
        register(task, execution.run)
    }

    /// Keeps a task so that it can be cancelled, unless it has ended already.
    @inlinable
    func register(_ task: Task<Void, any Error>, _ run: RunID) {
        let state = lock.withLock { () -> RunState in
            let state = engine.state(of: run)
            if state.isRunning { engine.attach(tasks.insert(task), to: run) }
            return state
        }
        if state.isCancelling { task.cancel() }
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
        @usableFromInline let task: Task<Void, any Error>?
        /// Freed without the lock, too.
        @usableFromInline let discarded: Discarded
        @usableFromInline let hasObservers: Bool
        @usableFromInline let sendsBlocks: Bool
        /// Whether its outcome is told now, and holds up the key until then.
        @usableFromInline let isTold: Bool

        @inlinable
        init(
            verdict: Verdict, actions: EngineActions, task: Task<Void, any Error>?, discarded: consuming Discarded,
            hasObservers: Bool, sendsBlocks: Bool, isTold: Bool
        ) {
            self.isTold = isTold
            self.verdict = verdict
            self.actions = actions
            self.task = task
            self.discarded = discarded
            self.hasObservers = hasObservers
            self.sendsBlocks = sendsBlocks
        }
    }

    /// Reports the end of an execution to the engine, tells its outcome, and starts what waited for it.
    @inlinable
    func end(_ execution: inout Execution<Key, Item>, _ outcome: Outcome<Output>) {
        let steps = deliverySteps(of: execution.batch)
        let now = lockForEnd()
        var end = reportEnd(of: &execution, outcome, delivering: steps, at: now)
        lock.unlock()
        conclude(&execution, outcome, &end)
    }

    /// How many steps it takes to deliver an outcome: none if no caller has asked for it; otherwise one for all deliveries
    /// together, and one for each completion.
    @inlinable
    func deliverySteps(of batch: Batch<Item>) -> Int {
        var steps = 0
        func count(_ item: Item) {
            if let promise = item.promise { steps = max(steps, 1) + (promise.hasCallback ? 1 : 0) }
        }
        for item in batch.earlier { count(item) }
        count(batch.value)
        return steps
    }

    /// Reports the end of an execution to the engine. The caller holds the lock, by ``lockForEnd()``.
    @inlinable
    func reportEnd(
        of execution: inout Execution<Key, Item>, _ outcome: Outcome<Output>, delivering deliveries: Int,
        at now: CoreInstant
    ) -> ExecutionEnd {
        var ending = Ending.returned
        var steps = deliveries
        if case .failed = outcome {
            ending = .threw
            // One that was cancelled is no failure.
            if !engine.isCancelling(execution.run) { steps = max(steps, 1) + (onFailure == nil ? 0 : 1) }
        }
        let task = tasks.count == 0 ? nil : engine.attachment(of: execution.run).map { tasks.remove($0) }
        var (verdict, actions) =
            ending == .returned
            ? engine.ended(execution.run, ending, telling: steps)
            : engine.ended(execution.run, ending, returning: execution.batch, telling: steps)
        if hasObservers { recordEnd(of: execution, verdict, actions, at: now) }
        let sendsBlocks = makeReady(&actions)
        return ExecutionEnd(
            verdict: verdict, actions: actions, task: task, discarded: engine.takeDiscarded(),
            hasObservers: hasObservers, sendsBlocks: sendsBlocks, isTold: steps > 0 && verdict != .interrupted)
    }

    /// Performs what the engine asks for at the end of an execution, and tells its outcome.
    @inlinable
    func conclude(
        _ execution: inout Execution<Key, Item>, _ outcome: Outcome<Output>, _ end: inout ExecutionEnd
    ) {
        if !end.actions.isQuiet || end.sendsBlocks { perform(&end.actions, sendsBlocks: end.sendsBlocks) }
        if end.hasObservers { wakeObservers() }
        if end.isTold { tell(&execution, outcome, end.verdict) }
    }

    // MARK: - Telling

    /// Delivers the outcome of an execution, and reports its failure. The next execution of the key starts when all that are
    /// called for it have ended.
    @inlinable
    @inline(never)
    func tell(_ execution: inout Execution<Key, Item>, _ outcome: Outcome<Output>, _ verdict: Verdict) {
        let run = execution.run
        switch verdict {
        case .executed:
            deliver(outcome, to: execution.batch, of: run)
        case .failed:
            let isTaken = deliver(outcome, to: execution.batch, of: run)
            if case .failed(let error) = outcome { reportFailure(error, of: run, execution.key, isTaken: isTaken) }
        case .superseded:
            deliver(.superseded, to: execution.batch, of: run)
        case .cancelled:
            deliver(.cancelled, to: execution.batch, of: run)
        case .interrupted:
            preconditionFailure("the outcome of submits that are pending again was told")
        }
        told(run)
    }

    /// Reports the end of a step of telling an outcome, and starts what waited for the last one.
    @inlinable
    func told(_ run: RunID) {
        handle { engine in ((), engine.told(run)) }
    }

    /// Delivers an outcome to every caller that waits for one of these submits.
    ///
    /// - Parameter run: The execution whose outcome it is, if it is one.
    /// - Returns: Whether any caller has taken it.
    @inlinable
    @discardableResult
    func deliver(_ outcome: Outcome<Output>, to batch: Batch<Item>, of run: RunID? = nil) -> Bool {
        var isTaken = false
        for item in batch.earlier where item.promise?.deliver(outcome, of: run) == true { isTaken = true }
        if batch.value.promise?.deliver(outcome, of: run) == true { isTaken = true }
        return isTaken
    }

    /// Calls `onFailure`, or logs what no caller has taken.
    @usableFromInline
    func reportFailure(_ failure: any Error, of run: RunID, _ key: Key, isTaken: Bool) {
        if let onFailure {
            call(of: run, key, on: onFailure.isolation) { await onFailure(failure, key) }
        } else if !isTaken {
            logFailure(failure, of: describe(key, of: Value.self), kind, madeAt: site)
        }
    }
}
