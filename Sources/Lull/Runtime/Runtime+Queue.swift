public import Dispatch
public import LullCore

// Synchronous handlers on a queue. `QueueRuns` holds what is ready and decides how many blocks are sent; this is its driver.
extension Runtime {
    // MARK: - Starting

    /// Moves the executions that are to start out of the engine's actions, and makes them ready for the next block on the queue.
    /// Does nothing if the handler runs in tasks.
    ///
    /// The caller has held the lock since the engine started them: to other threads, an execution is pending or ready, and never
    /// in between. After releasing the lock, the caller calls ``sendBlocks()``.
    ///
    /// - Returns: Whether any has become ready.
    @inlinable
    @inline(never)
    func makeReady(_ actions: inout EngineActions) -> Bool {
        guard actions.startsAny, case .queue = handler else { return false }
        var others: [Action<Key, Item>] = []
        var pending = actions.takeMore()
        while let action = pending.next() {
            switch consume action {
            case .start(let execution):
                let run = execution.run
                let work = tracksWork ? beginWork(of: run, key: execution.key) : nil
                engine.attach(queueRuns.append(QueueRun(execution: execution, work: work)), to: run)
            case let other:
                others.append(other)
            }
        }
        actions.more = others
        return true
    }

    /// Sends as many blocks to the queue as are needed to run all that is ready.
    ///
    /// A block for each execution would double its cost. One block for all would keep the queue from everything else.
    @inlinable
    func sendBlocks() {
        guard case .queue(let queue, let body) = handler else { return }
        lock.lock()
        let count = queueRuns.sendBlocks()
        lock.unlock()
        for _ in 0..<count { sendBlock(queue, body) }
    }

    @inlinable
    func sendBlock(_ queue: DispatchQueue, _ body: QueueBody) {
        queue.async { self.runBlock(queue, body) }
    }

    // MARK: - Running

    /// Runs the first executions, on the handler's queue.
    @inlinable
    @inline(never)
    func runBlock(_ queue: DispatchQueue, _ body: QueueBody) {
        withRun { runBlock(queue, body, in: $0) }
    }

    @inlinable
    func runBlock(_ queue: DispatchQueue, _ body: QueueBody, in run: UnsafeMutablePointer<QueueRun>) {
        lock.lock()
        queueRuns.beginBlock()
        let isNeeded = takeFirst(to: run)
        if !isNeeded { queueRuns.endBlock() }
        let sendsAnother = queueRuns.sendAnotherBlock()
        lock.unlock()
        if sendsAnother { sendBlock(queue, body) }
        guard isNeeded else { return }
        for _ in 1..<runsPerBlock {
            perform(run, body)
            let isTaken = lock.withLock {
                let isTaken = takeFirst(to: run)
                if !isTaken { queueRuns.endBlock() }
                return isTaken
            }
            guard isTaken else { return }
        }
        perform(run, body)
        if lock.withLock({ queueRuns.resendBlock() }) { sendBlock(queue, body) }
    }

    /// Provides memory for an execution, on the stack. Executions are moved and never copied: a copy takes a fifth of an execution
    /// (`make bench ROWS=due`).
    @inlinable
    func withRun(_ body: (UnsafeMutablePointer<QueueRun>) -> Void) {
        withUnsafeTemporaryAllocation(of: QueueRun.self, capacity: 1) { buffer in
            // Proof: a buffer of one element has an address.
            body(buffer.baseAddress.unsafelyUnwrapped)
        }
    }

    /// Takes the first execution that is ready, if there is one. The caller holds the lock, and then performs the execution before
    /// anything else that runs code of the user's: what is taken can no longer be cancelled.
    @inlinable
    func takeFirst(to run: UnsafeMutablePointer<QueueRun>) -> Bool {
        guard queueRuns.takeFirst(to: run) else { return false }
        run.pointee.isCancelled = engine.attach(.max, to: run.pointee.execution.run).isCancelling
        return true
    }

    /// Runs the handler for an execution that was taken, reports its end, and releases it.
    @inlinable
    func perform(_ run: UnsafeMutablePointer<QueueRun>, _ body: QueueBody) {
        let outcome = outcome(of: run, body)
        end(&run.pointee.execution, outcome)
        finish(run)
    }

    /// Runs the handler, unless the execution was cancelled meanwhile.
    @inlinable
    func outcome(of run: UnsafeMutablePointer<QueueRun>, _ body: QueueBody) -> Outcome<Output> {
        guard !run.pointee.isCancelled else { return .failed(CancellationError()) }
        if let work = run.pointee.work {
            // A clock cannot see what a synchronous handler waits for, and takes it for waiting from the start.
            workObserver?.entered(work, on: nil)
        }
        do {
            return .executed(try body(&run.pointee.execution))
        } catch {
            return .failed(error)
        }
    }

    /// Removes an execution that is cancelled from those that are ready, and ends it, under one lock. Does nothing if a block has
    /// taken it.
    @inlinable
    @inline(never)
    func removeCancelled(_ cancelled: RunID) {
        withRun { run in
            let now = lockForEnd()
            guard let slot = engine.attachment(of: cancelled) else { return lock.unlock() }
            queueRuns.remove(slot, to: run)
            let outcome = Outcome<Output>.failed(CancellationError())
            let steps = deliverySteps(of: run.pointee.execution.batch)
            var end = reportEnd(of: &run.pointee.execution, outcome, delivering: steps, at: now)
            lock.unlock()
            conclude(&run.pointee.execution, outcome, &end)
            finish(run)
        }
    }

    /// Reports the end of tracked work, and releases the execution.
    @inlinable
    func finish(_ run: UnsafeMutablePointer<QueueRun>) {
        if let work = run.pointee.work { workObserver?.ended(work) }
        run.deinitialize(count: 1)
    }
}

// MARK: - For LullDispatch

extension Runtime {
    /// Runs everything that is ready, on the stack of a caller that is on the handler's queue.
    package func runReady() {
        guard case .queue(_, let body) = handler else { return }
        withRun { run in
            while lock.withLock({ takeFirst(to: run) }) { perform(run, body) }
        }
    }

    /// Whether a value is pending, or an execution waits for a block of the queue and is not being cancelled.
    package var hasMoreToRun: Bool {
        lock.withLock { engine.counters.pending > 0 || queueRuns.contains { engine.state(of: $0) == .running } }
    }
}
