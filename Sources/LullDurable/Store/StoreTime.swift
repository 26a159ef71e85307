public import LullCore

/// The time of a store, which all its users share, made from the clocks of their machines; for implementers of a store.
///
/// Within one start of a machine (a *boot*) it follows a clock that counts through sleep and that nobody can set. Under
/// another boot, or when that clock has gone back (a machine that was restored from a snapshot), it goes on by what the
/// wall clock says has passed. So it never runs back and never stands still; setting the wall clock has no effect
/// within a boot, and across one a forward jump makes things due early by at most the jump.
public struct StoreTime: Hashable, Sendable {
    /// What the clocks of a machine show at one moment.
    public struct Reading: Hashable, Sendable {
        /// A name for this start of the machine.
        public var boot: String
        /// The time since that start, on a clock that counts through sleep.
        public var sinceBoot: CoreDuration
        /// The time since 1970 that the wall clock shows.
        public var wall: CoreInstant

        /// Makes a reading; ``StoreClock/read`` makes those of a machine.
        public init(boot: String, sinceBoot: CoreDuration, wall: CoreInstant) {
            self.boot = boot
            self.sinceBoot = sinceBoot
            self.wall = wall
        }
    }

    /// The reading at which the time was tied to this boot.
    public private(set) var anchor: Reading
    /// The time at that reading.
    public private(set) var start: CoreInstant
    /// The latest instant that was read.
    public private(set) var highest: CoreInstant

    /// Makes the time of a new store: it is at its origin now.
    public init(at reading: Reading) {
        anchor = reading
        start = .origin
        highest = .origin
    }

    /// Makes the time of a store from what the store has kept of it.
    public init(anchor: Reading, start: CoreInstant, highest: CoreInstant) {
        self.anchor = anchor
        self.start = start
        self.highest = highest
    }

    /// The instant of the store at which a reading was made.
    ///
    /// Ask while nothing else can change the store, so that what is handled later has no earlier instant.
    public mutating func now(_ reading: Reading) -> CoreInstant {
        if !isTied(to: reading) {
            let passed = max(.zero, anchor.wall.duration(to: reading.wall))
            start = max(highest, start.advanced(by: passed))
            anchor = reading
        }
        highest = instant(of: reading)
        return highest
    }

    /// Whether a reading is of the same boot, and its clock has not gone back.
    public func isTied(to reading: Reading) -> Bool {
        reading.boot == anchor.boot && instant(of: reading) >= highest
    }

    /// Takes note of an instant that was read, if it is later than the latest that was kept.
    public mutating func note(_ instant: CoreInstant) {
        highest = max(highest, instant)
    }

    private func instant(of reading: Reading) -> CoreInstant {
        let passed = reading.sinceBoot.nanoseconds - anchor.sinceBoot.nanoseconds
        return start.advanced(by: .nanoseconds(passed))
    }

    /// What the wall clock showed, or will show, at an instant: for display only.
    public func wall(at instant: CoreInstant) -> CoreInstant {
        anchor.wall.advanced(by: start.duration(to: instant))
    }
}
