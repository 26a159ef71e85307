import TestSupport
import Dispatch
import LullDispatch
import LullTesting
import Lull
import Testing

@Suite("Delayed preemptive dispatch")
@MainActor
struct DelayedPreemptiveDispatchQueueTests {
    let clock = ManualClock()
    let seen = Record<String>()

    @Test
    func `runs the last task once, when all delays are over`() async {
        let queue = DelayedPreemptiveDispatchQueue(clock: clock)
        queue.delay(5) { [seen] in seen.add("first") }
        queue.delay(1) { [seen] in seen.add("second") }
        #expect(!queue.empty)
        await clock.advance(by: .milliseconds(4999))
        #expect(seen.all == [])
        await clock.advance(by: .milliseconds(1))
        #expect(seen.all == ["second"])
        #expect(queue.empty)
    }

    @Test
    func `runs the task of its initialiser unless a call gives another, which then stays`() async {
        let queue = DelayedPreemptiveDispatchQueue(label: "q", task: { [seen] in seen.add("default") }, clock: clock)
        #expect(queue.label == "q")
        queue.delay(1)
        await clock.advance(by: .seconds(1))
        queue.delay(1) { [seen] in seen.add("other") }
        await clock.advance(by: .seconds(1))
        queue.delay(1)
        await clock.advance(by: .seconds(1))
        #expect(seen.all == ["default", "other", "other"])
    }

    @Test
    func `does nothing if no task was ever given`() async {
        let queue = DelayedPreemptiveDispatchQueue(clock: clock)
        queue.delay(1)
        #expect(queue.empty)
        await clock.advance(by: .seconds(2))
        #expect(queue.empty)
    }

    @Test
    func `is empty at once after a cancel, also of a task that was due, and works afterwards with the task given last`()
        async
    {
        let queue = DelayedPreemptiveDispatchQueue(clock: clock)
        queue.delay(1) { [seen] in seen.add("task") }
        queue.cancel()
        #expect(queue.empty)
        await clock.advance(by: .seconds(5))
        #expect(seen.all == [])
        queue.delay(1)
        #expect(!queue.empty)
        await clock.advance(by: .seconds(1))
        #expect(seen.all == ["task"])

        let live = DelayedPreemptiveDispatchQueue(task: { [seen] in seen.add("must not run") })
        live.delay(0.001)
        let due = DispatchTime.now() + 0.05
        while DispatchTime.now() < due {}
        // The timer has sent the task to the main queue, which we have kept busy.
        #expect(!live.empty)
        live.cancel()
        #expect(live.empty)
        await MainActor.run {}
        await clock.advance(by: .seconds(1))
        #expect(seen.all == ["task"])
    }

    @Test
    func `can be used again from inside the task`() async {
        let queue = DelayedPreemptiveDispatchQueue(clock: clock)
        @MainActor func again(_ number: Int) {
            seen.add("\(number), empty \(queue.empty)")
            if number < 3 { queue.delay(1) { again(number + 1) } }
        }
        queue.delay(1) { again(1) }
        await clock.advance(by: .seconds(10))
        #expect(seen.all == ["1, empty true", "2, empty true", "3, empty true"])
    }

    @Test
    func `treats negative and NaN delays as zero, and an infinite one as never`() async {
        let queue = DelayedPreemptiveDispatchQueue(task: { [seen] in seen.add("ran") }, clock: clock)
        queue.delay(-1)
        await clock.advance(by: .zero)
        queue.delay(.nan)
        await clock.advance(by: .zero)
        #expect(seen.all == ["ran", "ran"])
        queue.delay(.infinity)
        await clock.advance(by: .seconds(1_000_000_000))
        #expect(!queue.empty)
        queue.cancel()
        #expect(seen.all == ["ran", "ran"])
    }

    @Test
    func `takes 100,000 calls with random delays from 8 threads, and runs one task after the longest of them`()
        async throws
    {
        let runs = Record<Int>()
        let work = DispatchQueue(label: "work")
        let queue = DelayedPreemptiveDispatchQueue.OnQueue(work)
        let clock = ContinuousClock()
        let start = clock.now
        let longest = Guarded(Duration.zero)
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            var state = UInt64(thread + 1)
            for call in 0..<12_500 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                // Up to a second: a busy machine may keep all threads waiting for longer than for a tenth of that.
                let delay = Double(state >> 40) / Double(1 << 24)
                let end = start.duration(to: clock.now) + .seconds(delay)
                queue.delay(delay) { runs.add(call) }
                longest.change { $0 = max($0, end) }
            }
        }
        #expect(!queue.empty)
        try await waitUntil { queue.empty }
        work.sync {}
        #expect(runs.all.count == 1)
        #expect(start.duration(to: clock.now) >= longest.value)
    }
}
