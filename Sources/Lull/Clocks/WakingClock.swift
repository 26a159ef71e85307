internal import Dispatch
internal import LullCore

/// A clock with its type erased, for one client, a runtime: reads the time in the core's instants, and wakes the
/// client.
///
/// A client has one wake-up at a time, whatever the number of its keys. A wake-up may be early and is never left out:
/// the client looks at the time itself and schedules the next one. A clock does not keep its client alive.
protocol WakingClock: AnyObject, Sendable {
    /// Advances the client's engine. Set once, before the first wake-up is scheduled.
    var wake: @Sendable (WakeSource) -> Void { get set }

    /// Returns the present instant.
    func now() -> CoreInstant

    /// Schedules the client's wake-up, in place of an earlier one where the clock can take that back.
    ///
    /// Must not be called with a lock held: it may call a clock of the user's.
    ///
    /// - Parameters:
    ///   - instant: When to wake the client; the far future for never.
    ///   - stamp: Of two calls the one with the higher stamp counts, in whichever order they come.
    ///   - source: The source of the wake-up after which the client calls this, if it is one.
    func scheduleWakeUp(at instant: CoreInstant, stamp: UInt64, after source: WakeSource?)

    /// Removes the client.
    func removeClient()

    /// The observer of executions, if the clock tracks them.
    var workObserver: (any WorkObserver)? { get }
}

extension WakingClock {
    var workObserver: (any WorkObserver)? { nil }
}

/// Where an engine is advanced.
enum WakeSource: Sendable {
    /// In a block on the queue of the handler, which then runs the first executions itself.
    case onQueue
    /// In a task.
    case inTask
    /// On the scheduler's queue for bookkeeping, since the handler's queue, or the cooperative pool, is blocked.
    case bookkeeping
    /// In a call of a clock of the user's.
    case byClock

    /// About how many executions are started before other clients get their turn.
    var limit: Int {
        switch self {
        case .onQueue, .inTask: 64
        case .bookkeeping: 4096
        case .byClock: .max
        }
    }
}

/// Makes the clock of one client.
///
/// - Parameters:
///   - clock: The user's clock. The scheduler stands in for the continuous clock.
///   - queue: The queue of the client's handler, if it has one.
///   - tolerance: How much later than asked for a wake-up may come.
///   - site: Where the program makes the client.
func makeWakingClock(
    for clock: any Clock<Duration>, wakingOn queue: DispatchQueue?, tolerance: Duration, usedAt site: SourceSite
) -> any WakingClock {
    let tolerance = min(CoreDuration(tolerance), longestSleep)
    return switch clock {
    case is ContinuousClock: SchedulerClient(.shared, queue, tolerance)
    case let clock as any CallbackClock<Duration>: makeCallingClock(clock, site)
    default: makeSleepingClock(clock, tolerance)
    }
}

// Functions open an existential; initialisers do not.
private func makeCallingClock(_ clock: some CallbackClock<Duration>, _ site: SourceSite) -> any WakingClock {
    CallingClock(clock, site)
}

private func makeSleepingClock(_ clock: some Clock<Duration>, _ tolerance: CoreDuration) -> any WakingClock {
    SleepingClock(clock, tolerance)
}

/// The longest that a clock or a timer is asked to sleep at once. Some trap on longer sleeps. A client that is woken
/// early schedules the rest.
let longestSleep = CoreDuration.seconds(365 * 24 * 3600)
