import TestSupport
import Foundation
import Lull
import LullTesting
import Testing

@testable import LullDispatch

/// Waits for an operation to have finished, without blocking a thread of the pool.
private func finish(_ operation: Operation) async {
    await blocking { operation.waitUntilFinished() }
}

@Suite("A throttle on an operation queue")
struct ThrottleTests {
    let clock = ManualClock()
    let seen = Record<String>()
    let queue = OperationQueue()

    @Test
    func `runs the newest function after its delay, in place of the one that waits`() async {
        let throttle = QueueThrottle(clock: clock)
        for text in ["a", "ab", "abc"] {
            throttle.onQueue(queue, by: 0.3, leading: false) { [seen] in seen.add(text) }
            await clock.advance(by: .milliseconds(200))
        }
        #expect(seen.all == [])
        await clock.advance(by: .milliseconds(100))
        #expect(seen.all == ["abc"])
    }

    @Test
    func `keeps queues apart, and the delay off them`() async {
        let throttle = QueueThrottle(clock: clock)
        let other = OperationQueue()
        other.maxConcurrentOperationCount = 1
        throttle.onQueue(queue, by: 1, leading: false) { [seen] in seen.add("one") }
        throttle.onQueue(other, by: 1, leading: false) { [seen] in seen.add("other") }
        #expect(other.operationCount == 0)
        let notOurs = BlockOperation { [seen] in seen.add("not ours") }
        other.addOperation(notOurs)
        await finish(notOurs)
        #expect(seen.all == ["not ours"])
        await clock.advance(by: .seconds(1))
        #expect(Set(seen.all) == ["not ours", "one", "other"])
    }

    @Test
    func `replaces what is due and waits on a busy queue, and does not affect other work`() async {
        let throttle = QueueThrottle(clock: clock)
        queue.isSuspended = true
        throttle.onQueue(queue, by: 1, leading: false) { [seen] in seen.add("old") }
        await clock.advance(by: .seconds(1), until: .started)
        let notOurs = BlockOperation { [seen] in seen.add("not ours") }
        queue.addOperation(notOurs)
        throttle.onQueue(queue, by: 1, leading: false) { [seen] in seen.add("new") }
        queue.isSuspended = false
        await clock.advance(by: .seconds(1))
        await finish(notOurs)
        #expect(Set(seen.all) == ["not ours", "new"])
        #expect(throttle.counters.failed == 0)
    }

    @Test
    func
        `with leading, runs at once when no other call waits or runs: of ten calls, the first and the last`()
        async
    {
        let throttle = QueueThrottle(clock: clock)
        for number in 0..<10 {
            throttle.onQueue(queue, by: 0.3, leading: true) { [seen] in seen.add("\(number)") }
            await clock.advance(by: .milliseconds(20))
        }
        #expect(seen.all == ["0"])
        await clock.advance(by: .milliseconds(99))
        #expect(seen.all == ["0"])
        await clock.advance(by: .milliseconds(1))
        #expect(seen.all == ["0", "9"])
        // A delay follows the last one as well, and nothing follows that delay.
        throttle.onQueue(queue, by: 0.3, leading: true) { [seen] in seen.add("a") }
        await clock.advance(by: .milliseconds(299))
        #expect(seen.all == ["0", "9"])
        await clock.advance(by: .milliseconds(1))
        #expect(seen.all == ["0", "9", "a"])
        await clock.advance(by: .milliseconds(300))
        throttle.onQueue(queue, by: 0.3, leading: true) { [seen] in seen.add("b") }
        await clock.advance(by: .zero)
        #expect(seen.all == ["0", "9", "a", "b"])
    }

    @Test
    func `loses neither the first nor the last of the calls of a loop`() async {
        for _ in 0..<30 {
            let (throttle, seen) = (QueueThrottle(clock: clock), Record<Int>())
            for number in 0..<1000 {
                throttle.onQueue(queue, by: 0.3, leading: true) { seen.add(number) }
            }
            await clock.advance(by: .zero)
            #expect(seen.all == [0])
            await clock.advance(by: .milliseconds(300))
            #expect(seen.all == [0, 999])
        }
    }

    @Test
    func `lets a call with leading and one without replace each other`() async {
        let throttle = QueueThrottle(clock: clock)
        throttle.onQueue(queue, by: 1, leading: true) { [seen] in seen.add("1") }
        await clock.advance(by: .zero)
        throttle.onQueue(queue, by: 1, leading: false) { [seen] in seen.add("2") }
        await clock.advance(by: .milliseconds(500))
        throttle.onQueue(queue, by: 1, leading: true) { [seen] in seen.add("3") }
        await clock.advance(by: .milliseconds(499))
        #expect(seen.all == ["1"])
        await clock.advance(by: .milliseconds(1))
        #expect(seen.all == ["1", "3"])
        throttle.onQueue(queue, by: 1, leading: true) { [seen] in seen.add("4") }
        throttle.onQueue(queue, by: 2, leading: false) { [seen] in seen.add("5") }
        await clock.advance(by: .milliseconds(1999))
        #expect(seen.all == ["1", "3"])
        await clock.advance(by: .milliseconds(1))
        #expect(seen.all == ["1", "3", "5"])
        // After one without leading there is no delay.
        throttle.onQueue(queue, by: 1, leading: true) { [seen] in seen.add("6") }
        await clock.advance(by: .zero)
        #expect(seen.all == ["1", "3", "5", "6"])
    }

