public import Dispatch
public import Foundation
internal import Lull

/// Runs one task, the last one given, when *all* the delays that were asked for have run out.
///
/// ```swift
/// let queue = DelayedPreemptiveDispatchQueue()
/// queue.delay(2) { print("first") }
/// queue.delay(1) { print("second") }      // printed after two seconds: the longer delay rules
/// ```
///
/// A shorter delay never shortens a longer one that is running (`delayRule: .extend`; <doc:Semantics>, section 3). The
/// task runs on the main queue; for another one there is ``DelayedPreemptiveDispatchQueue/OnQueue``. It may be used
/// from any thread, and again after the task has run, from inside the task too. A call costs about as much as taking a
/// lock; one timer serves all delays.
public final class DelayedPreemptiveDispatchQueue: Sendable {
    /// Names the queue, for whoever has several.
    public let label: String
    private let tasks: Preemptive

    /// Makes a queue.
    ///
    /// - Parameters:
    ///   - label: Names the queue.
    ///   - task: What runs unless a call gives a task of its own.
    ///   - clock: The clock that delays are measured by.
    ///   - tolerance: How much later than due a wake-up may be, so that wake-ups of several debouncers can be one; never
    ///     early. Zero or more.
    public init(
        label: String = "DelayedPreemptiveDispatchQueue", task: (@MainActor @Sendable () -> Void)? = nil,
        clock: any Clock<Duration> = ContinuousClock(), tolerance: Duration = .zero
    ) {
        self.label = label
        tasks = Preemptive(.main, onMainQueue(task), clock, tolerance)
    }

    /// Puts the task off until this delay, and all that are running, have run out.
    ///
    /// - Parameters:
    ///   - delay: In seconds, from now; negative and NaN count as zero, infinity as never.
    ///   - task: What runs then and from now on; nil leaves it at the task given last. If none ever was, nothing
    ///     happens.
    public func delay(_ delay: TimeInterval, task: (@MainActor @Sendable () -> Void)? = nil) {
        tasks.delay(delay, onMainQueue(task))
    }

    /// Drops all delays; the task does not run. The next ``delay(_:task:)`` works as ever, with the task given last.
    public func cancel() {
        tasks.cancel()
    }

    /// Whether no delay is running and no task is about to run.
    public var empty: Bool { tasks.isEmpty }

    /// A ``DelayedPreemptiveDispatchQueue`` whose task runs on a queue that is given.
    public final class OnQueue: Sendable {
        /// Names the queue, for whoever has several.
        public let label: String
        private let tasks: Preemptive

        /// Makes a queue.
        ///
        /// - Parameters:
        ///   - queue: Where the task runs.
        ///   - label: Names the queue.
        ///   - task: What runs unless a call gives a task of its own.
        ///   - clock: The clock that delays are measured by.
        ///   - tolerance: How much later than due a wake-up may be, so that wake-ups of several debouncers can be one; never
        ///     early. Zero or more.
        public init(
            _ queue: DispatchQueue, label: String = "DelayedPreemptiveDispatchQueue",
            task: (@Sendable () -> Void)? = nil, clock: any Clock<Duration> = ContinuousClock(),
            tolerance: Duration = .zero
        ) {
            self.label = label
            tasks = Preemptive(Place(queue), task, clock, tolerance)
        }

        /// Puts the task off until this delay, and all that are running, have run out.
        ///
        /// - Parameters:
        ///   - delay: In seconds, from now; negative and NaN count as zero, infinity as never.
        ///   - task: What runs then and from now on; nil leaves it at the task given last. If none ever was, nothing
        ///     happens.
        public func delay(_ delay: TimeInterval, task: (@Sendable () -> Void)? = nil) {
            tasks.delay(delay, task)
        }

        /// Drops all delays; the task does not run. The next ``delay(_:task:)`` works as ever, with the task given
        /// last.
        public func cancel() {
            tasks.cancel()
        }

        /// Whether no delay is running and no task is about to run.
        public var empty: Bool { tasks.isEmpty }
    }
}

/// What both kinds are made of: a debouncer of tasks, and the task given last.
private final class Preemptive: Sendable {
    private let debouncer: Debouncer<QueueTask, Void>
    private let last: Guarded<QueueTask?>

    init(_ place: Place, _ task: QueueTask?, _ clock: any Clock<Duration>, _ tolerance: Duration) {
        last = Guarded(task)
        debouncer = Debouncer(
            for: .zero, on: place.queue, options: .init(delayRule: .extend, tolerance: tolerance), clock: clock
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
        debouncer.counters.pending == 0 && !debouncer.runtime.hasReady
    }
}
