import LullTesting
import TestSupport
import Testing

@Suite("Sleeps on a manual clock")
struct SleepTests {
    let clock = ManualClock()

    @Test("are waited for, however late a task comes to them", .timeLimit(.minutes(1)))
    func waiting() async throws {
        let task = Task { [clock] in
            for _ in 0..<100 { await Task.yield() }
            try await clock.sleep(for: .seconds(1))
            return clock.now.sinceStart
        }
        await clock.waitForSleeps()
        #expect(clock.sleepCount == 1)
        await clock.advance(by: .seconds(1))
        #expect(try await task.value == .seconds(1))
    }

    @Test("are waited for until there are enough of them", .timeLimit(.minutes(1)))
    func several() async throws {
        let tasks = (1...20).map { number in Task { [clock] in try await clock.sleep(for: .seconds(number)) } }
        await clock.waitForSleeps(atLeast: 20)
        #expect(clock.sleepCount == 20)
        await clock.advance(by: .seconds(15))
        #expect(clock.sleepCount == 5)
        await clock.advance(by: .seconds(5))
        for task in tasks { try await task.value }
    }

    @Test("are waited for by several tests at once", .timeLimit(.minutes(1)))
    func severalWaiters() async {
        let waiting = [3, 1, 2].map { count in Task { [clock] in await clock.waitForSleeps(atLeast: count) } }
        let sleeping = (1...3).map { _ in Task { [clock] in try await clock.sleep(for: .seconds(1)) } }
        for task in waiting { await task.value }
        await clock.advance(by: .seconds(1))
        for task in sleeping { _ = await task.result }
        #expect(clock.sleepCount == 0)
    }

    @Test("end with the task that is cancelled, before the call that cancels it returns", .timeLimit(.minutes(1)))
    func cancelled() async {
        let task = Task { [clock] in try await clock.sleep(for: .seconds(1)) }
        await clock.waitForSleeps()
        task.cancel()
        #expect(clock.sleepCount == 0)
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("are not waited for if the caller waits for none")
    func none() async {
        await clock.waitForSleeps(atLeast: 0)
        #expect(clock.sleepCount == 0)
    }

    @Test("that do not come are given up, with their number")
    func stall() async {
        let stalls = Record<Stall>()
        let clock = ManualClock(patience: .milliseconds(50), onStall: { stalls.add($0) })
        let task = Task { try await clock.sleep(for: .seconds(1)) }
        // The clock has little patience, and the machine may need more to begin the task.
        while clock.sleepCount < 1 { await Task.yield() }
        await clock.waitForSleeps(atLeast: 2)
        #expect(stalls.all.count == 1)
        #expect(stalls.all.allSatisfy { $0.milestone == nil && $0.keys == [] })
        #expect("\(stalls.all)".contains("the sleeps on this clock are 1, not 2"))
        task.cancel()
    }
}
