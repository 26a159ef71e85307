public import Dispatch
public import Foundation
internal import Lull

/// Runs a handler when a burst of events is over: for work in the background, with one instance for each kind of event.
///
/// ```swift
/// let sync = BackgroundDebouncer(timeInterval: 2)
/// // for each of the hundred changes that the health store reports in a second:
/// sync.handler = { syncSteps() }
/// ```
///
/// It needs no run loop. In a process that was suspended, what fell due meanwhile runs at once, and once, when the
/// process resumes. Keeping the process alive is up to the app: <doc:WorkInTheBackground>.
///
/// The handler runs on the main queue; for another queue use ``BackgroundDebouncer/OnQueue``. Every call may be made
/// from any thread, and costs about two locks; all instances share one timer.
public final class BackgroundDebouncer: Sendable {
    private let events: EventHandler

    /// Creates a debouncer; setting its ``handler`` is an event.
    ///
    /// The program stops with a message if the interval is negative or not finite.
    ///
    /// - Parameters:
    ///   - timeInterval: The seconds without an event after which the handler runs.
    ///   - clock: Measures the delay; tests pass the `ManualClock` of `LullTesting`. The default continues while the
    ///     machine sleeps.
    ///   - tolerance: How late a wake-up may be, so that the processor can combine several; never early. Zero or
    ///     more.
    ///   - fileID: The file that a message about a wrong setting names; leave it out.
    ///   - line: The line that this message names; leave it out.
    public init(
        timeInterval: TimeInterval, clock: any Clock<Duration> = ContinuousClock(), tolerance: Duration = .zero,
        fileID: StaticString = #fileID, line: UInt = #line
    ) {
        events = EventHandler(timeInterval, .main, clock, tolerance, SourceSite(fileID, line))
    }

    /// The closure that runs once the interval has passed without an event; nil when it has run.
    ///
    /// Setting it is an event, and restarts the interval. Setting nil drops what is pending.
    public var handler: (@MainActor @Sendable () -> Void)? {
        get { events.handler }
        set { events.set(onMainQueue(newValue)) }
    }

    /// Restarts the interval and keeps the handler: for an event that needs no new one. Does nothing without a handler.
    public func renewInterval() {
        events.renew()
    }

    /// Runs the handler now, if there is one: for when the time that the system grants is running out.
    ///
    /// Called on the main thread, it returns when the handler has run. Called elsewhere, it returns at once.
    public func flush() {
        events.flush()
    }

    /// A ``BackgroundDebouncer`` whose handler runs on a queue of your choice instead of the main queue.
    public final class OnQueue: Sendable {
        private let events: EventHandler

        /// Creates a debouncer; setting its ``handler`` is an event.
        ///
        /// The program stops with a message if the interval is negative or not finite.
        ///
        /// - Parameters:
        ///   - queue: The queue on which the handler runs.
        ///   - timeInterval: The seconds without an event after which the handler runs.
        ///   - clock: Measures the delay; tests pass the `ManualClock` of `LullTesting`. The default continues while
        ///     the machine sleeps.
        ///   - tolerance: How late a wake-up may be, so that the processor can combine several; never early. Zero or
        ///     more.
        ///   - fileID: The file that a message about a wrong setting names; leave it out.
        ///   - line: The line that this message names; leave it out.
        public init(
            _ queue: DispatchQueue, timeInterval: TimeInterval, clock: any Clock<Duration> = ContinuousClock(),
            tolerance: Duration = .zero, fileID: StaticString = #fileID, line: UInt = #line
        ) {
            events = EventHandler(timeInterval, TargetQueue(queue), clock, tolerance, SourceSite(fileID, line))
        }

        /// The closure that runs once the interval has passed without an event; nil when it has run.
        ///
        /// Setting it is an event, and restarts the interval. Setting nil drops what is pending.
        public var handler: (@Sendable () -> Void)? {
            get { events.handler }
            set { events.set(newValue) }
        }

        /// Restarts the interval and keeps the handler. Does nothing without a handler.
        public func renewInterval() {
            events.renew()
        }

        /// Runs the handler now, if there is one.
        ///
        /// Called on the queue, it returns when the handler has run. Called elsewhere, it returns at once.
        public func flush() {
            events.flush()
        }
    }
}

/// The implementation of both classes: a debouncer of events, and the handler of the newest event.
private final class EventHandler: Sendable {
    private struct Newest: Sendable {
        var event = 0
        var handler: QueueTask?
    }

    private let queue: TargetQueue
    private let newest = Guarded(Newest())
    private let debouncer: Debouncer<Int, Void>

    init(
        _ interval: TimeInterval, _ queue: TargetQueue, _ clock: any Clock<Duration>, _ tolerance: Duration,
        _ site: SourceSite
    ) {
        self.queue = queue
        let wait = Duration(setting: interval, "time interval", at: site)
        debouncer = Debouncer(
            for: wait, on: queue.queue, options: .init(tolerance: tolerance), clock: clock, fileID: site.fileID,
            line: site.line
        ) { [newest] event in
            // If another event has arrived since this one fell due, the handler waits for the end of that event's
            // interval.
            let handler = newest.change { $0.event == event ? $0.handler.take() : nil }
            handler?()
        }
    }

    var handler: QueueTask? { newest.value.handler }

    // Events are submitted and dropped while the lock is held: otherwise two threads could submit in another order than
    // they count.
    func set(_ handler: QueueTask?) {
        let replaced = newest.change { newest in
            let replaced = newest.handler
            newest.event += 1
            newest.handler = handler
            if handler != nil { debouncer(newest.event) } else { debouncer.cancel(includingRunning: true) }
            return replaced
        }
        withExtendedLifetime(replaced) {}
    }

    func renew() {
        newest.change { newest in
            guard newest.handler != nil else { return }
            newest.event += 1
            debouncer(newest.event)
        }
    }

    func flush() {
        debouncer.flush()
        if queue.isCurrent { debouncer.runtime.runReady() }
    }
}
