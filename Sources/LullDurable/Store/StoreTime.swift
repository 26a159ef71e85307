package import LullCore

/// The time of a store, which all its users share, derived from the clocks of their machines; for implementers of a store.
///
/// Within one start of a machine (a *boot*) it follows a clock that counts through sleep and cannot be set. Under another
/// boot, or when that clock has gone back (on a machine that was restored from a snapshot), it advances by the time that
/// has passed on the wall clock. It never runs back and never stands still. Setting the wall clock has no effect within
/// a boot; across boots, a forward jump makes values due early by at most the jump.
package struct StoreTime: Hashable, Sendable {
    /// A reading of the clocks of a machine at one moment.
    package struct Reading: Hashable, Sendable {
        /// An identifier of this start of the machine.
        package var boot: String
        /// The time since that start, on a clock that counts through sleep.
        package var sinceBoot: CoreDuration
        /// The wall clock's time since 1970.
        package var wall: CoreInstant

        /// Creates a reading; ``StoreClock/read`` returns those of a machine.
        package init(boot: String, sinceBoot: CoreDuration, wall: CoreInstant) {
            self.boot = boot
            self.sinceBoot = sinceBoot
            self.wall = wall
        }
    }

    /// The first reading of this boot.
    package private(set) var anchor: Reading
    /// The store's time at that reading.
    package private(set) var start: CoreInstant
    /// The latest instant that was returned.
    package private(set) var highest: CoreInstant

    /// Creates the time of a new store: it is at its origin now.
    package init(at reading: Reading) {
        anchor = reading
        start = .origin
        highest = .origin
    }

    /// Creates the time of a store from what the store has saved of it.
    package init(anchor: Reading, start: CoreInstant, highest: CoreInstant) {
        self.anchor = anchor
        self.start = start
        self.highest = highest
    }

    /// Returns the store's instant of a reading.
    ///
    /// Call it while nothing else can change the store, so that later steps have no earlier instants.
    package mutating func now(_ reading: Reading) -> CoreInstant {
        if !isTied(to: reading) {
            let passed = max(.zero, anchor.wall.duration(to: reading.wall))
            start = max(highest, start.advanced(by: passed))
            anchor = reading
        }
        highest = instant(of: reading)
        return highest
    }

    /// Returns whether a reading is of the same boot, and its clock has not gone back.
    package func isTied(to reading: Reading) -> Bool {
        reading.boot == anchor.boot && instant(of: reading) >= highest
    }

    /// Raises the latest instant to one that was saved, if that is later.
    package mutating func note(_ instant: CoreInstant) {
        highest = max(highest, instant)
    }

    private func instant(of reading: Reading) -> CoreInstant {
        let passed = reading.sinceBoot.nanoseconds - anchor.sinceBoot.nanoseconds
        return start.advanced(by: .nanoseconds(passed))
    }

    /// Returns what the wall clock showed, or will show, at an instant: for display only.
    package func wall(at instant: CoreInstant) -> CoreInstant {
        anchor.wall.advanced(by: start.duration(to: instant))
    }
}
