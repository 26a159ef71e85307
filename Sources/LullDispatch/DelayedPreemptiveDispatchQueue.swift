public import Dispatch
public import Foundation
internal import Lull

/// Runs the task that was given last, once, when *all* requested delays are over.
///
/// ```swift
/// let queue = DelayedPreemptiveDispatchQueue()
/// queue.delay(2) { print("first") }
/// queue.delay(1) { print("second") }      // printed after two seconds: the longer delay applies
/// ```
///
/// A shorter delay never shortens a longer one that is running (`delayRule: .extend`; <doc:Semantics>, section 3). The
/// queue can be used again after the task has run, and from inside the task.
///
/// The task runs on the main queue; for another queue use ``DelayedPreemptiveDispatchQueue/OnQueue``. Every call may be
/// made from any thread, and costs about as much as a lock.
public final class DelayedPreemptiveDispatchQueue: Sendable {
    /// A name of your choice, to tell queues apart when debugging.
    public let label: String
    private let tasks: Preemptive

    /// Creates a queue with no delay running.
    ///
    /// - Parameters:
    ///   - label: A name of your choice, to tell queues apart when debugging.
    ///   - task: The task that runs until a call of ``delay(_:task:)`` gives another task.
    ///   - clock: Measures the delay; tests pass the `ManualClock` of `LullTesting`. The default continues while the
    ///     machine sleeps.
    ///   - tolerance: How late a wake-up may be, so that the processor can combine several; never early. Zero or
    ///     more.
    public init(
        label: String = "DelayedPreemptiveDispatchQueue", task: (@MainActor @Sendable () -> Void)? = nil,
        clock: any Clock<Duration> = ContinuousClock(), tolerance: Duration = .zero
    ) {
        self.label = label
        tasks = Preemptive(.main, onMainQueue(task), clock, tolerance)
    }

    /// Postpones the task until this delay, and all that are running, are over.
    ///
    /// - Parameters:
    ///   - delay: The delay in seconds, from now; negative and NaN count as zero, infinity as never.
    ///   - task: The task that runs then, and after later delays; nil for the task given last. Without any task the
    ///     call does nothing.
    public func delay(_ delay: TimeInterval, task: (@MainActor @Sendable () -> Void)? = nil) {
        tasks.delay(delay, onMainQueue(task))
    }

    /// Drops all delays: the task does not run until ``delay(_:task:)`` is called again, which still has the task given
    /// last.
    public func cancel() {
        tasks.cancel()
    }

    /// Whether no delay is running and no task is about to run.
    public var empty: Bool { tasks.isEmpty }

    /// A ``DelayedPreemptiveDispatchQueue`` whose task runs on a queue of your choice instead of the main queue.
    public final class OnQueue: Sendable {
        /// A name of your choice, to tell queues apart when debugging.
        public let label: String
        private let tasks: Preemptive

        /// Creates a queue with no delay running.
        ///
        /// - Parameters:
        ///   - queue: The queue on which the task runs.
        ///   - label: A name of your choice, to tell queues apart when debugging.
        ///   - task: The task that runs until a call of ``delay(_:task:)`` gives another task.
        ///   - clock: Measures the delay; tests pass the `ManualClock` of `LullTesting`. The default continues while
        ///     the machine sleeps.
        ///   - tolerance: How late a wake-up may be, so that the processor can combine several; never early. Zero or
        ///     more.
        public init(
            _ queue: DispatchQueue, label: String = "DelayedPreemptiveDispatchQueue",
            task: (@Sendable () -> Void)? = nil, clock: any Clock<Duration> = ContinuousClock(),
            tolerance: Duration = .zero
        ) {
            self.label = label
            tasks = Preemptive(TargetQueue(queue), task, clock, tolerance)
        }

        /// Postpones the task until this delay, and all that are running, are over.
        ///
        /// - Parameters:
        ///   - delay: The delay in seconds, from now; negative and NaN count as zero, infinity as never.
        ///   - task: The task that runs then, and after later delays; nil for the task given last. Without any task the
        ///     call does nothing.
        public func delay(_ delay: TimeInterval, task: (@Sendable () -> Void)? = nil) {
            tasks.delay(delay, task)
        }

        /// Drops all delays: the task does not run until ``delay(_:task:)`` is called again, which still has the task
        /// given last.
        public func cancel() {
            tasks.cancel()
        }

        /// Whether no delay is running and no task is about to run.
        public var empty: Bool { tasks.isEmpty }
    }
}

/// The implementation of both classes: a debouncer of tasks, and the task given last.
private final class Preemptive: Sendable {
    private let debouncer: Debouncer<QueueTask, Void>
    private let last: Guarded<QueueTask?>

    init(_ queue: TargetQueue, _ task: QueueTask?, _ clock: any Clock<Duration>, _ tolerance: Duration) {
        last = Guarded(task)
        debouncer = Debouncer(
            for: .zero, on: queue.queue, options: .init(delayRule: .extend, tolerance: tolerance), clock: clock
        ) {
            task in task()
        }
    }

    func delay(_ delay: TimeInterval, _ task: QueueTask?) {
        let replaced = task.flatMap { last.exchange($0) }
        withExtendedLifetime(replaced) {}
        guard let task = task ?? last.value else { return }
        debouncer.submit(task, after: Duration(delay: delay))
    }

    func cancel() {
        debouncer.cancel(includingRunning: true)
    }

    var isEmpty: Bool {
        !debouncer.runtime.hasMoreToRun
    }
}
