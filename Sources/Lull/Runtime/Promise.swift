internal import LullCore
internal import Synchronization

/// Something that comes at most once, and is awaited at most once or passed to a callback.
///
/// Cancelling the awaiting task ends its wait at once, and nothing else.
///
/// A state machine without a lock: what a state says has happened was written before the state.
///
///     open, preparing, awaited ──deliver──▶ delivered
///     open, preparing, awaited ──cancel───▶ cancelled
///     open ──wait──▶ (preparing ─▶) awaited
package class Promise: @unchecked Sendable {
    // Proof of @unchecked Sendable: the caller that waits writes `sleep` and `continuation` before it changes `state`,
    // and whoever ends its wait reads them after that. `fate` is written before `delivered`, and read after it.

    private enum State: UInt8, AtomicRepresentable {
        /// Neither delivered nor awaited.
        case open
        /// About to be awaited; the clock is being notified of that.
        case preparing
        case awaited
        case delivered
        /// The awaiting task was cancelled before.
        case cancelled

        var isOver: Bool { self == .delivered || self == .cancelled }
    }

    private final let state = Atomic(State.open)
    @exclusivity(unchecked) private final var sleep: Sleep?
    @exclusivity(unchecked) private final var continuation: UnsafeContinuation<Void, Never>?
    /// What has become of submits that are not executed, if that is what is delivered.
    @exclusivity(unchecked) fileprivate final var fate: NotExecutedError?
    /// Whether a callback takes what is delivered.
    final let hasCallback: Bool

    init(hasCallback: Bool = false) {
        self.hasCallback = hasCallback
    }

    /// Lets the caller that waits, or will wait, continue.
    ///
    /// - Returns: Whether it does: false if the awaiting task was cancelled before.
    @discardableResult
    final func deliver() -> Bool { end(as: .delivered) }

    /// The submits are not executed, and have this fate.
    final func resolve(_ fate: NotExecutedError) {
        if hasCallback { return callBack(fate) }
        self.fate = fate
        deliver()
    }

    /// Calls the callback, for submits that are not executed.
    fileprivate func callBack(_ fate: NotExecutedError) {}

    /// Waits. Returns whether it was delivered: false if the task was cancelled before.
    ///
    /// - Parameters:
    ///   - observer: Notified of the wait, and of the sleep, if the task belongs to tracked work.
    ///   - wait: Describes the call that waits.
    final nonisolated(nonsending) func wait(
        observer: (any WorkObserver)?, in wait: @autoclosure () -> WaitingCall
    ) async -> Bool {
        if let observer { sleep = Sleep(in: wait(), observer: observer) }
        await withTaskCancellationHandler {
            // A delivery meanwhile may end the sleep before it begins: the observer counts both.
            if let sleep, change(to: .preparing) == .open { sleep.begin() }
            // Proof of the unchecked continuation: it is resumed exactly once, below, or by who ends the wait.
            await withUnsafeContinuation { continuation in
                self.continuation = continuation
                if change(to: .awaited).isOver { continuation.resume() }
            }
        } onCancel: {
            end(as: .cancelled)
        }
        return state.load(ordering: .acquiring) == .delivered
    }

    /// Changes the state, unless the wait is over, and returns the old one.
    private final func change(to new: State) -> State {
        var old = state.load(ordering: .acquiring)
        while !old.isOver {
            let (isDone, present) = state.weakCompareExchange(
                expected: old, desired: new, ordering: .acquiringAndReleasing)
            if isDone { break }
            old = present
        }
        return old
    }

    @discardableResult
    private final func end(as end: State) -> Bool {
        let old = change(to: end)
        switch old {
        case .open: break
        case .preparing: sleep?.end()
        case .awaited:
            sleep?.end()
            continuation?.resume()
        case .delivered, .cancelled: return false
        }
        return true
    }
}

/// A promise of the outcome of a submit, which goes through the engine beside its value: its companion.
///
/// A callback also gets the execution whose outcome it is, if it is one, and tells its runtime when it has ended.
final class OutcomePromise<Output: Sendable>: Promise, @unchecked Sendable {
    // Proof of @unchecked Sendable: `told` is written before `delivered`, and read after it.

    typealias Callback = @Sendable (Outcome<Output>, RunID?) -> Void

    private let callback: Callback?
    @exclusivity(unchecked) private var told: Outcome<Output>?

    init(callback: Callback? = nil) {
        self.callback = callback
        super.init(hasCallback: callback != nil)
    }

    /// Delivers the outcome of an execution.
    ///
    /// - Returns: Whether it is taken: false if the awaiting task was cancelled before.
    func deliver(_ outcome: Outcome<Output>, of run: RunID) -> Bool {
        if let callback {
            callback(outcome, run)
            return true
        }
        told = outcome
        return deliver()
    }

    fileprivate override func callBack(_ fate: NotExecutedError) { callback?(Outcome(fate), nil) }

    /// What was delivered. Call it when it has been.
    var outcome: Outcome<Output> {
        if let fate { return Outcome(fate) }
        guard let told else { preconditionFailure("an outcome was read before it was delivered") }
        return told
    }
}

/// A task that waits for a promise, with the tracked work that it belongs to.
private struct Sleep: Sendable {
    let work: TrackedWork?
    let wait: WaitingCall?
    let observer: any WorkObserver

    /// The caller is that task.
    init(in wait: @autoclosure () -> WaitingCall, observer: any WorkObserver) {
        work = TrackedWork.current
        self.wait = TrackedWork.isHandling ? nil : wait()
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
