internal import LullCore

// An execution from the call of its handler to the last caller that is told its outcome; and what observers are told.
extension Runtime {
    // MARK: - Calling the handler

    /// Runs the handler of an execution, on its actor, and reports the end.
    nonisolated(nonsending) func execute(_ id: RunID) async {
        lock.lock()
        guard let run = started(id) else { preconditionFailure("an execution that has ended was to run") }
        // A cancel may have come before the actor was free.
        let isCancelled = engine.state(of: id).isCancelling
        let key = key(of: id.slot)
        lock.unlock()
        do {
            if isCancelled { throw CancellationError() }
            switch handler {
            case .task(_, .one(_, let body)) where !collects && executedValues == nil:
                returned(run, key, try await body(key, Cells.value(behind: run).pointee))
            case .task(_, .one(let fold, let body)):
                let value = value(of: run, fold)
                if let start = try begin(run, key, value) {
                    let output = try await body(key, value)
                    returned(run, key, output) { executedValues?.executed(key, value, start: start) }
                }
            case .task(_, .all(let body)): returned(run, key, try await body(key, values(of: run)))
            case .queue: preconditionFailure("an execution for a queue was to run in a task")
            }
        } catch {
            threw(run, key, error)
        }
        free(run)
    }

    /// Runs the handler of an execution on its queue, unless it is being cancelled, and reports the end. The caller
    /// holds the lock; this releases it.
    func execute(_ run: StartedRun.Pointer, sendingBlock sendsBlock: Bool) {
        let id = run.pointee.id
        // What is taken can no longer be cancelled.
        let isCancelled = engine.attach(Self.taken(run), to: id).isCancelling
        let key = key(of: id.slot)
        lock.unlock()
        if sendsBlock { sendBlock() }
        // A clock cannot see what a synchronous handler waits for, and takes it for waiting from the start.
        if let work = run.pointee.work, !isCancelled { workObserver?.entered(work, on: nil) }
        do {
            if isCancelled { throw CancellationError() }
            switch handler {
            case .queue(_, _, let body) where !collects && executedValues == nil:
                returned(run, key, try body(key, Cells.value(behind: run).pointee))
            case .queue(_, let fold, let body):
                let value = value(of: run, fold)
                if let start = try begin(run, key, value) {
                    let output = try body(key, value)
                    returned(run, key, output) { executedValues?.executed(key, value, start: start) }
                }
            case .task: preconditionFailure("an execution for a task was to run on a queue")
            }
        } catch {
            threw(run, key, error)
        }
        finish(run)
    }

    /// Reports the end of tracked work on a queue, and releases the execution.
    func finish(_ run: StartedRun.Pointer) {
        if let work = run.pointee.work { workObserver?.ended(work) }
        free(run)
    }

    /// The values of an execution, where all are kept.
    private func values(of run: StartedRun.Pointer) -> [Value] {
        // Proof: `Cells` makes the companions there, one for each execution.
        unsafeDowncast(run.pointee.companion.unsafelyUnwrapped, to: Collected<Value>.self).values
    }

    /// The one value of an execution.
    private func value(of run: StartedRun.Pointer, _ fold: Fold?) -> Value {
        collects ? Self.merged(values(of: run), fold) : Cells.value(behind: run).pointee
    }

    // MARK: - Unchanged values

    /// Notes that the handler of an execution is to be called, or ends it if its value is unchanged.
    ///
    /// - Returns: The number of the start; nil if the handler is not to be called.
    /// - Throws: `CancellationError` if the execution was cancelled or replaced while values were compared.
    private func begin(_ run: StartedRun.Pointer, _ key: Key, _ value: Value) throws -> UInt64? {
        guard let executedValues else { return 0 }
        guard let start = executedValues.start(key, value) else {
            if end(run, key, .unchanged) > 0 {
                deliver(.absorbed, to: run.pointee.companion, of: run.pointee.id)
                told(run.pointee.id)
            }
            return nil
        }
        let isCancelled = handle {
            let isCancelled = engine.state(of: run.pointee.id).isCancelling
            if isCancelled { return true }
            engine.confirmStart(of: run.pointee.id)
            if hasObservers { recordStart(of: run) }
            return false
        }
        if isCancelled { throw CancellationError() }
        return start
    }

    // MARK: - Ending

    /// Reports that a handler has returned, tells the outcome, and starts what waited for it.
    ///
    /// - Parameter noteExecuted: Called under the lock if the submits are executed.
    private func returned(
        _ run: StartedRun.Pointer, _ key: Key, _ output: Output, noteExecuted: () -> Void = {}
    ) {
        if end(run, key, .returned, noteExecuted) > 0 { tellReturned(run, output) }
    }

