public import Dispatch
public import LullCore

// Synchronous handlers on a queue. `QueueRuns` holds what is ready and decides how many blocks are sent; this is its driver.
extension Runtime {
    // MARK: - Starting

    /// Moves the executions that are to start out of the engine's actions, and makes them ready for the next block on the queue.
    ///
    /// The caller holds the lock, as it has since the engine started them: to other threads, an execution is pending or ready,
    /// and never in between. Without the lock, the caller then calls ``sendBlocks()``. Does nothing if the handler runs in tasks.
    ///
    /// - Returns: Whether any has become ready.
    @inlinable
    func makeReady(_ actions: inout EngineActions) -> Bool {
        guard !actions.more.isEmpty, case .queue = handler else { return false }
        return makeReady(all: &actions)
    }

    @inlinable
    @inline(never)
    func makeReady(all actions: inout EngineActions) -> Bool {
        var isAnyReady = false
        var others: [Action<Key, Item>] = []
        var pending = actions.takeMore()
        while let action = pending.next() {
            switch consume action {
            case .start(let execution):
                let run = execution.run
                let work = tracksWork ? beginWork(of: run, key: execution.key) : nil
                engine.attach(queueRuns.append(QueueRun(execution: execution, work: work)), to: run)
                isAnyReady = true
            case let other:
                others.append(other)
            }
        }
        actions.more = others
        return isAnyReady
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
        RunBuffer.withBuffer { runBlock(queue, body, in: $0) }
    }

    @inlinable
    func runBlock(_ queue: DispatchQueue, _ body: QueueBody, in buffer: RunBuffer) {
        lock.lock()
        queueRuns.beginBlock()
        let isNeeded = takeFirst(to: buffer.next)
        if !isNeeded { queueRuns.endBlock() }
        let sendsAnother = queueRuns.sendAnotherBlock()
        lock.unlock()
        if sendsAnother { sendBlock(queue, body) }
        guard isNeeded else { return }
        for _ in 1..<runsPerBlock {
            guard runNext(in: buffer, body, endingBlock: true) else { return }
        }
        runLast(in: buffer, body)
        if lock.withLock({ queueRuns.resendBlock() }) { sendBlock(queue, body) }
    }

    /// Memory for the execution that is running and for the next one, on the stack. Executions are moved and never copied: a
    /// copy takes a fifth of an execution (`make bench ROWS=due`).
    @frozen
    @usableFromInline
    struct RunBuffer {
        @usableFromInline let current: UnsafeMutablePointer<QueueRun>
        /// Initialised only between taking an execution and running it.
        @usableFromInline let next: UnsafeMutablePointer<QueueRun>

        @inlinable
        init(_ start: UnsafeMutablePointer<QueueRun>) {
            current = start
            next = start + 1
        }

        @inlinable
        static func withBuffer(_ body: (RunBuffer) -> Void) {
            withUnsafeTemporaryAllocation(of: QueueRun.self, capacity: 2) { buffer in
                // Proof: a buffer of two elements has an address.
                body(RunBuffer(buffer.baseAddress.unsafelyUnwrapped))
            }
        }
    }

    /// Runs the execution that was taken, reports its end, and takes the next one under the same lock.
    ///
    /// - Parameter endingBlock: Whether the caller is a block, which ends when nothing is left.
    /// - Returns: Whether it has taken another one.
    @inlinable
    func runNext(in buffer: RunBuffer, _ body: QueueBody, endingBlock: Bool) -> Bool {
        buffer.current.moveInitialize(from: buffer.next, count: 1)
        let outcome = outcome(of: buffer.current, body)
        let now = lockForEnd()
        var end = reportEnd(of: &buffer.current.pointee.execution, outcome, at: now)
        let hasNext = takeFirst(to: buffer.next)
        if !hasNext, endingBlock { queueRuns.endBlock() }
        lock.unlock()
        finish(buffer.current, conclude(&buffer.current.pointee.execution, outcome, &end))
        return hasNext
    }

    /// Runs the execution that was taken, and takes no other.
    @inlinable
    func runLast(in buffer: RunBuffer, _ body: QueueBody) {
        buffer.current.moveInitialize(from: buffer.next, count: 1)
        let outcome = outcome(of: buffer.current, body)
        finish(buffer.current, end(&buffer.current.pointee.execution, outcome))
    }

    /// Takes the first execution that is ready, if there is one. The caller holds the lock.
    @inlinable
    func takeFirst(to run: UnsafeMutablePointer<QueueRun>) -> Bool {
        guard queueRuns.takeFirst(to: run) else { return false }
        run.pointee.isCancelled = engine.attach(.max, to: run.pointee.execution.run) == .cancelling
        return true
    }

    /// Runs the handler, unless the execution was cancelled meanwhile.
    @inlinable
    func outcome(of run: UnsafeMutablePointer<QueueRun>, _ body: QueueBody) -> Outcome<Output> {
        guard !run.pointee.isCancelled else { return .failed(CancellationError()) }
        if let work = run.pointee.work {
            // A clock cannot see what a synchronous handler waits for, and takes it for paused from the start.
            workObserver?.resumed(work)
            workObserver?.paused(work)
        }
        do {
            return .executed(try body(&run.pointee.execution))
        } catch {
            return .failed(error)
        }
    }

    /// Removes an execution that is cancelled from those that are ready, and ends it. Does nothing if a block has taken it.
    @inlinable
    @inline(never)
    func removeCancelled(_ run: RunID) {
        RunBuffer.withBuffer { buffer in
            let isReady = lock.withLock { () -> Bool in
                guard let slot = engine.attachment(of: run) else { return false }
                engine.attach(.max, to: run)
                queueRuns.remove(slot, to: buffer.current)
                return true
            }
            guard isReady else { return }
            finish(buffer.current, end(&buffer.current.pointee.execution, .failed(CancellationError())))
        }
    }

    /// Reports a failure, if there is one, and the end of tracked work. Releases the execution.
    @inlinable
    func finish(_ run: UnsafeMutablePointer<QueueRun>, _ failure: (any Error)?) {
        if let failure {
            Task.detached { [key = run.pointee.execution.key, work = run.pointee.work] in
                await self.reportFailure(failure, of: key)
                if let work { self.workObserver?.ended(work) }
            }
        } else if let work = run.pointee.work {
            workObserver?.ended(work)
        }
        run.deinitialize(count: 1)
    }
}

// MARK: - For LullDispatch

extension Runtime {
    /// Runs everything that is ready, on the stack of a caller that is on the handler's queue.
    package func runReady() {
        guard case .queue(_, let body) = handler else { return }
        RunBuffer.withBuffer { buffer in
            guard lock.withLock({ takeFirst(to: buffer.next) }) else { return }
            while runNext(in: buffer, body, endingBlock: false) {}
        }
    }

    /// Whether a value is pending, or an execution waits for a block of the queue and is not being cancelled.
    package var hasMoreToRun: Bool {
        lock.withLock { engine.counters.pending > 0 || queueRuns.contains { engine.state(of: $0) == .running } }
    }
}
