internal import CLullSystem
internal import Foundation
internal import Lull
internal import LullCore

/// The clocks by which a store decides what is due, and waits.
///
/// A test can give a ``MemoryStore`` a clock that the test advances:
///
/// ```swift
/// let clock = ManualClock()
/// let store = MemoryStore(clock: StoreClock(clock))
/// ```
public struct StoreClock: Sendable {
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
    public static let system: StoreClock = {
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
    public init<C: Clock<Duration>>(_ clock: C) {
        let start = clock.now
        self.init(
            read: {
                let passed = CoreDuration(start.duration(to: clock.now))
                return StoreTime.Reading(
                    boot: "", sinceBoot: passed, wall: CoreInstant(nanoseconds: passed.nanoseconds))
            },
            sleep: { try await clock.sleep(for: $0) })
    }

    /// Returns an identifier of this boot of the machine. If the system has none, each start of a process counts as a boot,
    /// which never makes anything due too early.
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
