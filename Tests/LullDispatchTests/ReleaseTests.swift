import Dispatch
import Foundation
import Lull
import LullTesting
import TestSupport
import Testing

@testable import LullDispatch

/// A task may own an object whose deinit calls the utility again: between two tasks, or in the middle of a call.
@Suite("While a task is released")
struct ReleaseTests {
    let clock = ManualClock()
    let work = DispatchQueue(label: "work")
    let seen = Record<String>()

    // MARK: - Delayed preemptive dispatch

    @Test
    func `delayed preemptive dispatch is not empty if another task is due, until a cancel drops that`() async {
        let queue = DelayedPreemptiveDispatchQueue.OnQueue(work, clock: clock)
        let end = DispatchSemaphore(value: 0)
        work.sync {
            let owner = Owner { [seen] in
                seen.add("empty: \(queue.empty)")
                queue.cancel()
                seen.add("empty: \(queue.empty)")
            }
            queue.delay(1) { [seen] in
                queue.delay(1) { seen.add("second task") }
                end.wait()
                withExtendedLifetime(owner) {}
            }
        }
        for _ in 1...2 { await clock.advance(by: .seconds(1), until: .started) }
        end.signal()
        drain()
        #expect(seen.all == ["empty: false", "empty: true"])
    }

    // MARK: - Last-out queues

    @Test(arguments: ["a", "b"])
    func `a last-out queue drops the task that is next, whatever its key`(key: String) {
        let queue = LastOutQueue.OnQueue(work, delay: 1000, clock: clock)
        runTwo(on: queue, key) { queue.cancelPendingTasks() }
        #expect(seen.all == ["released"])
    }

    @Test(arguments: ["a", "b"])
    func `a last-out queue has run the task that is next when executePendingTasks returns`(key: String) {
        let queue = LastOutQueue.OnQueue(work, delay: 1000, clock: clock)
        runTwo(on: queue, key) { queue.executePendingTasks() }
        #expect(seen.all == ["next", "released"])
    }

    /// Runs a task under "a", which makes another one ready. Calls `body` when the first one is released.
    private func runTwo(on queue: LastOutQueue.OnQueue, _ key: String, _ body: @escaping @Sendable () -> Void) {
        work.sync {
            let owner = Owner { [seen] in
                body()
                seen.add("released")
            }
            queue.enqueue(forKey: "a") { [seen] in
                queue.enqueue(forKey: key) { seen.add("next") }
                // Not from the queue, where it would run the task.
                DispatchQueue.global().sync { queue.executePendingTasks() }
                withExtendedLifetime(owner) {}
            }
        }
        queue.executePendingTasks()
        drain()
    }

    @Test
    func `a last-out queue has run what the call that releases the task is about to run`() {
        let queue = LastOutQueue.OnQueue(work, delay: 1000, clock: clock)
        queue.enqueue(forKey: "a") { [seen] in
            let owner = Owner {
                queue.executePendingTasks()
                seen.add("released")
            }
            queue.enqueue(forKey: "a") { withExtendedLifetime(owner) {} }
            _ = consume owner
            // The new task waits for this one to end.
            queue.executePendingTasks()
            queue.enqueue(forKey: "a") { seen.add("a") }
            queue.enqueue(forKey: "b") { seen.add("b") }
            // The newest task takes the place of the one that waits. While that is released, "b" is about to run.
            queue.executePendingTasks()
        }
        work.sync { queue.executePendingTasks() }
        #expect(seen.all == ["b", "released", "a"])
    }

    @Test
    func `a last-out queue takes another task`() async {
        let queue = LastOutQueue.OnQueue(work, delay: 1, clock: clock)
        for round in 0..<3 {
            let owner = Owner { [seen] in queue.enqueue(forKey: "gone") { seen.add("gone \(round)") } }
            queue.enqueue(forKey: "key") { [seen] in withExtendedLifetime(owner) { seen.add("key \(round)") } }
        }
        await clock.advance(by: .seconds(1))
        queue.cancelPendingTasks()
        #expect(seen.all.contains("key 2"))
        #expect(!seen.all.contains("key 1"))
    }

    // MARK: - Throttles on operation queues

    @Test
    func `a throttle takes another function, and a cancel`() async {
        let (throttle, queue, seen) = (QueueThrottle(clock: clock), OperationQueue(), Record<String>())
        for round in 0..<3 {
            let owner = Owner { throttle.onQueue(queue, by: 1, leading: false) { seen.add("gone \(round)") } }
            throttle.onQueue(queue, by: 1, leading: false) { withExtendedLifetime(owner) {} }
        }
        do {
            let owner = Owner { throttle.cancel(queue) }
            throttle.onQueue(queue, by: 1, leading: false) { withExtendedLifetime(owner) {} }
        }
        throttle.cancel(queue)
        await clock.advance(by: .seconds(5))
        #expect(throttle.counters.pending == 0)
    }

    /// Returns when the work queue has run everything that is there, and what follows from that.
    private func drain() {
        for _ in 0..<3 { work.sync {} }
    }
}

/// Calls a closure when it is deinitialized.
private final class Owner: Sendable {
    private let onEnd: @Sendable () -> Void

    init(_ onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

    deinit { onEnd() }
}
