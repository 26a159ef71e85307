internal import CLullSystem
internal import Foundation
internal import Lull
package import LullCore

/// The time of a store, which all its users share, derived from the clocks of their machines.
///
/// Within one start of a machine (a *boot*) it follows a clock that counts through sleep and cannot be set. Under
/// another boot, or when that clock has gone back (on a machine that was restored from a snapshot), it advances by the
/// time that has passed on the wall clock. It never runs back and never stands still. Setting the wall clock has no
/// effect within a boot; across boots, a forward jump makes values due early by at most the jump.
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

/// The clocks by which a store decides what is due, and waits.
///
/// A test can give a ``MemoryStore`` a clock that the test advances:
///
/// ```swift
/// let clock = ManualClock()
/// let store = MemoryStore(clock: clock)
/// ```
package struct StoreClock: Sendable {
    /// Reads the clocks of the machine.
    package let read: @Sendable () -> StoreTime.Reading
    /// Suspends for a time; throws `CancellationError` when the task is cancelled.
    package let sleep: @Sendable (Duration) async throws -> Void

    /// Creates clocks from two functions.
    package init(
        read: @escaping @Sendable () -> StoreTime.Reading, sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.read = read
        self.sleep = sleep
    }

    /// The clocks of this machine, which continue while it sleeps.
    package static let system: StoreClock = {
        let boot = bootID()
        return StoreClock(
            read: {
                StoreTime.Reading(
                    boot: boot, sinceBoot: .nanoseconds(lull_nanoseconds_since_boot()),
                    wall: CoreInstant(nanoseconds: lull_nanoseconds_since_1970()))
            },
            sleep: { try await Task.sleep(for: $0, tolerance: .zero, clock: .continuous) })
    }()

    /// Creates clocks from any clock, for tests: the machine never restarts, and its wall clock is never set.
    package init(_ clock: some Clock<Duration>) {
        let start = clock.now
        self.init(
            read: {
                let passed = CoreDuration(start.duration(to: clock.now))
                return StoreTime.Reading(
                    boot: "", sinceBoot: passed, wall: CoreInstant(nanoseconds: passed.nanoseconds))
            },
            sleep: { try await clock.sleep(for: $0) })
    }

    /// Returns an identifier of this boot of the machine. If the system has none, each start of a process counts as a
    /// boot, which never makes anything due too early.
    private static func bootID() -> String {
        #if canImport(Darwin)
            var bytes = [UInt8](repeating: 0, count: 64)
            var size = bytes.count
            if sysctlbyname("kern.bootsessionuuid", &bytes, &size, nil, 0) == 0 {
                return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
        #else
            if let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8) {
                return text.trimmingCharacters(in: .whitespacesAndNewlines)
            }
        #endif
        return UUID().uuidString
    }
}

// Servers count microseconds.

extension CoreDuration {
    /// Whole microseconds, rounded up; the greatest number for a duration without end.
    package var microseconds: Int64 {
        if self == .infinite { return .max }
        let (quotient, remainder) = nanoseconds.quotientAndRemainder(dividingBy: 1000)
        return quotient + (remainder > 0 ? 1 : 0)
    }

    package init(microseconds: Int64) {
        let (nanoseconds, overflow) = microseconds.multipliedReportingOverflow(by: 1000)
        self = overflow ? .infinite : CoreDuration(nanoseconds: nanoseconds)
    }
}

extension CoreInstant {
    /// Where the nanoseconds of a server's instants begin, in its microseconds since 1970: in 2112, so that until then
    /// the longest wait ends before ``farFuture``.
    private static let serverOrigin: Int64 = 1 << 52

    /// Creates an instant of a server, in microseconds since 1970.
    package init(microseconds: Int64) {
        let (difference, isTooFar) = microseconds.subtractingReportingOverflow(Self.serverOrigin)
        let (nanoseconds, overflow) = difference.multipliedReportingOverflow(by: 1000)
        let end: CoreInstant = microseconds < 0 ? .farPast : .farFuture
        self = isTooFar || overflow ? end : CoreInstant(nanoseconds: nanoseconds)
    }

    /// The instant for a server, rounded down.
    package var microseconds: Int64 {
        let (quotient, remainder) = nanoseconds.quotientAndRemainder(dividingBy: 1000)
        return quotient + Self.serverOrigin - (remainder < 0 ? 1 : 0)
    }
}
