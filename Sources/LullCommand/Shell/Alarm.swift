internal import CLullCommand
internal import LullCore

/// Wakes the loop at an instant, never earlier.
///
/// Linux has a descriptor for this, which becomes readable at an instant of the very clock that the program uses: exact to
/// the nanosecond, and prompt when a machine wakes that slept across it. Elsewhere it is the time limit of `poll`.
struct Alarm {
    private let clock: Clock
    /// Nil when it has gone off.
    private var setting: CoreInstant? = .farFuture
    /// To be polled for reading; -1 where there is none.
    let descriptor: Int32

    init(_ clock: Clock) throws(Failure) {
        self.clock = clock
        #if canImport(Darwin)
            descriptor = -1
        #else
            descriptor = timerfd_create(Clock.source, Int32(TFD_CLOEXEC | TFD_NONBLOCK))
            if descriptor < 0 { throw .system("cannot make a timer") }
        #endif
    }

    /// Sets the alarm, and says how many milliseconds `poll` may take at most (-1: no limit).
    mutating func set(to instant: CoreInstant) -> Int32 {
        #if canImport(Darwin)
            if instant == .farFuture { return -1 }
            let left = clock.now.duration(to: instant).nanoseconds
            // The limit of `poll` stands still while the machine sleeps: look again every second.
            return Int32(min(max(0, left / 1_000_000 + (left % 1_000_000 > 0 ? 1 : 0)), 1000))
        #else
            if instant == setting { return -1 }
            setting = instant
            var time = itimerspec()
            if instant != .farFuture {
                // An instant of zero would disarm the timer; the boot of the machine has long passed.
                let at = max(1, instant.advanced(by: CoreDuration(nanoseconds: clock.origin)).nanoseconds)
                time.it_value = timespec(tv_sec: Int(at / 1_000_000_000), tv_nsec: Int(at % 1_000_000_000))
            }
            timerfd_settime(descriptor, Int32(TFD_TIMER_ABSTIME), &time, nil)
            return -1
        #endif
    }

    /// To be called when the alarm has gone off, so that it can be set to the same instant again.
    mutating func acknowledge() {
        setting = nil
    }
}
