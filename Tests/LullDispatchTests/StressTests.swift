import Dispatch
import Foundation
import Lull
import LullTesting
import TestSupport
import Testing

@testable import LullDispatch

/// Calls from many threads, and from unusual places.
@Suite("The utilities under stress", .ownThreads)
struct StressTests {
    let clock = ManualClock()

    /// Calls a function from several threads at once, and returns when all of them have returned.
    func race(_ threads: Int, _ body: @Sendable (Int) -> Void) {
        DispatchQueue.concurrentPerform(iterations: threads, execute: body)
    }

    // MARK: - Delay operations

    @Test
    func `a delay operation that is cancelled while it starts is finished when both calls have returned`() {
        for _ in 0..<3000 {
            let delay = DelayOperation(timeInterval: 1_000_000)
            race(2) { $0 == 0 ? delay.start() : delay.cancel() }
            #expect(delay.isFinished)
            #expect(!delay.isExecuting)
        }
    }

    @Test
    func `a delay operation is finished once, whether its time is over or it is cancelled`() {
        for _ in 0..<1000 {
            let ends = Guarded(0)
            let delay = DelayOperation(timeInterval: 0.0001)
            let ended = DispatchSemaphore(value: 0)
            delay.completionBlock = {
                ends.change { $0 += 1 }
                ended.signal()
            }
            let queue = OperationQueue()
            queue.addOperation(delay)
            race(3) { _ in delay.cancel() }
            ended.wait()
            queue.waitUntilAllOperationsAreFinished()
            #expect(ends.value == 1)
        }
    }

    @Test
    func `a serial queue finishes delays that are cancelled at any moment`() {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let delays = (0..<400).map { _ in DelayOperation(timeInterval: 1_000_000) }
        queue.addOperations(delays, waitUntilFinished: false)
        race(4) { thread in
            for delay in delays.enumerated() where delay.offset % 4 == thread { delay.element.cancel() }
        }
        queue.waitUntilAllOperationsAreFinished()
        #expect(delays.allSatisfy { $0.isFinished && !$0.isExecuting })
    }

    // MARK: - Last-out queues

    @Test
    func `a last-out queue runs the last task of every key, in order and one at a time, from 8 threads`() throws {
        let work = DispatchQueue(label: "work", attributes: .concurrent)
        let queue = LastOutQueue.OnQueue(work, delay: 0.0005)
        let ran = Guarded<[Int: [Int]]>([:])
        let running = Guarded<Set<Int>>([])
        let shared = Guarded(0)
        race(8) { thread in
            for call in 1...1000 {
                queue.enqueue(forKey: thread, onStart: { #expect(running.change { $0.insert(thread).inserted }) }) {
                    ran.change { $0[thread, default: []].append(call) }
                    running.change { _ = $0.remove(thread) }
                }
                queue.enqueue(forKey: "shared") { shared.change { $0 += 1 } }
                if call % 97 == thread { queue.executePendingTasks() }
            }
        }
        queue.executePendingTasks()
        try blockUntil { ran.change { ran in (0..<8).allSatisfy { ran[$0]?.last == 1000 } } }
        work.sync(flags: .barrier) {}
        for thread in 0..<8 {
            let calls = ran.change { $0[thread] ?? [] }
            #expect(calls.last == 1000)
            #expect(calls == calls.sorted())
            #expect(Set(calls).count == calls.count)
        }
        #expect(shared.value > 0)
    }

    @Test
    func `a last-out queue on its queue is not held up by a task that others are cancelling`() {
        let work = DispatchQueue(label: "work")
        let queue = LastOutQueue.OnQueue(work, delay: 1_000_000)
        for _ in 0..<3000 {
            let (hasRun, hadRun) = (Guarded(false), Guarded(false))
            work.suspend()
            work.async {
                queue.enqueue(forKey: "key") { hasRun.change { $0 = true } }
                queue.executePendingTasks()
                hadRun.change { $0 = hasRun.value }
            }
            // This task is ready, and is cancelled while the other one is enqueued.
            queue.enqueue(forKey: "key") {}
            queue.executePendingTasks()
            work.resume()
            queue.cancelPendingTasks()
            for _ in 0..<3 { work.sync {} }
            #expect(hasRun.value == hadRun.value)
        }
    }

    // MARK: - Delayed preemptive dispatch

    @Test
    func `delayed preemptive dispatch is empty after a cancel, whatever was called before it, and runs nothing then`() {
        let work = DispatchQueue(label: "work")
        let queue = DelayedPreemptiveDispatchQueue.OnQueue(work)
        let late = Guarded(0)
        for round in 0..<100 {
            let isOver = Guarded(false)
            race(4) { thread in
                for call in 0..<25 {
                    if (call + thread) % 7 == 0 { queue.cancel() }
                    queue.delay(Double((call * round) % 3) / 10_000) { if isOver.value { late.change { $0 += 1 } } }
                    _ = queue.empty
                }
            }
            queue.cancel()
            #expect(queue.empty)
            // A task that has begun may end; then nothing follows.
            work.sync {}
            _ = isOver.exchange(true)
        }
        let last = DispatchSemaphore(value: 0)
        queue.delay(0.001) { last.signal() }
        last.wait()
        #expect(late.value == 0)
    }

    @Test
    func `delayed preemptive dispatch is not empty before the queue has begun its task`() {
        let work = DispatchQueue(label: "work")
        let queue = DelayedPreemptiveDispatchQueue.OnQueue(work)
        for _ in 0..<10_000 {
            let hasRun = Guarded(false)
            queue.delay(0.000_01) { hasRun.change { $0 = true } }
            while !queue.empty {}
            work.sync {}
            #expect(hasRun.value)
        }
    }

    // MARK: - Debouncing in the background

    @Test
    func `a handler that is set while another thread sets nil runs, unless it is the one that was dropped`() async {
        let seen = Record<Int>()
        for round in 0..<2000 {
            let clock = ManualClock()
            let sync = BackgroundDebouncer.OnQueue(DispatchQueue(label: "work"), timeInterval: 1, clock: clock)
            sync.handler = { seen.add(-1) }
            race(2) { thread in
                if thread == 0 { sync.handler = nil } else { sync.handler = { seen.add(round) } }
            }
            let survives = sync.handler != nil
            await clock.advance(by: .seconds(1))
            #expect(seen.all.last == (survives ? round : seen.all.last))
            #expect(sync.handler == nil)
        }
        #expect(!seen.all.contains(-1))
    }

    // MARK: - Throttles on operation queues

    @Test
    func `work that the owner of an operation queue cancels there does not run, and later work does`() async {
        let (throttle, queue, seen) = (QueueThrottle(clock: clock), OperationQueue(), Record<String>())
        queue.isSuspended = true
        throttle.onQueue(queue, by: 1, leading: false) { seen.add("cancelled") }
        await clock.advance(by: .seconds(1), until: .started)
        queue.cancelAllOperations()
        queue.isSuspended = false
        await clock.advance(by: .zero)
        throttle.onQueue(queue, by: 1, leading: false) { seen.add("next") }
        await clock.advance(by: .seconds(1))
        #expect(seen.all == ["next"])
    }
}
