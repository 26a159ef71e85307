public import Dispatch
public import LullCore

// Synchronous handlers on a queue. What has been started waits in a list of its own until the queue comes to it: so it can
// be taken back when it is told to stop, and be run here and now by somebody who is on the queue already.
extension Runtime {
    /// An execution on its way to the handler's queue.
    @usableFromInline
    struct QueueRun: Sendable {
        @usableFromInline var execution: Execution<Key, Item>
        @usableFromInline let work: Work?
        /// Whether it had been told to stop when the queue came to it.
        @usableFromInline var isToldToStop = false
        /// The places of its neighbours in the order in which the queue comes to them; `UInt32.max` for none.
        @usableFromInline var previous = UInt32.max
        @usableFromInline var next = UInt32.max

        @inlinable
        init(execution: consuming Execution<Key, Item>, work: Work?) {
            self.execution = execution
            self.work = work
        }
    }

    /// Puts an execution where the next block on the queue finds it.
    @inlinable
    func makeReady(_ execution: consuming Execution<Key, Item>) {
        let run = execution.run
        let work = isObserved ? announce(run, of: execution.key) : nil
        lock.lock()
        let place = ready.append(QueueRun(execution: execution, work: work))
        let isToldToStop = engine.attach(place, to: run) == .cancelling
        lock.unlock()
        // It was told before it could be found here.
        if isToldToStop { takeBack(run) }
    }

    /// Sends as many blocks to the queue as are needed to run all that is ready.
    @inlinable
    func sendBlocks() {
        guard case .queue(let queue, let body) = handler else { return }
        lock.lock()
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
        queue.async { self.runBlock(queue, body) }
    }

    @inlinable
    @inline(never)
    func runBlock(_ queue: DispatchQueue, _ body: QueueBody) {
        Desk.use { runBlock(queue, body, at: $0) }
    }

    @inlinable
    func runBlock(_ queue: DispatchQueue, _ body: QueueBody, at desk: Desk) {
        lock.lock()
        blocksOnWay -= 1
        let isNeeded = take(to: desk.next)
        if !isNeeded { blocks -= 1 }
        let sendsAnother = !ready.isEmpty && blocksOnWay == 0 && blocks < mostBlocks
        if sendsAnother {
            blocks += 1
            blocksOnWay += 1
        }
        lock.unlock()
        if sendsAnother { sendBlock(queue, body) }
        guard isNeeded else { return }
        for _ in 1..<runsInBlock {
            guard runNext(desk, body, leaving: true) else { return }
        }
        runLast(desk, body)
        if lock.withLock({ continuesBlock() }) { sendBlock(queue, body) }
    }

    /// Whether there is anything left for a block to do; if not, the block is gone. Called with the lock held.
    @inlinable
    func continuesBlock() -> Bool {
        let isNeeded = !ready.isEmpty && blocksOnWay == 0
        if isNeeded { blocksOnWay += 1 } else { blocks -= 1 }
        return isNeeded
    }

    /// Where somebody who runs executions has the present one and the next one: they stay in memory and are never copied,
    /// which took a fifth of an execution.
    @frozen
    @usableFromInline
    struct Desk {
        @usableFromInline let run: UnsafeMutablePointer<QueueRun>
        /// Not initialised, but between taking an execution and running it.
        @usableFromInline let next: UnsafeMutablePointer<QueueRun>

        @inlinable
        init(_ run: UnsafeMutablePointer<QueueRun>) {
            self.run = run
            next = run + 1
        }

        /// Has a desk on the stack.
        @inlinable
        static func use(_ body: (Desk) -> Void) {
            withUnsafeTemporaryAllocation(of: QueueRun.self, capacity: 2) { places in
                // Proof: there are two places.
                body(Desk(places.baseAddress.unsafelyUnwrapped))
            }
        }
    }

