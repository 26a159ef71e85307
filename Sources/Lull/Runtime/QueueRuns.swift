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

    @inlinable
    func startOnQueue(_ execution: Execution<Key, Item>, _ queue: DispatchQueue, _ body: @escaping QueueBody) {
        let run = QueueRun(execution: execution, work: observer == nil ? nil : announce(execution.key))
        lock.withLock { ready.append(run) }
        // Each execution has a block of its own, so that a concurrent queue runs them side by side; but a block takes
        // whichever is first, and finds nothing if somebody has run ahead of it.
        queue.async { _ = self.runNext(body) }
    }

    /// Runs the first execution that is ready, if there is one.
    @inlinable
    func runNext(_ body: QueueBody) -> Bool {
        let (first, isToldToStop) = lock.withLock { () -> (QueueRun?, Bool) in
            let first = ready.popFirst()
            return (first, first.map { engine.isToldToStop($0.execution.run) } ?? false)
        }
        guard let next = first else { return false }
        guard !isToldToStop else {
            finish(next, .failed(CancellationError()))
            return true
        }
        if let work = next.work {
            // What a synchronous handler waits for cannot be seen: it counts as having come as far as it could.
            observer?.resumed(work)
            observer?.paused(work)
        }
        let outcome: Outcome<Result>
        do {
            outcome = .executed(try body(next.execution.key, next.execution.batch))
        } catch {
            outcome = .failed(error)
        }
        finish(next, outcome)
        return true
    }

    /// Runs everything that is ready, on the caller's stack, who is on the handler's queue.
    package func runReady() {
        guard case .queue(_, let body) = handler else { return }
        while runNext(body) {}
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
        let failure = end(run.execution, outcome)
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

/// A queue of elements in an array: what lies before the first one is removed now and then, many at once.
@frozen
@usableFromInline
struct Fifo<Element> {
    @usableFromInline var elements: [Element?] = []
    @usableFromInline var first = 0

    @inlinable
    init() {}

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
            elements.removeAll(keepingCapacity: first <= 64)
            first = 0
        } else if first >= 64, first * 2 > elements.count {
            elements.removeFirst(first)
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
