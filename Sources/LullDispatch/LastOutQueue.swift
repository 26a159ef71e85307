public import Dispatch
public import Foundation
internal import Lull

/// Runs, for each key, only the task that was enqueued last, once no other task of the key has been enqueued for a
/// while.
///
/// ```swift
/// LastOutQueue.default.enqueue(forKey: "volume") { speaker.set(volume) }
/// LastOutQueue.default.executePendingTasks()      // when the screen is left or the app goes to the background
/// ```
///
/// Keys may be of any types; a value of one type and the same value of another are two keys: `1` and `1.0`.
///
/// Tasks run on the main queue; for another queue use ``LastOutQueue/OnQueue``. Every call may be made from any thread.
/// Enqueuing costs about as much as a lock, and one timer serves all keys. When tasks fall due: <doc:Semantics>,
/// section 3.
public final class LastOutQueue: Sendable {
    /// A queue that the whole program shares, with a delay of two seconds.
    public static let `default` = LastOutQueue()

    private let tasks: LastOut

    /// Creates a queue with its own delay and keys.
    ///
    /// The program stops with a message if the delay is negative or not finite.
    ///
    /// - Parameters:
    ///   - delay: The seconds without another task of the key after which its last task runs.
    ///   - clock: Measures the delay; tests pass the `ManualClock` of `LullTesting`. The default continues while the
    ///     machine sleeps.
    ///   - tolerance: How late a wake-up may be, so that the processor can combine several; never early. Zero or
    ///     more.
    ///   - fileID: The file that a message about a wrong setting names; leave it out.
    ///   - line: The line that this message names; leave it out.
    public init(
        delay: TimeInterval = 2, clock: any Clock<Duration> = ContinuousClock(), tolerance: Duration = .zero,
        fileID: StaticString = #fileID, line: UInt = #line
    ) {
        tasks = LastOut(delay, .main, clock, tolerance, SourceSite(fileID, line))
    }

    /// Enqueues a task in place of the one that waits under the same key, and restarts the delay of the key.
    ///
    /// - Parameters:
    ///   - key: The key. Tasks of different keys are independent.
    ///   - onStart: Runs right before the task, if the task runs.
    ///   - task: The task. It may enqueue again, also under its own key.
    public func enqueue(
        forKey key: some Hashable & Sendable, onStart: (@MainActor @Sendable () -> Void)? = nil,
        task: @escaping @MainActor @Sendable () -> Void
    ) {
        tasks.enqueue(key, onMainQueue(onStart), onMainQueue(task))
    }

    /// Runs all tasks that wait now, without the rest of their delays: for when the app goes to the background.
    ///
    /// Called on the main thread, it returns when they have run. Called elsewhere, it returns at once. What a task that
    /// is running has enqueued under its own key follows when that task has ended.
    public func executePendingTasks() {
        tasks.executePending()
    }

    /// Drops the tasks that wait under all keys; they never run.
    public func cancelPendingTasks() {
        tasks.cancelPending()
    }

    /// A ``LastOutQueue`` whose tasks run on a queue of your choice instead of the main queue.
    public final class OnQueue: Sendable {
        private let tasks: LastOut

        /// Creates a queue whose tasks run on `queue`.
        ///
        /// The program stops with a message if the delay is negative or not finite.
        ///
        /// - Parameters:
        ///   - queue: The queue on which tasks run. On a concurrent queue, tasks of different keys run in parallel.
        ///   - delay: The seconds without another task of the key after which its last task runs.
        ///   - clock: Measures the delay; tests pass the `ManualClock` of `LullTesting`. The default continues while
        ///     the machine sleeps.
        ///   - tolerance: How late a wake-up may be, so that the processor can combine several; never early. Zero or
        ///     more.
        ///   - fileID: The file that a message about a wrong setting names; leave it out.
        ///   - line: The line that this message names; leave it out.
        public init(
            _ queue: DispatchQueue, delay: TimeInterval = 2, clock: any Clock<Duration> = ContinuousClock(),
            tolerance: Duration = .zero, fileID: StaticString = #fileID, line: UInt = #line
        ) {
            tasks = LastOut(delay, TargetQueue(queue), clock, tolerance, SourceSite(fileID, line))
        }

        /// Enqueues a task in place of the one that waits under the same key, and restarts the delay of the key.
        ///
        /// - Parameters:
        ///   - key: The key. Tasks of different keys are independent.
        ///   - onStart: Runs right before the task, if the task runs.
        ///   - task: The task. It may enqueue again, also under its own key.
        public func enqueue(
            forKey key: some Hashable & Sendable, onStart: (@Sendable () -> Void)? = nil,
            task: @escaping @Sendable () -> Void
        ) {
            tasks.enqueue(key, onStart, task)
        }

        /// Runs all tasks that wait now, without the rest of their delays.
        ///
        /// Called on the queue, it returns when they have run. Called elsewhere, it returns at once.
        public func executePendingTasks() {
            tasks.executePending()
        }

        /// Drops the tasks that wait under all keys; they never run.
        public func cancelPendingTasks() {
            tasks.cancelPending()
        }
    }
}

/// The implementation of both classes: a keyed debouncer of tasks.
private struct LastOut: Sendable {
    /// A key of any type: its type, as the caller has declared it, and its value. (An `AnyHashable` would take `1`,
    /// `1.0` and `1 as UInt8` for the same.)
    struct AnyKey: Hashable, Sendable {
        let key: any Hashable & Sendable

        static func == (one: AnyKey, other: AnyKey) -> Bool {
            isSame(one.key, other.key)
        }

        private static func isSame<One: Hashable, Other: Hashable>(_ one: One, _ other: Other) -> Bool {
            // Of the same type, the cast does not convert.
            One.self == Other.self && other as? One == one
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(key)
        }
    }

    private let queue: TargetQueue
    private let debouncer: KeyedDebouncer<AnyKey, QueueTask, Void>

    init(
        _ delay: TimeInterval, _ queue: TargetQueue, _ clock: any Clock<Duration>, _ tolerance: Duration,
        _ site: SourceSite
    ) {
        self.queue = queue
        debouncer = KeyedDebouncer(
            for: Duration(setting: delay, "delay", at: site), on: queue.queue, options: .init(tolerance: tolerance),
            clock: clock, fileID: site.fileID, line: site.line
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
        if queue.isCurrent { debouncer.runtime.runReady() }
    }

    func cancelPending() {
        debouncer.cancel(includingRunning: true)
    }
}