    /// Reports that an execution has ended without an error, and returns how many steps it takes to tell its outcome.
    private func end(
        _ run: StartedRun.Pointer, _ key: Key, _ ending: Ending, _ noteExecuted: () -> Void = {}
    ) -> Int {
        let now = lockForEnd()
        let steps = deliverySteps(of: run.pointee.companion)
        let verdict = engine.ended(run.pointee.id, ending, telling: steps)
        if verdict == .executed { noteExecuted() }
        if hasObservers { recordEnd(of: run, key, verdict, nil, at: now) }
        unlockAndPerform(at: now)
        return steps
    }

    /// In a function of its own: it makes an outcome, which an execution that nobody waits for does not need.
    @inline(never)
    private func tellReturned(_ run: StartedRun.Pointer, _ output: Output) {
        deliver(.executed(output), to: run.pointee.companion, of: run.pointee.id)
        told(run.pointee.id)
    }

    /// Reports that a handler has thrown, and tells the outcome. Under `.restart` the value goes back instead if the
    /// execution was interrupted.
    private func threw(_ run: StartedRun.Pointer, _ key: Key, _ error: any Error) {
        end(run, key, error, at: lockForEnd())
    }

    /// Does the same where the caller holds the lock; this releases it.
    func end(_ run: StartedRun.Pointer, _ key: Key, _ error: any Error, at now: CoreInstant) {
        // What calls for all keys have left to do comes first: it may move the values that wait, and cancel this
        // execution.
        engine.settle(run.pointee.id)
        var orders = Orders()
        takeActions(&orders, at: now)
        var steps = deliverySteps(of: run.pointee.companion)
        let state = engine.state(of: run.pointee.id)
        let error = state == .expired ? TimeLimitExceeded(Duration(engine.setup.timeLimit)) : error
        if state.failsByThrowing { steps = max(steps, 1) + (onFailure == nil ? 0 : 1) }
        let verdict = engine.ended(run.pointee.id, .threw, telling: steps)
        var (companion, displaced) = (run.pointee.companion, NotExecutedError?.none)
        if verdict == .interrupted {
            let executions = engine.executions(engine.slot(run.pointee.id.slot).pointee.executions)
            let value = collects ? nil : Cells.value(behind: run)
            engine.keepAgain(companion)
            displaced = Cells.putBack(value, &companion, to: executions, engine.setup.combination)
            if let displaced, let companion { orders.add(.resolve(companion, displaced)) }
        }
        if hasObservers { recordEnd(of: run, key, verdict, displaced, at: now) }
        takeActions(&orders, at: now)
        unlock(performing: orders)
        if steps > 0, verdict != .interrupted, verdict != .replaced { tellThrown(run, key, error, verdict) }
    }

    private func tellThrown(_ run: StartedRun.Pointer, _ key: Key, _ error: any Error, _ verdict: Verdict) {
        switch verdict {
        case .failed:
            let isTaken = deliver(.failed(error), to: run.pointee.companion, of: run.pointee.id)
            reportFailure(error, of: run.pointee.id, key, isTaken: isTaken)
        case .superseded: deliver(.superseded, to: run.pointee.companion, of: run.pointee.id)
        case .cancelled: deliver(.cancelled, to: run.pointee.companion, of: run.pointee.id)
        case .executed, .absorbed, .interrupted, .replaced:
            preconditionFailure("a handler that has thrown was to be told about as if it had not")
        }
        told(run.pointee.id)
    }

    /// Delivers an outcome to every caller that waits for one of these submits.
    ///
    /// - Returns: Whether any caller has taken it.
    @discardableResult
    private func deliver(_ outcome: Outcome<Output>, to companion: Companion?, of run: RunID) -> Bool {
        var isTaken = false
        if let companion {
            forEachPromise(of: companion) { promise in
                // Proof: the promises that this runtime submits are of this class.
                let promise = unsafeDowncast(promise, to: OutcomePromise<Output>.self)
                if promise.deliver(outcome, of: run) { isTaken = true }
            }
        }
        return isTaken
    }

    /// Reports the end of a step of telling an outcome, and starts what waited for the last one.
    func told(_ run: RunID) {
        let now = lockForEnd()
        engine.told(run)
        unlockAndPerform(at: now)
    }

    /// Calls `onFailure`, or logs what no caller has taken.
    private func reportFailure(_ failure: any Error, of run: RunID, _ key: Key, isTaken: Bool) {
        if let onFailure {
            call(of: run, key, on: onFailure.isolation) { await onFailure(failure, key) }
        } else if !isTaken {
            logFailure(failure, of: describe(key, of: Value.self), kind, madeAt: site)
        }
    }

