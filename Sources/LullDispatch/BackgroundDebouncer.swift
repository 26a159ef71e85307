public import Dispatch
public import Foundation
internal import Lull

/// Runs a handler when no event has come for a while; made for work in the background, one instance for each kind of
/// event.
///
/// ```swift
/// let sync = BackgroundDebouncer(timeInterval: 2)
/// // for each of the hundred changes that the health store reports in a second:
/// sync.handler = { syncSteps() }
/// ```
///
/// It does not depend on a run loop, and it works in a process that is suspended and woken: what fell due meanwhile
/// runs at once, and once. The handler runs on the main queue; for another one there is
/// ``BackgroundDebouncer/OnQueue``. It may be used from any thread; an event costs about as much as two locks, and one
/// timer serves them all. What no library can do is keep a process alive: see <doc:WorkInTheBackground>.
public final class BackgroundDebouncer: Sendable {
    private let events: EventHandler

    /// Makes a debouncer without a handler.
    ///
    /// Stops with a message if the interval is negative or not finite.
    ///
    /// - Parameters:
    ///   - timeInterval: How long, in seconds, no event must have come; finite, zero or more.
    ///   - clock: The clock that this is measured by. The default goes on while the machine sleeps.
    ///   - tolerance: How much later than due a wake-up may be, so that wake-ups of several debouncers can be one; never
    ///     early. Zero or more.
    public init(timeInterval: TimeInterval, clock: any Clock<Duration> = ContinuousClock(), tolerance: Duration = .zero)
    {
        events = EventHandler(timeInterval, .main, clock, tolerance)
    }

    /// What runs, once, when the interval has passed with no event; nil afterwards.
    ///
    /// Setting it counts as an event and starts or renews the interval. Setting nil drops what is pending.
    public var handler: (@MainActor @Sendable () -> Void)? {
        get { events.handler }
        set { events.set(onMainQueue(newValue)) }
    }

    /// Starts the interval again, with the handler as it is. Without one nothing happens.
    public func renewInterval() {
        events.renew()
    }

    /// Runs the handler now, if there is one: when the time that the system allows is running out.
    ///
    /// Called on the main thread, it *has run* when this returns.
    public func flush() {
        events.flush()
    }

    /// A ``BackgroundDebouncer`` whose handler runs on a queue that is given.
    public final class OnQueue: Sendable {
        private let events: EventHandler

        /// Makes a debouncer without a handler.
        ///
        /// Stops with a message if the interval is negative or not finite.
        ///
        /// - Parameters:
        ///   - queue: Where the handler runs.
        ///   - timeInterval: How long, in seconds, no event must have come; finite, zero or more.
        ///   - clock: The clock that this is measured by. The default goes on while the machine sleeps.
        ///   - tolerance: How much later than due a wake-up may be, so that wake-ups of several debouncers can be one; never
        ///     early. Zero or more.
        public init(
            _ queue: DispatchQueue, timeInterval: TimeInterval, clock: any Clock<Duration> = ContinuousClock(),
            tolerance: Duration = .zero
        ) {
            events = EventHandler(timeInterval, Place(queue), clock, tolerance)
        }

        /// What runs, once, when the interval has passed with no event; nil afterwards.
        ///
        /// Setting it counts as an event and starts or renews the interval. Setting nil drops what is pending.
        public var handler: (@Sendable () -> Void)? {
            get { events.handler }
            set { events.set(newValue) }
        }

        /// Starts the interval again, with the handler as it is. Without one nothing happens.
        public func renewInterval() {
            events.renew()
        }

        /// Runs the handler now, if there is one. Called on the queue, it *has run* when this returns.
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
