internal import Dispatch
internal import LullCore

/// Somebody who wants to be woken at an instant that moves.
///
/// Two functions rather than a protocol: made in code that is inlined into the user's module, they are specialised for
/// his types, where a generic class's conformance would run unspecialised (measured: 11 µs an execution against 1.3 to
/// 2.4).
@usableFromInline
struct Sleeper: Sendable {
    /// Says when he wants to be woken next.
    let alarm: @Sendable () -> CoreInstant
    /// Does what is due, about so many executions at most, and asks to be woken again; on the queue of his handler, or
    /// elsewhere.
    let wake: @Sendable (_ limit: Int, _ onQueue: Bool) -> Void

    @usableFromInline
    init(
        alarm: @escaping @Sendable () -> CoreInstant,
        wake: @escaping @Sendable (_ limit: Int, _ onQueue: Bool) -> Void
    ) {
        self.alarm = alarm
        self.wake = wake
    }
}

/// A clock with its type erased: it says what time it is for the core, and wakes one sleeper.
///
/// There is one wake-up at a time, whatever the number of keys. It may come too early, never too late: the sleeper
/// looks at the time itself and asks again.
@usableFromInline
class Timekeeper: @unchecked Sendable {
    // Proof of @unchecked Sendable: the fields are only touched while `lock` is held.
    final let lock = Lock()
    /// The instant for which a wake-up has been arranged.
    private(set) final var armed = CoreInstant.farFuture
    /// Whoever sleeps is kept alive until he has been woken: his pending values are due even if nobody else holds him.
    private var sleeper: Sleeper?

    /// The present instant.
    @usableFromInline
    func now() -> CoreInstant {
        preconditionFailure("a timekeeper must tell the time")
    }

    /// Arranges for ``rang()`` to be called at an instant, in place of an earlier arrangement where that is possible.
    ///
    /// Called with the lock held, so that arrangements are made in the order in which they were decided. After waking the
    /// sleeper, a timekeeper may put off the next time a little, to save work.
    func arrange(_ instant: CoreInstant, afterWaking: Bool) {
        preconditionFailure("a timekeeper must be able to wake")
    }

    /// Looks at the sleeper's alarm, which has moved, and arranges to wake him then.
    ///
    /// The alarm is read with the lock held: of two threads that have moved it, the second one to come here sees both
    /// moves.
    @usableFromInline
    final func rearm(for sleeper: Sleeper, afterWaking: Bool) {
        let released = lock.withLock { () -> Sleeper? in
            let alarm = sleeper.alarm()
            let old = self.sleeper
            self.sleeper = alarm == .farFuture ? nil : sleeper
            if alarm != armed {
                armed = alarm
                arrange(alarm, afterWaking: afterWaking)
            }
            return old
        }
        withExtendedLifetime(released) {}
    }

    /// Wakes the sleeper, if there is one, for so many executions.
    ///
    /// - Parameter onQueue: Whether this is called on the queue of the sleeper's handler.
    final func rang(for limit: Int = .max, onQueue: Bool = false) {
        let woken = lock.withLock { () -> Sleeper? in
            // Two things may ring for one arrangement; the first has begun to wake him, and arranges the next.
            guard armed != .farFuture else { return nil }
            armed = .farFuture
            return sleeper
        }
        woken?.wake(limit, onQueue)
    }

    /// The timekeeper for a clock: directly where its instants are the system's, else by its own means.
    ///
    /// - Parameter queue: Where the sleeper's handler runs, if that is a queue.
    static func make(for clock: any Clock<Duration>, wakingOn queue: DispatchQueue?) -> Timekeeper {
        switch clock {
        case is ContinuousClock: SystemTimekeeper(wakingOn: queue)
        case let clock as any WorkTrackingClock<Duration>: tracking(clock)
        default: adapted(clock)
        }
    }

    private static func tracking(_ clock: some WorkTrackingClock<Duration>) -> Timekeeper {
        TrackingTimekeeper(clock)
    }

    private static func adapted(_ clock: some Clock<Duration>) -> Timekeeper {
        ClockTimekeeper(clock)
    }

    /// Told of executions, if the clock wants to know of them.
    @usableFromInline var observer: (any WorkObserver)? { nil }
}

/// The longest that anything is asked to sleep at once. Clocks and timers have limits of their own and some trap beyond
/// them; who is woken early looks at the time and goes on sleeping.
let longestSleep = CoreDuration.seconds(365 * 24 * 3600)
