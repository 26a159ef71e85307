import LullCore
import Testing

@testable import Lull

/// The sleeps of the scheduler's back-up, which may be late, and of a clock of the user's, which may not.
@Suite("Sleeps that are under way")
struct SleepsTests {
    /// A clock that only counts the sleeps that are asked of it.
    struct Sleeper {
        var sleeps = Sleeps<Void>()
        var now = CoreInstant.origin
        /// The lengths of all sleeps that have been started.
        var started: [CoreDuration] = []

        mutating func sleep(for wait: CoreDuration, slack: CoreDuration = .zero) {
            let end = now.advanced(by: wait)
            guard sleeps.needsAnother(until: end, slack: slack) else { return }
            sleeps.begin(until: end, ())
            started.append(wait)
        }

        /// Advances to the next end.
        mutating func goOn() {
            guard let next = sleeps.all.last?.end else { return }
            now = next
            sleeps.end(next)
        }
    }

    @Test
    func `a long sleep goes on beside short ones, and is not started again when they end`() {
        var sleeper = Sleeper()
        let day = sleeper.now.advanced(by: .seconds(86_400))
        let short = CoreDuration.milliseconds(100)
        for _ in 0..<36_000 {
            let long = sleeper.now.duration(to: day)
            sleeper.sleep(for: long, slack: Scheduler.slack(of: long))
            sleeper.sleep(for: short, slack: Scheduler.slack(of: short))
            sleeper.goOn()
        }
        #expect(sleeper.started.count { $0 > short } == 1)
        #expect(sleeper.sleeps.all.map(\.end) == [day])
    }

    @Test
    func `a sleep that ends too early serves what comes after it`() {
        var sleeper = Sleeper()
        for _ in 0..<1000 {
            sleeper.sleep(for: .seconds(3600))
            sleeper.now = sleeper.now.advanced(by: .seconds(1))
        }
        #expect(sleeper.started.count == 1)
        sleeper.goOn()
        sleeper.sleep(for: .seconds(10))
        sleeper.sleep(for: .seconds(5))
        #expect(sleeper.started == [.seconds(3600), .seconds(10), .seconds(5)])
    }

    @Test
    func `no sleep is needed for what never falls due`() {
        #expect(!Sleeps<Void>().needsAnother(until: .farFuture))
    }

    @Test
    func
        `some sleep always ends in time, within the slack; deadlines that come nearer start few back-ups`()
    {
        var sleeper = Sleeper()
        let year = CoreDuration.seconds(365 * 24 * 3600)
        var wait = year
        while wait >= .milliseconds(100) {
            let slack = Scheduler.slack(of: wait)
            sleeper.sleep(for: wait, slack: slack)
            let latest = sleeper.now.advanced(by: wait).advanced(by: slack)
            #expect(sleeper.sleeps.all.last.map { $0.end <= latest } == true)
            wait = .nanoseconds(wait.nanoseconds - wait.nanoseconds / 1000)
        }
        #expect(sleeper.started.count <= 160)
        #expect(sleeper.started.first == year)
    }
}
