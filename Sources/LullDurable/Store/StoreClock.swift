internal import CLullPlatform
internal import Foundation
internal import Lull
internal import LullCore

/// What a store reads its time from, and waits by.
public struct StoreClock: Sendable {
    /// Reads the clocks.
    public let read: @Sendable () -> StoreTime.Reading
    /// Waits for a time; throws when its task is cancelled.
    public let sleep: @Sendable (Duration) async throws -> Void

    /// A clock of these functions.
    public init(
        read: @escaping @Sendable () -> StoreTime.Reading, sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.read = read
        self.sleep = sleep
    }

    /// The clocks of this machine.
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

    /// Any other clock, for tests: one boot that never ends, and a wall clock that is never set.
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

    /// What names this boot of the machine. Without a name each start of a process counts as one, which is never too early.
    private static func bootID() -> String {
        #if canImport(Darwin)
            var bytes = [CChar](repeating: 0, count: 64)
            var size = bytes.count
            if sysctlbyname("kern.bootsessionuuid", &bytes, &size, nil, 0) == 0 { return String(cString: bytes) }
        #else
            if let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8) {
                return text.trimmingCharacters(in: .whitespacesAndNewlines)
            }
        #endif
        return UUID().uuidString
    }
}
