internal import Dispatch
public import Lull

extension Coalescer {
    /// Executes now what is pending, and blocks the thread until those executions and all that were running have ended:
    /// for the end of a program where nothing can be awaited, such as `applicationWillTerminate` or `atexit`.
    ///
    /// ```swift
    /// save.flushAndWait(timeout: .seconds(3))
    /// ```
    ///
    /// Called on the queue of the handlers, it runs what is pending there and then, on the caller's stack. Other
    /// handlers must not need the thread that waits: where they run on the main actor and the main thread calls, the
    /// program stops with a message, since they would never begin. What waits for a limit does not run on a serial
    /// queue whose thread waits here. In a task, await the form without a time limit.
    ///
    /// - Parameter timeout: How long to wait at most.
    /// - Returns: Whether all has ended. Where it has not, it goes on.
    @available(*, noasync, message: "await flushAndWait() instead")
    @discardableResult
    public func flushAndWait(timeout: Duration) -> Bool {
        require(
            !(TargetQueue.main.isCurrent && runtime.isolation is MainActor),
            "the handlers run on the main actor, and the main thread would wait for them: await flushAndWait() instead",
            at: runtime.site)
        flush()
        if let queue = runtime.queue, TargetQueue(queue).isCurrent { runtime.runReady() }
        if runtime.isIdle { return true }
        let hasEnded = DispatchSemaphore(value: 0)
        Task.detached {
            await self.flushAndWait()
            hasEnded.signal()
        }
        // Proof that nothing overflows: a timeout beyond some 292 years counts as that.
        let nanoseconds = timeout / .nanoseconds(1)
        let limit = DispatchTime.now() + .nanoseconds(Int(min(max(nanoseconds, 0), 9e18)))
        // A pool whose threads are all blocked does not come to say it.
        return hasEnded.wait(timeout: limit) == .success || runtime.isIdle
    }
}
