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

        @inlinable
        init(execution: Execution<Key, Item>, work: Work?) {
            self.execution = execution
            self.work = work
        }
    }

    /// Sends executions to the queue.
    @inlinable
    func startOnQueue(_ runs: [QueueRun], _ queue: DispatchQueue, _ body: @escaping QueueBody) {
        let sent = lock.withLock { () -> Int in
            for run in runs { ready.append(run) }
            let sent = min(runs.count, mostBlocks - blocks)
            blocks += sent
            return sent
        }
        for _ in 0..<sent { sendBlock(queue, body) }
    }

    /// Sends a block to the queue that runs whichever execution is first, and some more after it.
    ///
    /// On a concurrent queue the blocks run executions side by side. On a serial one the first block does most of the work,
    /// which spares a block for each execution (measured: half of what an execution takes); but not all of it, so that
    /// others have their turn.
    @inlinable
    func sendBlock(_ queue: DispatchQueue, _ body: @escaping QueueBody) {
        queue.async {
            var ended: (QueueRun, Outcome<Result>)?
            for _ in 0..<16 {
                guard let next = self.exchange(ended, leaving: true) else { return }
                ended = (next.run, self.outcome(of: next, body))
            }
            guard let (run, outcome) = ended else { return }
            self.finish(run, outcome)
            if self.lock.withLock({ self.continuesBlock() }) { self.sendBlock(queue, body) }
        }
    }

    /// Whether there is anything left for a block to do; if not, the block is gone. Called with the lock held.
    @inlinable
    func continuesBlock() -> Bool {
        if ready.isEmpty { blocks -= 1 }
        return !ready.isEmpty
    }

    /// Reports the end of an execution and takes the next one, with one taking of the lock.
    ///
    /// - Parameter leaving: Whether the caller is a block that is gone when there is nothing left.
    @inlinable
    func exchange(
        _ ended: (run: QueueRun, outcome: Outcome<Result>)?, leaving: Bool
    ) -> (run: QueueRun, isToldToStop: Bool)? {
        let (conclusion, next) = lock.withLock { () -> (Conclusion?, (run: QueueRun, isToldToStop: Bool)?) in
            let conclusion = ended.map { reportEnd(of: $0.run.execution, $0.outcome) }
            guard let first = ready.popFirst() else {
                if leaving { blocks -= 1 }
                return (conclusion, nil)
            }
            return (conclusion, (first, engine.isToldToStop(first.execution.run)))
        }
        if let ended, let conclusion { tell(ended.run, conclude(ended.run.execution, ended.outcome, conclusion)) }
        return next
    }

    /// Runs the handler, unless the execution has been told to stop meanwhile.
    @inlinable
    func outcome(of next: (run: QueueRun, isToldToStop: Bool), _ body: QueueBody) -> Outcome<Result> {
        guard !next.isToldToStop else { return .failed(CancellationError()) }
        if let work = next.run.work {
            // What a synchronous handler waits for cannot be seen: it counts as having come as far as it could.
            observer?.resumed(work)
            observer?.paused(work)
        }
        do {
            return .executed(try body(next.run.execution.key, next.run.execution.batch))
        } catch {
            return .failed(error)
        }
    }

    /// Runs everything that is ready, on the caller's stack, who is on the handler's queue.
    package func runReady() {
        guard case .queue(_, let body) = handler else { return }
        while let first = exchange(nil, leaving: false) {
            var ended = (first.run, outcome(of: first, body))
            while let next = exchange(ended, leaving: false) { ended = (next.run, outcome(of: next, body)) }
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

/// How many blocks of a debouncer are sent to its handler's queue at most: as many as a concurrent queue has threads for.
@usableFromInline let mostBlocks = 64

/// A queue of elements in an array: what lies before the first one is removed now and then, many at once.
@frozen
@usableFromInline
struct Fifo<Element> {
    @usableFromInline var elements: [Element?] = []
    @usableFromInline var first = 0

    @inlinable
    init() {}

    @inlinable
    var isEmpty: Bool { first == elements.count }

    @inlinable
    mutating func append(_ element: Element) {
        elements.append(element)
    }

    @inlinable
    mutating func popFirst() -> Element? {
        guard first < elements.count else { return nil }
        let element = elements[first].take()
        first += 1
        if first == elements.count {
            elements.removeAll(keepingCapacity: elements.capacity <= 64)
            first = 0
        } else if first >= 64, first * 2 > elements.count {
            // A new array, of the size that is needed now: the old one may have been far larger.
            elements = Array(elements[first...])
            first = 0
        }
        return element
    }

    func contains(where condition: (Element) -> Bool) -> Bool {
        elements[first...].contains { $0.map(condition) ?? false }
    }

    /// Removes and returns the elements that fulfil a condition.
    @inlinable
    mutating func removeAll(where condition: (Element) -> Bool) -> [Element] {
        var removed: [Element] = []
        var kept: [Element?] = []
        for case let element? in elements[first...] {
            if condition(element) { removed.append(element) } else { kept.append(element) }
        }
        guard !removed.isEmpty else { return [] }
        elements = kept
        first = 0
        return removed
    }
}
