internal import CLullCommand
internal import LullCore

/// Time since the start of the program, counted on while the machine sleeps and whatever happens to the wall clock.
struct Clock {
    #if canImport(Darwin)
        static let source = CLOCK_MONOTONIC_RAW
    #else
        static let source = CLOCK_BOOTTIME
    #endif

    /// What the clock showed at the start.
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