    /// Runs the execution that has been taken, reports its end and takes the next one, with one taking of the lock.
    ///
    /// - Parameter leaving: Whether the caller is a block that is gone when there is nothing left.
    /// - Returns: Whether there was another one.
    @inlinable
    func runNext(_ desk: Desk, _ body: QueueBody, leaving: Bool) -> Bool {
        desk.run.moveInitialize(from: desk.next, count: 1)
        let outcome = outcome(of: desk.run, body)
        let now = lockForEnd()
        var conclusion = reportEnd(of: &desk.run.pointee.execution, outcome, at: now)
        let isThereMore = take(to: desk.next)
        if !isThereMore, leaving { blocks -= 1 }
        lock.unlock()
        tell(desk.run, conclude(&desk.run.pointee.execution, outcome, &conclusion))
        desk.run.deinitialize(count: 1)
        return isThereMore
    }

    /// Runs the execution that has been taken, and leaves the next one to others.
    @inlinable
    func runLast(_ desk: Desk, _ body: QueueBody) {
        desk.run.moveInitialize(from: desk.next, count: 1)
        finish(desk.run, outcome(of: desk.run, body))
        desk.run.deinitialize(count: 1)
    }

    /// Takes the execution that is first, if there is one. Called with the lock held.
    @inlinable
    func take(to place: UnsafeMutablePointer<QueueRun>) -> Bool {
        guard ready.moveFirst(to: place) else { return false }
        let run = place.pointee.execution.run
        place.pointee.isToldToStop = engine.attach(.max, to: run) == .cancelling
        return true
    }

    /// Runs the handler, unless the execution has been told to stop meanwhile.
    @inlinable
    func outcome(of run: UnsafeMutablePointer<QueueRun>, _ body: QueueBody) -> Outcome<Output> {
        guard !run.pointee.isToldToStop else { return .failed(CancellationError()) }
        if let work = run.pointee.work {
            // What a synchronous handler waits for cannot be seen: it counts as having come as far as it could.
            observer?.resumed(work)
            observer?.paused(work)
        }
        do {
            return .executed(try body(&run.pointee.execution))
        } catch {
            return .failed(error)
        }
    }

    /// Runs everything that is ready, on the caller's stack, who is on the handler's queue.
    package func runReady() {
        guard case .queue(_, let body) = handler else { return }
        Desk.use { desk in
            while lock.withLock({ take(to: desk.next) }) {
                while runNext(desk, body, leaving: false) {}
                // What waited for the last one has been made ready by its end.
            }
        }
    }

    /// Whether there are executions that the queue has not come to.
    package var hasReady: Bool {
        lock.withLock { !ready.isEmpty }
    }

    /// Takes back an execution that has been told to stop, if the queue has not come to it.
    @inlinable
    @inline(never)
    func takeBack(_ run: RunID) {
        Desk.use { desk in
            let isHere = lock.withLock { () -> Bool in
                guard let place = engine.attachment(of: run) else { return false }
                engine.attach(.max, to: run)
                ready.move(place, to: desk.run)
                return true
            }
            guard isHere else { return }
            finish(desk.run, .failed(CancellationError()))
            desk.run.deinitialize(count: 1)
        }
    }

    @inlinable
    func finish(_ run: UnsafeMutablePointer<QueueRun>, _ outcome: Outcome<Output>) {
        tell(run, end(&run.pointee.execution, outcome))
    }

    /// Tells of a failure, if there is one, and a clock that keeps track of the execution.
    @inlinable
    func tell(_ run: UnsafeMutablePointer<QueueRun>, _ failure: (any Error)?) {
        let work = run.pointee.work
        guard let failure else {
            if let work { observer?.ended(work) }
            return
        }
        Task.detached { [key = run.pointee.execution.key] in
            await self.tell(failure, key)
            if let work { self.observer?.ended(work) }
        }
    }
}

/// How many executions a block on the handler's queue runs at most, so that others there have their turn.
@usableFromInline let runsInBlock = 16

/// How many blocks of a debouncer are sent to its handler's queue at most: as many as a concurrent queue has threads for.
@usableFromInline let mostBlocks = 64
