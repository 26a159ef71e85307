internal import CLullSystem
internal import LullCore

/// A clock that starts at zero with the program, runs while the machine sleeps, and ignores changes of the wall clock.
struct MonotonicClock {
    /// The reading of the system's clock at the start, in nanoseconds.
    let origin: Int64

    init() {
        origin = lull_nanoseconds_since_boot()
    }

    var now: CoreInstant {
        CoreInstant(nanoseconds: lull_nanoseconds_since_boot() - origin)
    }
}
