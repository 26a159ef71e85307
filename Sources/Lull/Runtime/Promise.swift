internal import LullCore

/// A value that is delivered at most once, and awaited at most once or passed to a callback.
///
/// A callback also gets the execution whose outcome the value is, if it is one, and tells its runtime when it has
/// ended.
///
/// Cancelling the awaiting task ends its wait at once, and nothing else.
///
/// A state machine:
///
///     open ──deliver──▶ delivered ──value──▶ over
///     open ──value──▶ (preparing ─▶) awaited ──deliver or cancel──▶ over
///     callback ──deliver──▶ over
package class Promise<Value: Sendable>: AnyPromise, @unchecked Sendable {
    // Proof of @unchecked Sendable: `state` is only touched while `lock` is held.
    private final let lock = Lock()
    private final var state: State

    typealias Callback = @Sendable (Value, RunID?) -> Void

    private enum State {
        /// Neither delivered nor awaited.
        case open
        /// About to be awaited; the clock is being notified of that.
        case preparing(Sleep)
        case awaited(UnsafeContinuation<Value?, Never>, Sleep?)
        /// A callback takes the value.
        case callback(Callback)
        case delivered(Value)
        /// Taken, or the awaiting task was cancelled.
        case over
    }

    init() {
        state = .open
        super.init(hasCallback: false)
    }

    init(callback: @escaping Callback) {
        state = .callback(callback)
        super.init(hasCallback: true)
    }

    /// Delivers the value.
    ///
    /// - Parameter run: The execution whose outcome it is, if it is one.
    /// - Returns: Whether it is taken: false if the awaiting task was cancelled before.
    @discardableResult
    final func deliver(_ value: Value, of run: RunID? = nil) -> Bool {
        let old = lock.withLock { () -> State in
            let old = state
            switch old {
            case .open, .preparing: state = .delivered(value)
            case .awaited, .callback, .over: state = .over
            case .delivered: break
            }
            return old
        }
        switch old {
        case .preparing(let sleep): sleep.end()
        case .awaited(let continuation, let sleep):
            sleep?.end()
            continuation.resume(returning: value)
        case .callback(let callback): callback(value, run)
        case .open: break
        case .delivered, .over: return false
        }
        return true
    }

    /// Waits for the value. Returns nil if the task is cancelled before it is delivered.
    ///
    /// - Parameters:
    ///   - observer: Notified of the wait, and of the sleep, if the task belongs to tracked work.
    ///   - wait: Describes the call that waits.
    final nonisolated(nonsending) func value(
        observer: (any WorkObserver)?, in wait: @autoclosure () -> Wait
    ) async -> Value? {
        let sleep = observer.map { Sleep(in: wait(), observer: $0) }
        return await withTaskCancellationHandler {
            // The observer is not called under the lock. A delivery meanwhile may end the sleep before it begins: the
            // observer counts both.
            if let sleep, prepare(sleep) { sleep.begin() }
            // Proof of the unchecked continuation: it is resumed exactly once, below, or by `deliver` or `cancel`,
            // which take it out of `awaited` under the lock.
            return await withUnsafeContinuation { continuation in
                let value = lock.withLock { () -> Value?? in
                    switch state {
                    case .open, .preparing:
                        state = .awaited(continuation, sleep)
                        return .none
                    case .delivered(let value):
                        state = .over
                        return .some(value)
                    case .awaited, .callback, .over:
                        return .some(nil)
                    }
                }
                if let value { continuation.resume(returning: value) }
            }
        } onCancel: {
            cancel()
        }
    }

    private final func prepare(_ sleep: Sleep) -> Bool {
        lock.withLock {
            guard case .open = state else { return false }
            state = .preparing(sleep)
            return true
        }
    }

    private final func cancel() {
        let old = lock.withLock { () -> State in
            // A delivered value counts as taken, and is about to be.
            if case .delivered = state { return .over }
            let old = state
            state = .over
            return old
        }
        switch old {
        case .preparing(let sleep): sleep.end()
        case .awaited(let continuation, let sleep):
            sleep?.end()
            continuation.resume(returning: nil)
        case .open, .callback, .delivered, .over: break
        }
    }
}

/// A promise, whatever it promises.
package class AnyPromise: @unchecked Sendable {
    // Proof of @unchecked Sendable: a constant.

    /// Whether a callback takes the value.
    final let hasCallback: Bool

    init(hasCallback: Bool) {
        self.hasCallback = hasCallback
    }

    /// The submits are not executed, and have this fate.
    func resolve(_ fate: NotExecutedError) {}
}

/// A promise of the outcome of a submit, which goes through the engine beside its value: its companion.
final class OutcomePromise<Output: Sendable>: Promise<Outcome<Output>>, @unchecked Sendable {
    // See the superclass.

    override func resolve(_ fate: NotExecutedError) {
        deliver(Outcome(fate))
    }
}

/// A task that waits for a promise, with the tracked work that it belongs to.
private struct Sleep: Sendable {
    let work: Work?
    let wait: Wait?
    let observer: any WorkObserver

    /// The caller is that task.
    init(in wait: @autoclosure () -> Wait, observer: any WorkObserver) {
        work = Work.current
        self.wait = Work.isHandling ? nil : wait()
        self.observer = observer
    }

    func begin() {
        if let wait { observer.began(wait) }
        if let work { observer.slept(work) }
    }

    func end() {
        if let work { observer.woke(work) }
        if let wait { observer.ended(wait) }
    }
}
