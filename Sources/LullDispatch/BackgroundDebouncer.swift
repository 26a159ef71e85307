public import Dispatch
public import Foundation
internal import Lull

/// Runs a handler once a burst of events is over: for work in the background, with one instance for each kind of event.
///
/// ```swift
/// let sync = BackgroundDebouncer(timeInterval: 2)
/// // for each of the hundred changes that the health store reports in a second:
/// sync.handler = { syncSteps() }
/// ```
///
/// It needs no run loop. In a process that was suspended, what fell due meanwhile runs at once, and once, when the
/// process goes on; keeping the process alive is up to the app: <doc:WorkInTheBackground>.
///
/// The handler runs on the main queue; for another one there is ``BackgroundDebouncer/OnQueue``. Every call may be made
/// from any thread, and costs about two locks; all instances share one timer.
public final class BackgroundDebouncer: Sendable {
    private let events: EventHandler

    /// Makes a debouncer; setting its ``handler`` is an event.
    ///
    /// The program stops with a message if the interval is negative or not finite.
    ///
    /// - Parameters:
    ///   - timeInterval: For how many seconds no event must have come before the handler runs.
    ///   - clock: Measures the delay; a test gives the `ManualClock` of `LullTesting`. The default goes on while the
    ///     machine sleeps.
    ///   - tolerance: How much later than due it may happen, so that several wake-ups of the processor become one;
    ///     never earlier. Zero or more.
    public init(timeInterval: TimeInterval, clock: any Clock<Duration> = ContinuousClock(), tolerance: Duration = .zero)
    {
        events = EventHandler(timeInterval, .main, clock, tolerance)
    }

    /// What runs once the interval has passed without an event; nil when it has run.
    ///
    /// Setting it is an event, and starts the interval again. Setting nil drops what is pending.
    public var handler: (@MainActor @Sendable () -> Void)? {
        get { events.handler }
        set { events.set(onMainQueue(newValue)) }
    }

    /// Starts the interval again and keeps the handler: for an event that needs no new one. Does nothing without a
    /// handler.
    public func renewInterval() {
        events.renew()
    }

    /// Runs the handler now, if there is one: for when the time that the system gives is running out.
    ///
    /// Called on the main thread, it returns when the handler has run. Called elsewhere, it returns at once.
    public func flush() {
        events.flush()
    }

    /// A ``BackgroundDebouncer`` whose handler runs on a queue of your choice instead of the main queue.
    public final class OnQueue: Sendable {
        private let events: EventHandler

        /// Makes a debouncer; setting its ``handler`` is an event.
        ///
        /// The program stops with a message if the interval is negative or not finite.
        ///
        /// - Parameters:
        ///   - queue: Where the handler runs.
        ///   - timeInterval: For how many seconds no event must have come before the handler runs.
        ///   - clock: Measures the delay; a test gives the `ManualClock` of `LullTesting`. The default goes on while
        ///     the machine sleeps.
        ///   - tolerance: How much later than due it may happen, so that several wake-ups of the processor become one;
        ///     never earlier. Zero or more.
        public init(
            _ queue: DispatchQueue, timeInterval: TimeInterval, clock: any Clock<Duration> = ContinuousClock(),
            tolerance: Duration = .zero
        ) {
            events = EventHandler(timeInterval, Place(queue), clock, tolerance)
        }

        /// What runs once the interval has passed without an event; nil when it has run.
        ///
        /// Setting it is an event, and starts the interval again. Setting nil drops what is pending.
        public var handler: (@Sendable () -> Void)? {
            get { events.handler }
            set { events.set(newValue) }
        }

        /// Starts the interval again and keeps the handler. Does nothing without a handler.
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

/// What both kinds are made of: a debouncer of events, and the handler of the newest one.
private final class EventHandler: Sendable {
    private struct Newest: Sendable {
        var event = 0
        var handler: QueueTask?
    }

    private let place: Place
    private let newest = Guarded(Newest())
    private let debouncer: Debouncer<Int, Void>

    init(_ interval: TimeInterval, _ place: Place, _ clock: any Clock<Duration>, _ tolerance: Duration) {
        self.place = place
        let wait = Duration(setting: interval, "time interval")
        debouncer = Debouncer(
            for: wait, on: place.queue, options: .init(tolerance: tolerance), clock: clock
        ) { [newest] event in
            // If another event has come since this one fell due, the handler waits for the end of its interval.
            let handler = newest.change { $0.event == event ? $0.handler.take() : nil }
            handler?()
        }
    }

    var handler: QueueTask? { newest.value.handler }

    // Events are submitted, and dropped, with the lock held, or two threads could do so in another order than they are
    // counted.
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
        if place.isHere { debouncer.runtime.runReady() }
    }
}
