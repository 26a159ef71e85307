public import Lull

/// A clock that fails the test when something sleeps on it or waits for it: for tests of code that should not wait.
///
/// ```swift
/// let save = Debouncer(for: .seconds(2), clock: UnusedClock()) { (draft: String) in draft.count }
/// save.flush()  // nothing is pending, and nothing waits
/// ```
///
/// A use is recorded as an issue of Swift Testing, at the line that makes the clock; it says which debouncer waits, by
/// the line that makes that, and until when. The code then goes on as on an ``ImmediateClock``, so that the test ends.
/// In a program that is no test of Swift Testing, or if the module was compiled without that library, a use stops the
/// program with the message.
///
/// Making a debouncer with the clock, asking it whether something is pending, and reading ``now`` are no uses.
public final class UnusedClock: CallbackClock, Sendable {
    private let clock = ImmediateClock()
    private let site: SourceSite
    /// Whether the clock is made in a test of Swift Testing. Handlers do not know it.
    private let isInTest = TestReport.isInTest

    /// An instant, as on a manual clock.
    public typealias Instant = ManualClock.Instant

    /// Creates a clock.
    ///
    /// - Parameters:
    ///   - fileID: The file that an issue names; leave it out.
    ///   - line: The line that it names; leave it out.
    public init(fileID: StaticString = #fileID, line: UInt = #line) {
        site = SourceSite(fileID, line)
    }

    /// The end of the latest sleep so far; zero if there was none, as there should not be.
    public var now: Instant { clock.now }

    /// One nanosecond, the shortest step of the clock.
    public var minimumResolution: Duration { clock.minimumResolution }

    /// Fails the test, and returns as ``ImmediateClock/sleep(until:tolerance:)`` does.
    ///
    /// - Parameters:
    ///   - instant: The instant at which the sleep ends.
    ///   - tolerance: Ignored.
    /// - Throws: `CancellationError` if the task is cancelled.
    public func sleep(until instant: Instant, tolerance: Duration? = nil) async throws {
        fail("a task sleeps on it for \(now.duration(to: instant))")
        try await clock.sleep(until: instant, tolerance: tolerance)
    }

    /// Fails the test, and calls `body` as an ``ImmediateClock`` does.
    package func wake(at instant: Instant, for site: SourceSite, _ body: @escaping @Sendable () -> Void) {
        fail("what is made at \(site) waits on it for \(now.duration(to: instant))")
        clock.wake(at: instant, for: site, body)
    }

    private func fail(_ use: String) {
        TestReport.fail("UnusedClock: \(use), which should not happen", at: site, inTest: isInTest)
    }
}
