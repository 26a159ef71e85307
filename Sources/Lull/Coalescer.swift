public import LullCore

/// The common part of ``Debouncer``, ``Throttler``, ``KeyedDebouncer`` and ``KeyedThrottler``: flush, cancel, shut
/// down, and queries.
///
/// Every call may be made from any thread, task or actor, and from inside a handler; none runs a handler on the
/// caller's stack. A call takes effect at the instant at which it is made, and costs about as much as a lock, beyond
/// the work that it causes. Only `async` calls wait.
///
/// Submits with the same `Key` are coalesced. Its `==` and `hash(into:)` run under a lock: they must be quick, must not
/// block, must not call the debouncer, and must not change their answer while a key is in use (<doc:Semantics>, section
/// 1). `Value` is what is submitted, `Output` what the handler returns.
public class Coalescer<Key: Hashable & Sendable, Value: Sendable, Output: Sendable>: @unchecked Sendable {
    // Proof of @unchecked Sendable: the only property is a constant that is Sendable, and only this module makes
    // subclasses, which have none.
    @usableFromInline package final let runtime: Runtime<Key, Value, Output>

    package init(
        _ options: CheckedOptions, _ clock: any Clock<Duration>, _ onFailure: FailureHandler<Key>?,
        removingDuplicates: (@Sendable (Value, Value) -> Bool)? = nil,
        _ handler: Runtime<Key, Value, Output>.Handler
    ) {
        let clock = makeWakingClock(
            for: clock, wakingOn: handler.queue, tolerance: options.tolerance, usedAt: options.site)
        runtime = Runtime(
            options, clock: clock, onFailure: onFailure, removingDuplicates: removingDuplicates, handler: handler)
    }

    deinit {
        runtime.ownerIsReleased()
    }
}

extension Coalescer {
    /// Executes now what is pending under any key, in the order in which the bursts began (<doc:Semantics>, section 5).
    ///
    /// Returns at once; the handlers run where they always do. All gates become idle: with a leading edge, the next
    /// submit is executed at once. The cost grows with the number of open keys. Submits of other threads meanwhile wait
    /// no longer than usual, and count as made after the flush.
    public func flush() {
        runtime.sweep(.flush)
    }

    /// Executes now what is pending, and waits until those executions and all that were running have ended: for the end
    /// of a screen or a program.
    ///
    /// It also waits for the completions and `onFailure` that are told their outcomes (<doc:Semantics>, section 6).
    ///
    /// Inside a handler of the same debouncer, and inside those, it does not wait. If the awaiting task is cancelled,
    /// it returns at once, and the work goes on.
    public nonisolated(nonsending) func flushAndWait() async {
        await runtime.sweepAndWait(.flush)
    }

    /// Drops what is pending, and what is due and has not started, under all keys (<doc:Semantics>, section 5).
    ///
    /// - Parameter includingRunning: Whether running executions are cancelled as well, by cancelling their tasks. An
    ///   execution whose handler then throws ends as ``Outcome/cancelled``. One whose handler has not been called yet,
    ///   because its actor or queue was busy, ends so, too, and its handler is not called. Synchronous handlers are not
    ///   interrupted.
    public func cancel(includingRunning: Bool = false) {
        runtime.sweep(.cancel(running: includingRunning))
    }

    /// Rejects further submits, and executes what is pending now, or drops it (<doc:Semantics>, section 5).
    ///
    /// Later submits end as ``Outcome/rejected(_:)``. Running executions go on to their end. The call may be repeated;
    /// a second one that drops also drops what the first one left waiting.
    ///
    /// - Parameter droppingPending: Whether what is pending or has not started is dropped instead of executed.
    public func shutDown(droppingPending: Bool = false) {
        runtime.sweep(droppingPending ? .cancel(running: false) : .flush, closing: true)
    }

    /// Shuts down as ``shutDown(droppingPending:)`` does, and waits until everything that runs or waits to run has
    /// ended.
    ///
    /// Inside a handler of the same debouncer, a completion or `onFailure` it does not wait. If the awaiting task is
    /// cancelled, it returns at once, and the work goes on.
    public nonisolated(nonsending) func shutDownAndWait(droppingPending: Bool = false) async {
        await runtime.sweepAndWait(droppingPending ? .cancel(running: false) : .flush, closing: true)
    }

    /// The number of submits so far, by what became of them (<doc:Observing>; <doc:Semantics>, section 6).
    ///
    /// ``LullCore/Counters/pending`` includes what is due and waits to start; ``state`` tells them apart. A value that
    /// has just fallen due counts as pending until the timer, or another call, has handled it. Reading the counters
    /// costs a lock; counting costs nothing more.
    public var counters: Counters {
        runtime.lock.withLock { runtime.engine.tally }
    }

    /// How much is pending, waiting and running under all keys, now.
    ///
    /// Starts what is due by now, as the timer would. Costs a lock, and a look at the keys whose deadlines have
    /// changed. A view cannot observe it: <doc:Observing> has a class for that.
    public var state: WorkState { runtime.state }
}
