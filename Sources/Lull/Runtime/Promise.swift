/// A value that one party delivers, at most once, and one other awaits, at most once.
///
/// Cancelling the awaiting task ends its wait at once and nothing else.
@usableFromInline
final class Promise<Value: Sendable>: @unchecked Sendable {
    // Proof of @unchecked Sendable: `state` is only touched while `lock` is held.
    private let lock = Lock()
    private var state: State

    private enum State {
        case open
        /// About to be awaited by an execution, of which the clock is being told.
        case preparing(Sleep)
        case awaited(UnsafeContinuation<Value?, Never>, Sleep?)
        /// A callback takes the value instead of somebody who awaits.
        case callback(@Sendable (Value) -> Void)
        case delivered(Value)
        case over
    }

    @usableFromInline
    init() {
        state = .open
    }

    @usableFromInline
    init(callback: @escaping @Sendable (Value) -> Void) {
        state = .callback(callback)
    }

    /// Delivers the value.
    ///
    /// - Returns: Whether it is taken; not if the task that awaited it was cancelled before.
    @usableFromInline
    @discardableResult
    func deliver(_ value: Value) -> Bool {
        let old = lock.withLock { () -> State in
            let old = state
            // A second value would be one too many; it leaves the first where it is.
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
        case .callback(let callback): callback(value)
        case .open: break
        case .delivered, .over: return false
        }
        return true
    }

    /// The value, or nil if the task was cancelled before it came.
    ///
    /// - Parameter observer: Told that the execution on whose behalf the task runs, if it is one, sleeps meanwhile.
    @usableFromInline
    nonisolated(nonsending) func value(observer: (any WorkObserver)? = nil) async -> Value? {
        let sleep = observer.flatMap { observer in Work.current.map { Sleep(work: $0, observer: observer) } }
        return await withTaskCancellationHandler {
            // The clock is not called under the lock. What comes meanwhile ends the sleep, perhaps before it has begun: the
            // clock counts.
            if let sleep, prepare(sleep) { sleep.begin() }
            // Every state resumes the continuation exactly once, which is what makes the unchecked one right: `awaited`
            // is left only by `deliver` and `cancel`, and both take it out under the lock.
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

    private func prepare(_ sleep: Sleep) -> Bool {
        lock.withLock {
            guard case .open = state else { return false }
            state = .preparing(sleep)
            return true
        }
    }

    private func cancel() {
        let old = lock.withLock { () -> State in
            // What has been delivered counts as taken, and will be: there is nothing to wait for.
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

/// An execution that waits for another one.
private struct Sleep: Sendable {
    let work: Work
    let observer: any WorkObserver

    func begin() { observer.slept(work) }
    func end() { observer.woke(work) }
}
