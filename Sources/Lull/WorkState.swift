internal import LullCore

/// How much of what was submitted is still to be done, under one key or under all: for a screen that says *saving* or
/// *saved* (<doc:Observing>).
///
/// ```swift
/// isSaved = save.state.isDone
/// ```
///
/// It counts submits whose values are kept: one of several that were combined by ``Combination/latest`` counts once.
/// A key may have some of each kind. The state is that of one instant, at which everything has been done that was due
/// (<doc:Semantics>, section 5).
public struct WorkState: Hashable, Sendable {
    /// Submits whose values are not due yet; or are held, after their execution was interrupted
    /// (<doc:WhileAHandlerRuns>).
    public let pending: Int
    /// Submits whose values are due and have not started: their key, all slots or a limit are busy.
    public let waiting: Int
    /// Submits whose values a handler is handling.
    public let running: Int
    /// The time until the first pending value falls due. Nil if nothing is pending, or only held; some 292 years for
    /// the far future.
    public let timeUntilDue: Duration?

    /// Whether nothing is pending, waiting or running. Outcomes may still be on their way to completions, and a handler
    /// that was replaced may go on (<doc:WhileAHandlerRuns>); ``Coalescer/flushAndWait()`` waits for both.
    public var isDone: Bool { pending == 0 && waiting == 0 && running == 0 }

    init(_ state: CoreState, at now: CoreInstant) {
        pending = state.pending
        waiting = state.waiting
        running = state.running
        timeUntilDue = state.due.map { Duration(now.duration(to: $0)) }
    }
}
