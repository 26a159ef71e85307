public import LullCore

/// What all debouncers and throttlers can do: flush, cancel, shut down, and answer questions. Make one of its
/// subclasses: ``Debouncer``, ``Throttler``, ``KeyedDebouncer`` or ``KeyedThrottler``.
///
/// Every call may be made from any thread, task or actor, and from inside a handler; none runs a handler on the
/// caller's stack. A call counts at the instant at which it is made, and costs about as much as a lock, beyond the work
/// that it causes. Only calls that are `async` wait.
///
/// `Key` tells the submits apart that are coalesced with each other. Its `==` and `hash(into:)` run under a lock: they must be
/// quick, must not block, and must not call the debouncer. `Value` is what is submitted, `Output` what the handler returns.
public class Coalescer<Key: Hashable & Sendable, Value: Sendable, Output: Sendable>: @unchecked Sendable {
    // Proof of @unchecked Sendable: the only property is a constant that is Sendable, and only this module makes subclasses, which
    // have none.
    @usableFromInline package final let runtime: Runtime<Key, Value, Output>

    init(
        _ settings: Settings, _ clock: any Clock<Duration>, _ onFailure: (@Sendable (any Error, Key) async -> Void)?,
        _ site: SourceSite, _ handler: Runtime<Key, Value, Output>.Handler
    ) {
        runtime = Runtime(
            settings.setup, clock: clock, tolerance: settings.tolerance, atEnd: settings.atEnd, onFailure: onFailure,
            madeAt: site, handler: handler)
    }

    deinit {
        runtime.ownerHasGone()
    }
}

extension Coalescer {
    /// Executes what is pending now instead of when it is due, under every key in the order in which the bursts began
    /// (<doc:Semantics>, section 5).
    ///
    /// Returns at once; the handlers run where they always do. All gates become idle: with a leading edge, the next
    /// submit executes at once. The cost grows with the number of open keys; submits of other
    /// threads in between wait no longer than usual, and count as coming after it.
    @inlinable
    public func flush() {
        runtime.carryOut(.flush)
    }

    /// Executes what is pending now, and returns when those executions, and all that were running already, have ended:
    /// for the end of a screen or a program.
    ///
    /// It waits for handlers, not for the callbacks that are told of outcomes and failures afterwards.
    ///
    /// From inside a handler of the same debouncer it does not wait. When the awaiting task is cancelled it returns at
    /// once, and the work goes on.
    @inlinable
    public nonisolated(nonsending) func flushAndWait() async {
        await runtime.carryOutAndWait(.flush)
    }

    /// Drops what is pending, and what is due and has not started, under every key (<doc:Semantics>, section 5).
    ///
    /// - Parameter includingRunning: Whether executions that are running are told to stop as well, by cancelling their tasks.
    ///   One that then throws ends as ``Outcome/cancelled``, and so does one whose handler has not been entered yet,
    ///   because its actor or its queue was busy: it never is. Synchronous handlers are not interrupted.
    @inlinable
    public func cancel(includingRunning: Bool = false) {
        runtime.carryOut(.cancel(running: includingRunning))
    }

    /// Takes no more submits from now on, and executes what is pending now, or drops it (<doc:Semantics>, section 5).
    ///
    /// Later submits end as ``Outcome/rejected(_:)``. Running executions go on to their end. Repeating the call is
    /// harmless; a second one that drops takes along what the first one has left waiting.
    ///
    /// - Parameter discardingPending: Whether what is pending or has not started is dropped instead.
    @inlinable
    public func shutDown(discardingPending: Bool = false) {
        runtime.carryOut(discardingPending ? .cancel(running: false) : .flush, closing: true)
    }

    /// Does what ``shutDown(discardingPending:)`` does, and returns when everything that runs or waits to run has
    /// ended.
    ///
    /// From inside a handler of the same debouncer it does not wait. When the awaiting task is cancelled it returns at
    /// once, and the work goes on.
    @inlinable
    public nonisolated(nonsending) func shutDownAndWait(discardingPending: Bool = false) async {
        await runtime.carryOutAndWait(discardingPending ? .cancel(running: false) : .flush, closing: true)
    }

    /// How many submits there were, and what has become of each (<doc:Observing>; <doc:Semantics>, section 6).
    ///
    /// They count what has been handled so far: a value that has just fallen due stays in ``LullCore/Counters/pending``
    /// until the timer, or another call, has handled it. Reading them costs a lock; counting costs nothing more.
    @inlinable
    public var counters: Counters {
        runtime.lock.withLock { runtime.engine.counters }
    }

    /// Whether a value is pending under any key: submitted, and not yet due.
    ///
    /// A value that is due and waits to start, since its key or all slots are busy, is not pending in this sense,
    /// though ``LullCore/Counters/pending`` counts it.
    @inlinable
    public var isPending: Bool {
        timeUntilDue != nil
    }

    /// How long it is until the first pending value falls due, or nil if nothing is pending. With many keys this
    /// does what is due by now, as the timer would.
    ///
    /// A value that is due in the far future has some 292 years to go.
    @inlinable
    public var timeUntilDue: Duration? {
        let now = runtime.clock.now()
        return runtime.nextDue(at: now).map { Duration(now.duration(to: $0)) }
    }
}

/// What becomes of pending values when the last reference to their debouncer or throttler goes away (<doc:Semantics>,
/// section 5).
public enum AtEnd: Hashable, Sendable {
    /// They are executed when they are due, as if the debouncer were still there. What is due in the far future ends as
    /// ``Outcome/cancelled``.
    case executeWhenDue
    /// They are executed at once, as by a flush.
    case flush
    /// They are dropped, and end as ``Outcome/cancelled``.
    case drop
}
