internal import CLullCommand
internal import LullCore

/// A clock that starts at zero with the program, runs while the machine sleeps, and ignores changes of the wall clock.
struct MonotonicClock {
    #if canImport(Darwin)
        static let source = CLOCK_MONOTONIC_RAW
    #else
        static let source = CLOCK_BOOTTIME
    #endif

    /// The reading of the system's clock at the start, in nanoseconds.
    let origin: Int64

    init() {
        origin = Self.read()
    }

    var now: CoreInstant {
        CoreInstant(nanoseconds: Self.read() - origin)
    }

    private static func read() -> Int64 {
        var time = timespec()
        clock_gettime(source, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
