internal import Dispatch
internal import LullCore

/// From where an engine is advanced.
@usableFromInline
enum Waking: Sendable {
    /// From a block on the queue of the handler, which runs the first executions itself.
    case onQueue
    /// From a task.
    case inTask
    /// From the scheduler's queue for bookkeeping, since the queue of the handler, or the cooperative pool, is blocked.
    case bookkeeping
    /// From a call of a clock of the user's.
    case byClock

    /// About how many executions are started before others have their turn.
    @usableFromInline var limit: Int {
        switch self {
        case .onQueue, .inTask: 64
        case .bookkeeping: 4096
        case .byClock: .max
        }
    }
}

/// A clock with its type erased: it says what time it is for the core, and wakes one client, a runtime.
///
/// There is one wake-up at a time, whatever the number of keys. It may come too early, never too late: the client looks at
/// the time itself and asks again. A clock does not keep its client alive.
@usableFromInline
class WakingClock: @unchecked Sendable {
    // Proof of @unchecked Sendable: `wake` is set once, before the first call that arranges a wake-up. What subclasses add
    // is guarded by a lock of theirs.

    /// Advances the client's engine.
    ///
    /// A closure rather than a protocol: made in code that is inlined into the user's module, it is specialised for the
    /// user's types, where a generic class's conformance would run unspecialised (measured: 11 µs an execution against 1.3
    /// to 2.4).
    @usableFromInline final var wake: @Sendable (Waking) -> Void = { _ in }

    /// The present instant.
    @usableFromInline
    func now() -> CoreInstant {
        preconditionFailure("a clock must tell the time")
    }

    /// Arranges for ``wake`` to be called at an instant, in place of an earlier arrangement where that is possible.
    ///
    /// Must not be called while a lock is held: it may call a clock of the user's.
    ///
    /// - Parameters:
    ///   - alarm: The instant; the far future for never.
    ///   - stamp: Of two calls the one with the higher stamp counts, whichever comes first.
    ///   - waking: What has just been done, if this follows a call of ``wake``.
    @usableFromInline
    func arrange(_ alarm: CoreInstant, stamp: UInt64, after waking: Waking?) {
        preconditionFailure("a clock must be able to wake")
    }

    /// The client goes away.
    @usableFromInline
    func leave() {}

    /// Told of executions, if the clock wants to know of them.
    @usableFromInline var observer: (any WorkObserver)? { nil }

    /// The clock for one client: the scheduler where its instants are the system's, else an adapter.
    ///
    /// - Parameters:
    ///   - queue: Where the client's handler runs, if that is a queue.
    ///   - tolerance: How much later than asked for a wake-up may come.
    static func make(
        for clock: any Clock<Duration>, wakingOn queue: DispatchQueue?, tolerance: CoreDuration
    ) -> WakingClock {
        switch clock {
        case is ContinuousClock: SystemClock(.shared, queue, tolerance)
        case let clock as ScheduledClock: SystemClock(clock.scheduler, queue, tolerance)
        case let clock as any WorkTrackingClock<Duration>: tracking(clock)
        default: sleeping(clock, tolerance)
        }
    }

    private static func tracking(_ clock: some WorkTrackingClock<Duration>) -> WakingClock {
        TrackingClock(clock)
    }

    private static func sleeping(_ clock: some Clock<Duration>, _ tolerance: CoreDuration) -> WakingClock {
        SleepingClock(clock, tolerance)
    }
}

/// The longest that anything is asked to sleep at once. Clocks and timers have limits of their own and some trap beyond
/// them; what is woken early looks at the time and goes on sleeping.
let longestSleep = CoreDuration.seconds(365 * 24 * 3600)
