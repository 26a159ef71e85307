import LullTesting
import TestSupport
import Testing

@Suite("Sleeps on a manual clock")
struct SleepTests {
    let clock = ManualClock()

    @Test(.timeLimit(.minutes(1)))
    func `are waited for, however late a task comes to them`() async throws {
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

    @Test(.timeLimit(.minutes(1)))
    func `are waited for until there are enough of them`() async throws {
        let tasks = (1...20).map { number in Task { [clock] in try await clock.sleep(for: .seconds(number)) } }
        await clock.waitForSleeps(atLeast: 20)
        #expect(clock.sleepCount == 20)
        await clock.advance(by: .seconds(15))
        #expect(clock.sleepCount == 5)
        await clock.advance(by: .seconds(5))
        for task in tasks { try await task.value }
    }

    @Test(.timeLimit(.minutes(1)))
    func `are waited for by several tests at once`() async {
        let waiting = [3, 1, 2].map { count in Task { [clock] in await clock.waitForSleeps(atLeast: count) } }
        let sleeping = (1...3).map { _ in Task { [clock] in try await clock.sleep(for: .seconds(1)) } }
        for task in waiting { await task.value }
        await clock.advance(by: .seconds(1))
        for task in sleeping { _ = await task.result }
        #expect(clock.sleepCount == 0)
    }

    @Test(.timeLimit(.minutes(1)))
    func `end with the task that is cancelled, before the call that cancels it returns`() async {
        let task = Task { [clock] in try await clock.sleep(for: .seconds(1)) }
        await clock.waitForSleeps()
        task.cancel()
        #expect(clock.sleepCount == 0)
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test
    func `are not waited for if the caller waits for none`() async {
        await clock.waitForSleeps(atLeast: 0)
        #expect(clock.sleepCount == 0)
    }

    @Test
    func `that do not come are given up, with their number`() async {
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
