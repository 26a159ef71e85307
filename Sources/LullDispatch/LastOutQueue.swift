public import Dispatch
public import Foundation
internal import Lull

/// Runs, for each key, the task that was enqueued last, when no other has come for a while.
///
/// ```swift
/// LastOutQueue.default.enqueue(forKey: "volume") { speaker.set(volume) }
/// LastOutQueue.default.executePendingTasks()      // when the screen is left or the app goes to the background
/// ```
///
/// Tasks run on the main queue; for another one there is ``LastOutQueue/OnQueue``. It may be used from any thread. One
/// timer serves all keys; enqueuing costs about as much as taking a lock. What falls due when: <doc:Semantics>, section
/// 3.
public final class LastOutQueue: Sendable {
    /// A queue for everybody, with a delay of two seconds.
    public static let `default` = LastOutQueue()

    private let tasks: LastOut

    /// Makes a queue of one's own.
    ///
    /// Stops with a message if the delay is negative or not finite.
    ///
    /// - Parameters:
    ///   - delay: How long, in seconds, no other task of the key must have come; finite, zero or more.
    ///   - clock: The clock that the delay is measured by.
    ///   - tolerance: How much later than due a wake-up may be, so that wake-ups of several debouncers can be one; never
    ///     early. Zero or more.
    public init(delay: TimeInterval = 2, clock: any Clock<Duration> = ContinuousClock(), tolerance: Duration = .zero) {
        tasks = LastOut(delay, .main, clock, tolerance)
    }

    /// Takes a task in place of the one of the same key that waits, and starts the delay again.
    ///
    /// - Parameters:
    ///   - key: Tasks of different keys are independent.
    ///   - onStart: Runs right before the task.
    ///   - task: May enqueue again, under its own key as well.
    public func enqueue(
        forKey key: some Hashable & Sendable, onStart: (@MainActor @Sendable () -> Void)? = nil,
        task: @escaping @MainActor @Sendable () -> Void
    ) {
        tasks.enqueue(key, onMainQueue(onStart), onMainQueue(task))
    }

    /// Runs the last task of every key now; each key starts afresh.
    ///
    /// Called on the main thread, the tasks *have run* when it returns. Called elsewhere, they are on their way. A task
    /// that is running at the moment is not run a second time: what it enqueued under its own key follows when it has
    /// ended.
    public func executePendingTasks() {
        tasks.executePending()
    }

    /// Drops the tasks that wait, of all keys.
    public func cancelPendingTasks() {
        tasks.cancelPending()
    }

    /// A ``LastOutQueue`` whose tasks run on a queue that is given.
    public final class OnQueue: Sendable {
        private let tasks: LastOut

        /// Makes a queue whose tasks run on `queue`.
        ///
        /// Stops with a message if the delay is negative or not finite.
        ///
        /// - Parameters:
        ///   - queue: Where tasks run. Those of different keys run side by side if it is concurrent.
        ///   - delay: How long, in seconds, no other task of the key must have come; finite, zero or more.
        ///   - clock: The clock that the delay is measured by.
        ///   - tolerance: How much later than due a wake-up may be, so that wake-ups of several debouncers can be one; never
        ///     early. Zero or more.
        public init(
            _ queue: DispatchQueue, delay: TimeInterval = 2, clock: any Clock<Duration> = ContinuousClock(),
            tolerance: Duration = .zero
        ) {
            tasks = LastOut(delay, Place(queue), clock, tolerance)
        }

        /// Takes a task in place of the one of the same key that waits, and starts the delay again.
        ///
        /// - Parameters:
        ///   - key: Tasks of different keys are independent.
        ///   - onStart: Runs right before the task.
        ///   - task: May enqueue again, under its own key as well.
        public func enqueue(
            forKey key: some Hashable & Sendable, onStart: (@Sendable () -> Void)? = nil,
            task: @escaping @Sendable () -> Void
        ) {
            tasks.enqueue(key, onStart, task)
        }

        /// Runs the last task of every key now; each key starts afresh.
        ///
        /// Called on the queue, the tasks *have run* when it returns. Called elsewhere, they are on their way.
        public func executePendingTasks() {
            tasks.executePending()
        }

        /// Drops the tasks that wait, of all keys.
        public func cancelPendingTasks() {
            tasks.cancelPending()
        }
    }
}

/// What both kinds are made of: a keyed debouncer of tasks.
private struct LastOut: Sendable {
    /// A key of any type.
    ///
    /// Proof of @unchecked Sendable: it is only ever made from a key that is Sendable.
    struct AnyKey: Hashable, @unchecked Sendable {
        let key: AnyHashable
    }

    private let place: Place
    private let debouncer: KeyedDebouncer<AnyKey, QueueTask, Void>

    init(_ delay: TimeInterval, _ place: Place, _ clock: any Clock<Duration>, _ tolerance: Duration) {
        self.place = place
        debouncer = KeyedDebouncer(
            for: Duration(setting: delay, "delay"), on: place.queue, options: .init(tolerance: tolerance),
            clock: clock
        ) { _, task in
            task()
        }
    }

    func enqueue(_ key: some Hashable & Sendable, _ onStart: QueueTask?, _ task: @escaping QueueTask) {
        guard let onStart else { return debouncer.submit(task, for: AnyKey(key: key)) }
        debouncer.submit(
            {
                onStart()
                task()
            }, for: AnyKey(key: key))
    }

    func executePending() {
        debouncer.flush()
        if place.isHere { debouncer.runtime.runReady() }
    }

    func cancelPending() {
        debouncer.cancel(includingRunning: true)
    }
}