    /// Tells observers that an execution goes on after its time limit, or logs it if there are none. The caller holds
    /// the lock.
    func tellOverdue(_ id: RunID, _ orders: inout Orders, at now: CoreInstant) {
        guard let run = unended(id) else { return }
        let key = key(of: id.slot)
        record(.overdue, key, at: now, count: run.pointee.count, cause: run.pointee.cause)
        guard eventBuffers.isEmpty else { return }
        let limit = Duration(engine.setup.timeLimit)
        let isSynchronous = engine.setup.isSynchronous
        orders.add(
            .other { [kind, site] in
                logOverdue(
                    describe(key, of: Value.self), kind, madeAt: site, limit: limit, isSynchronous: isSynchronous)
            })
    }

    /// Calls code of the user's that is told what became of submits, in a task of its own on its actor.
    ///
    /// - Parameter run: The execution whose outcome that is, if it is one. When the call has ended, a step of telling
    ///   it has.
    func call(
        of run: RunID?, _ key: Key, on isolation: (any Actor)?,
        _ body: nonisolated(nonsending) @escaping @Sendable () async -> Void
    ) {
        // While it tells the outcome of an execution, it is a part of that: it cannot wait for its own end.
        let work = run.map { makeWork(of: $0, key: key) } ?? TrackedWork { describe(key, of: Value.self) }
        workObserver?.began(work)
        _ = launch(work, workObserver, on: isolation) {
            await body()
            if let run { self.told(run) }
            self.workObserver?.ended(work)
        }
    }

    /// Makes the work of an execution, for a clock that tracks it.
    func makeWork(of run: RunID, key: Key) -> TrackedWork {
        TrackedWork(handling: run, of: number) { describe(key, of: Value.self) }
    }

    // MARK: - Observers

    // Events are recorded where the engine answers, with the lock held, so that they stay in order. The observers are
    // woken afterwards, without the lock; what buffers have dropped is released then.

    func observe(with buffer: EventBuffer<Key>) {
        changeObservers { $0.eventBuffers.append(buffer) }
    }

    func stopObserving(with buffer: EventBuffer<Key>) {
        changeObservers { $0.eventBuffers.removeAll { $0 === buffer } }
    }

    func startRecording(in buffer: RecordingBuffer<Key>) {
        changeObservers { $0.recordingBuffers.append(buffer) }
    }

    func stopRecording(in buffer: RecordingBuffer<Key>) {
        changeObservers { $0.recordingBuffers.removeAll { $0 === buffer } }
    }

    private func changeObservers(_ change: (Runtime) -> Void) {
        lock.withLock {
            change(self)
            hasObservers = !eventBuffers.isEmpty || !recordingBuffers.isEmpty
        }
    }

    func record(_ kind: Event<Key>.Kind, _ key: Key, at now: CoreInstant, count: Int = 1, cause: Cause? = nil) {
        if eventBuffers.isEmpty { return }
        let event = Event(kind: kind, key: key, at: Duration(origin.duration(to: now)), count: count, cause: cause)
        for buffer in eventBuffers { buffer.add(event) }
        wakesObservers = true
    }

    func recordSubmit(of key: Key) {
        addToRecordings(key)
        record(.submitted, key, at: engine.now)
    }

    func addToRecordings(_ key: Key, isTouch: Bool = false) {
        for buffer in recordingBuffers where buffer.add(key, at: engine.now, isTouch: isTouch) { wakesObservers = true }
    }

    /// An execution is recorded at its due instant, however late the timer was.
    func recordStart(of run: StartedRun.Pointer) {
        let key = key(of: run.pointee.id.slot)
        record(.started, key, at: run.pointee.at, count: run.pointee.count, cause: run.pointee.cause)
    }

    private func recordEnd(
        of run: StartedRun.Pointer, _ key: Key, _ verdict: Verdict, _ displaced: NotExecutedError?, at now: CoreInstant
    ) {
        let kind: Event<Key>.Kind
        switch verdict {
        case .executed: kind = .executed
        case .absorbed: kind = .absorbed
        case .failed: kind = .failed
        case .superseded: kind = .superseded
        case .cancelled: kind = .cancelled
        case .interrupted: kind = .interrupted
        // Observers have been told.
        case .replaced: return
        }
        record(
            kind, key, at: now, count: verdict == .interrupted ? size(of: run.pointee.companion) : run.pointee.count,
            cause: run.pointee.cause)
        if let displaced { record(.init(displaced), key, at: now) }
    }
}

extension Event.Kind {
    init(_ fate: NotExecutedError) {
        switch fate {
        case .superseded: self = .superseded
        case .absorbed: self = .absorbed
        case .cancelled: self = .cancelled
        case .rejected(let why): self = .rejected(why)
        }
    }
}
