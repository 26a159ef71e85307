internal import CLullCommand
internal import LullCore

/// Wakes the event loop at an instant, never earlier.
///
/// On Linux this is a `timerfd`, which becomes readable at an instant of the program's own clock: exact to the
/// nanosecond, and prompt if the machine slept past it. Elsewhere it is the timeout of `poll`.
struct WakeUpTimer {
    private let clock: MonotonicClock
    /// Nil once it has gone off.
    private var setting: CoreInstant? = .farFuture
    /// Poll this for reading; -1 where there is no `timerfd`.
    let descriptor: Int32

    init(_ clock: MonotonicClock) throws(Failure) {
        self.clock = clock
        #if canImport(Darwin)
            descriptor = -1
        #else
            // The clock that `MonotonicClock` reads.
            descriptor = timerfd_create(CLOCK_BOOTTIME, Int32(TFD_CLOEXEC | TFD_NONBLOCK))
            if descriptor < 0 { throw .system("cannot make a timer") }
        #endif
    }

    /// - Returns: The timeout for `poll` in milliseconds; -1 for none.
    mutating func set(to instant: CoreInstant) -> Int32 {
        #if canImport(Darwin)
            if instant == .farFuture { return -1 }
            let left = clock.now.duration(to: instant).nanoseconds
            // The timeout of `poll` does not run while the machine sleeps, so check again every second.
            return Int32(min(max(0, left / 1_000_000 + (left % 1_000_000 > 0 ? 1 : 0)), 1000))
        #else
            if instant == setting { return -1 }
            setting = instant
            // Zero would disarm the timer; the clock's zero, the boot of the machine, is long past.
            let at = max(1, instant.advanced(by: CoreDuration(nanoseconds: clock.origin)).nanoseconds)
            lull_set_timer(descriptor, instant == .farFuture ? 0 : at)
            return -1
        #endif
    }

    /// Makes it possible to set the same instant again. Call this when the timer has gone off.
    mutating func acknowledge() {
        setting = nil
    }
}
