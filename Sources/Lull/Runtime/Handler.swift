public import Dispatch
public import LullCore

extension Runtime {
    /// How an execution runs.
    @usableFromInline
    enum Handler: Sendable {
        /// In a task of its own, on the actor that the closure names, or on none.
        case task(isolation: (any Actor)?, TaskBody)
        /// On a queue.
        case queue(DispatchQueue, QueueBody)
    }

    @usableFromInline typealias TaskBody =
        nonisolated(nonsending) @Sendable (Key, Batch<Item>) async throws -> Output

    /// What runs on a queue. What it gets is taken out of the batch in code that is specialised for the user's types; in a
    /// closure made here that took a twentieth of an execution.
    @usableFromInline
    enum QueueBody: Sendable {
        /// Gets one value, with the others folded into it if there is a function for that.
        case ofOne(Fold?, @Sendable (Key, Value) throws -> Output)
        /// Gets all values in order.
        case ofAll(@Sendable (Key, [Value]) throws -> Output)

        @inlinable
        @inline(__always)
        func callAsFunction(_ execution: inout Execution<Key, Item>) throws -> Output {
            switch self {
            case .ofOne(let fold, let body):
                // The batch is not copied where it is a batch of one, as it almost always is.
                guard let fold, !execution.batch.earlier.isEmpty else {
                    return try body(execution.key, execution.batch.value.value)
                }
                return try body(execution.key, Runtime.value(of: execution.batch, fold))
            case .ofAll(let body): return try body(execution.key, execution.batch.values.map(\.value))
            }
        }
    }

    @usableFromInline typealias Fold = @Sendable (_ pending: inout Value, _ value: Value) -> Void

    /// The one value that a handler gets.
    @inlinable
    static func value(of batch: Batch<Item>, _ fold: Fold?) -> Value {
        guard let fold, let first = batch.earlier.first else { return batch.value.value }
        var merged = first.value
        for item in batch.earlier.dropFirst() { fold(&merged, item.value) }
        fold(&merged, batch.value.value)
        return merged
    }

    // MARK: - Running in a task

    @inlinable
    func startTask(
        _ execution: Execution<Key, Item>, _ isolation: (any Actor)?, _ body: @escaping TaskBody
    ) {
        let work = announce(execution.run, of: execution.key)
        let task = launch(work, observer, on: isolation) {
            let outcome: Outcome<Output>
            do {
                try self.begin(execution.run)
                outcome = .executed(try await body(execution.key, execution.batch))
            } catch {
                outcome = .failed(error)
            }
            var execution = execution
            if let failure = self.end(&execution, outcome) { await self.tell(failure, execution.key) }
            self.observer?.ended(work)
        }
        register(Launched(task: task, work: work, observer: observer, isolation: isolation), execution.run)
    }

    /// Asks, where the handler runs and right before it is entered, whether it has been told to stop meanwhile.
    @inlinable
    func begin(_ run: RunID) throws {
        if lock.withLock({ engine.isCancelling(run) }) { throw CancellationError() }
    }

    /// Keeps a task within reach of a cancel, unless it has ended already.
    @inlinable
    func register(_ task: Launched, _ run: RunID) {
        let state = lock.withLock { () -> RunState in
            let state = engine.state(of: run)
            if state != .ended { engine.attach(tasks.insert(task), to: run) }
            return state
        }
        if state == .cancelling { task.cancel() }
    }

    /// Names an execution, and tells a clock that keeps track of it.
    @inlinable
    func announce(_ run: RunID, of key: Key) -> Work {
        let work = makeWork(of: Value.self, run: run, debouncer: number, key: key)
        observer?.began(work)
        return work
    }

    // MARK: - Ending

    /// What the engine has said at the end of an execution.
    @usableFromInline
    struct Conclusion: ~Copyable {
        @usableFromInline let verdict: Verdict
        @usableFromInline var actions: Answer
        /// Held until the lock has been let go.
        @usableFromInline let task: Launched?
        /// Freed with it, when the lock has been let go.
        @usableFromInline let discarded: Discarded
        @usableFromInline let isWatched: Bool

        @inlinable
        init(verdict: Verdict, actions: Answer, task: Launched?, discarded: consuming Discarded, isWatched: Bool) {
            self.verdict = verdict
            self.actions = actions
            self.task = task
            self.discarded = discarded
            self.isWatched = isWatched
        }
    }

    /// Reports the end of an execution and starts what waited for it.
    ///
    /// - Returns: The error, if the execution has failed and somebody is to be told of it.
    @inlinable
    func end(_ execution: inout Execution<Key, Item>, _ outcome: Outcome<Output>) -> (any Error)? {
        let now = lockForEnd()
        var conclusion = reportEnd(of: &execution, outcome, at: now)
        lock.unlock()
        return conclude(&execution, outcome, &conclusion)
    }

    /// Tells the engine of an end. Called with the lock held, which ``lockForEnd()`` has taken.
    @inlinable
    func reportEnd(
        of execution: inout Execution<Key, Item>, _ outcome: Outcome<Output>, at now: CoreInstant
    ) -> Conclusion {
        var ending = Ending.returned
        if case .failed = outcome { ending = .threw }
        let task = tasks.count == 0 ? nil : engine.attachment(of: execution.run).map { tasks.remove($0) }
        let (verdict, actions) = engine.ended(execution.run, ending)
        if isWatched { noteEnd(of: execution, verdict, actions, at: now) }
        return Conclusion(
            verdict: verdict, actions: actions, task: task, discarded: engine.takeDiscarded(), isWatched: isWatched)
    }

    /// Tells those who wait, and starts what comes next.
    @inlinable
    func conclude(
        _ execution: inout Execution<Key, Item>, _ outcome: Outcome<Output>, _ conclusion: inout Conclusion
    ) -> (any Error)? {
        var failure: (any Error)?
        switch conclusion.verdict {
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
        if !conclusion.actions.isQuiet { perform(&conclusion.actions) }
        if conclusion.isWatched { wakeWatchers() }
        return failure
    }

    /// Tells of a failure: to whom it was agreed, or on standard error.
    @usableFromInline
    func tell(_ failure: any Error, _ key: Key) async {
        if let onFailure {
            await onFailure(failure, key)
        } else {
            reportFailure(failure, of: describe(key, of: Value.self), kind, madeAt: site)
        }
    }
}
