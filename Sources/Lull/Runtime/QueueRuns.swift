public import Dispatch
public import LullCore

// Synchronous handlers on a queue. What has been started waits in a list of its own until the queue comes to it: so it can
// be taken back when it is told to stop, and be run here and now by somebody who is on the queue already.
extension Runtime {
    /// An execution on its way to the handler's queue.
    @usableFromInline
    struct QueueRun: Sendable {
        @usableFromInline let execution: Execution<Key, Item>
        @usableFromInline let work: Work?
        /// Whether it had been told to stop when the queue came to it.
        @usableFromInline var isToldToStop = false

        @inlinable
        init(execution: consuming Execution<Key, Item>, work: Work?) {
            self.execution = execution
            self.work = work
        }
    }

    /// Sends executions to the queue.
    @inlinable
    func startOnQueue(_ runs: consuming Fifo<QueueRun>, _ queue: DispatchQueue, _ body: QueueBody) {
        lock.lock()
        while let run = runs.popFirst() { ready.append(run) }
        let sent = blocksToSend()
        lock.unlock()
        for _ in 0..<sent { sendBlock(queue, body) }
    }

    /// How many more blocks have to be on their way for all that is ready to be run. Called with the lock held.
    @inlinable
    func blocksToSend() -> Int {
        let wanted = min((ready.count + runsInBlock - 1) / runsInBlock, mostBlocks - blocks)
        let sent = max(0, wanted - blocksOnWay)
        blocks += sent
        blocksOnWay += sent
        return sent
    }

    /// Sends a block to the queue that runs whichever execution is first, and some more after it.
    ///
    /// A block for each would take as long as all the rest (measured: half of what an execution takes); one for all would
    /// not let others have their turn. Each block that begins sees to it that another one is on its way as long as
    /// anything is ready: on a concurrent queue they run executions side by side.
    @inlinable
    func sendBlock(_ queue: DispatchQueue, _ body: QueueBody) {
        queue.async {
            self.lock.lock()
            self.blocksOnWay -= 1
            let next = self.takeReady()
            let sendsAnother = !self.ready.isEmpty && self.blocksOnWay == 0 && self.blocks < mostBlocks
            if sendsAnother {
                self.blocks += 1
                self.blocksOnWay += 1
            }
            if next == nil { self.blocks -= 1 }
            self.lock.unlock()
            if sendsAnother { self.sendBlock(queue, body) }
            if let next { self.runSome(next, queue, body) }
        }
    }

    @inlinable
    func runSome(_ first: consuming QueueRun, _ queue: DispatchQueue, _ body: QueueBody) {
        var run = first
        for _ in 1..<runsInBlock {
            guard exchange(&run, outcome(of: run, body), leaving: true) else { return }
        }
        finish(run, outcome(of: run, body))
        if self.lock.withLock({ self.continuesBlock() }) { self.sendBlock(queue, body) }
    }

    /// Whether there is anything left for a block to do; if not, the block is gone. Called with the lock held.
    @inlinable
    func continuesBlock() -> Bool {
        let isNeeded = !ready.isEmpty && blocksOnWay == 0
        if isNeeded { blocksOnWay += 1 } else { blocks -= 1 }
        return isNeeded
    }

    /// Reports the end of an execution and takes the next one in its place, with one taking of the lock.
    ///
    /// - Parameter leaving: Whether the caller is a block that is gone when there is nothing left.
    /// - Returns: Whether there was another one.
    @inlinable
    func exchange(_ run: inout QueueRun, _ outcome: Outcome<Result>, leaving: Bool) -> Bool {
        lock.lock()
        let conclusion = reportEnd(of: run.execution, outcome)
        guard var other = takeReady() else {
            if leaving { blocks -= 1 }
            lock.unlock()
            tell(run, conclude(run.execution, outcome, conclusion))
            return false
        }
        lock.unlock()
        swap(&run, &other)
        tell(other, conclude(other.execution, outcome, conclusion))
        return true
    }

    /// Takes the execution that is first. Called with the lock held.
    @inlinable
    func takeReady() -> QueueRun? {
        guard var run = ready.popFirst() else { return nil }
        run.isToldToStop = engine.isToldToStop(run.execution.run)
        return run
    }

    /// Runs the handler, unless the execution has been told to stop meanwhile.
    @inlinable
    func outcome(of run: borrowing QueueRun, _ body: QueueBody) -> Outcome<Result> {
        guard !run.isToldToStop else { return .failed(CancellationError()) }
        if let work = run.work {
            // What a synchronous handler waits for cannot be seen: it counts as having come as far as it could.
            observer?.resumed(work)
            observer?.paused(work)
        }
        do {
            return .executed(try body(run.execution.key, run.execution.batch))
        } catch {
            return .failed(error)
        }
    }

    /// Runs everything that is ready, on the caller's stack, who is on the handler's queue.
    package func runReady() {
        guard case .queue(_, let body) = handler else { return }
        while var run = lock.withLock({ takeReady() }) {
            while exchange(&run, outcome(of: run, body), leaving: false) {}
            // What waited for the last one has been made ready by its end.
        }
    }

    /// Whether there are executions that the queue has not come to and that have not been told to stop.
    ///
    /// One that has been told to stop right when it was started may come here after that, to be left out.
    package var hasReady: Bool {
        lock.withLock { ready.contains { !engine.isToldToStop($0.execution.run) } }
    }

    /// Takes back what has been told to stop before the queue came to it.
    @inlinable
    @inline(never)
    func takeBackReady() {
        let told = lock.withLock { ready.removeAll { engine.isToldToStop($0.execution.run) } }
        for run in told { finish(run, .failed(CancellationError())) }
    }

    @inlinable
    func finish(_ run: QueueRun, _ outcome: Outcome<Result>) {
        tell(run, end(run.execution, outcome))
    }

    /// Tells of a failure, if there is one, and a clock that keeps track of the execution.
    @inlinable
    func tell(_ run: QueueRun, _ failure: (any Error)?) {
        guard let failure else {
            if let work = run.work { observer?.ended(work) }
            return
        }
        Task.detached {
            await self.tell(failure, run.execution.key)
            if let work = run.work { self.observer?.ended(work) }
        }
    }
}

/// How many executions a block on the handler's queue runs at most, so that others there have their turn.
@usableFromInline let runsInBlock = 16

/// How many blocks of a debouncer are sent to its handler's queue at most: as many as a concurrent queue has threads for.
@usableFromInline let mostBlocks = 64