    @Test
    func `delays with leading while another call is running, from its end on`() async {
        let throttle = QueueThrottle(clock: clock)
        let started = DispatchSemaphore(value: 0)
        let goOn = DispatchSemaphore(value: 0)
        throttle.onQueue(queue, by: 1, leading: true) { [seen] in
            started.signal()
            goOn.wait()
            seen.add("1")
        }
        await clock.advance(by: .zero, until: .started)
        await blocking { started.wait() }
        throttle.onQueue(queue, by: 1, leading: true) { [seen] in seen.add("2") }
        await clock.advance(by: .seconds(1), until: .started)
        #expect(seen.all == [])
        goOn.signal()
        await clock.advance(by: .zero)
        #expect(seen.all == ["1"])
        await clock.advance(by: .seconds(1))
        #expect(seen.all == ["1", "2"])
    }

    @Test
    func `ends the delay when cancelled`() async {
        let throttle = QueueThrottle(clock: clock)
        throttle.onQueue(queue, by: 1, leading: true) { [seen] in seen.add("1") }
        await clock.advance(by: .zero)
        throttle.onQueue(queue, by: 1, leading: true) { [seen] in seen.add("never") }
        throttle.cancel(queue)
        await clock.advance(by: .zero)
        throttle.onQueue(queue, by: 1, leading: true) { [seen] in seen.add("2") }
        await clock.advance(by: .zero)
        #expect(seen.all == ["1", "2"])
    }

    @Test
    func `drops what waits when cancelled`() async {
        let throttle = QueueThrottle(clock: clock)
        throttle.onQueue(queue, by: 1, leading: false) { [seen] in seen.add("never") }
        throttle.cancel(queue)
        await clock.advance(by: .seconds(2))
        #expect(seen.all == [])
    }

    @Test
    func `is shared by the program, on the real clock`() async {
        await withCheckedContinuation { continuation in
            for number in 0..<10 {
                Origins.Throttle.onQueue(queue, by: 0.01) { [seen] in
                    seen.add("\(number)")
                    continuation.resume()
                }
            }
        }
        #expect(seen.all == ["9"])
    }
}

@Suite("A delay operation")
struct DelayOperationTests {
    let clock = ManualClock()

    @Test
    func `waits, and what depends on it starts no sooner`() async {
        let queue = OperationQueue()
        let seen = Record<String>()
        let delay = DelayOperation(timeInterval: 0.05)
        let work = BlockOperation { seen.add(delay.isFinished ? "after" : "before") }
        work.addDependency(delay)
        let start = ContinuousClock.now
        for operation in [work, delay] { queue.addOperation(operation) }
        await finish(work)
        #expect(seen.all == ["after"])
        #expect(start.duration(to: .now) >= .milliseconds(50))
    }

    @Test
    func `finishes at once when it is cancelled while executing, and frees a serial queue`() async throws {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let delay = DelayOperation(timeInterval: 1_000_000)
        let next = BlockOperation {}
        for operation in [delay, next] { queue.addOperation(operation) }
        try await waitUntil { delay.isExecuting }
        #expect(delay.isExecuting)
        delay.cancel()
        #expect(delay.isFinished)
        #expect(!delay.isExecuting)
        await finish(next)
    }

    @Test
    func `finishes without executing when it is cancelled before it starts`() async {
        let queue = OperationQueue()
        queue.isSuspended = true
        let delay = DelayOperation(timeInterval: 1_000_000)
        queue.addOperation(delay)
        delay.cancel()
        queue.isSuspended = false
        await finish(delay)
        #expect(delay.isFinished)
    }

    @Test
    func `occupies no thread while it waits`() async {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1000
        let delays = (0..<1000).map { _ in DelayOperation(timeInterval: 0.2) }
        for delay in delays { queue.addOperation(delay) }
        for delay in delays { await finish(delay) }
        #expect(delays.allSatisfy { $0.isFinished })
    }

    @Test
    func `uses the clock that it is given`() async throws {
        let queue = OperationQueue()
        let delay = DelayOperation(timeInterval: 3600, clock: clock)
        queue.addOperation(delay)
        try await waitUntil { delay.isExecuting }
        // The timer is set right after the state has changed.
        try await waitUntil {
            await clock.advance(by: .seconds(3600))
            return delay.isFinished
        }
    }
}
