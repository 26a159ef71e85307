public import LullCore

/// An event of a debouncer or throttler, from ``Coalescer/events(bufferingNewest:)`` (<doc:Observing>; <doc:Semantics>,
/// section 6).
public struct Event<Key: Sendable>: Sendable {
    /// The kinds of events. A later version may add one: give a `switch` an `@unknown default`.
    @nonexhaustive
    public enum Kind: Hashable, Sendable {
        /// A value was submitted.
        case submitted
        /// An execution was interrupted and has thrown, under `.restart`: as many submits as ``Event/count`` says are
        /// pending again.
        case interrupted
        /// A later value replaced a pending one, or one whose execution was cancelled for it.
        case superseded
        /// A value was dropped in favour of an earlier one, or left out since it had not changed
        /// (``Outcome/absorbed``).
        case absorbed
        /// An execution has begun: its handler has been sent to the actor or queue where it runs; with
        /// `removingDuplicates`, its handler is about to be called.
        case started
        /// The handler goes on although its time limit is over: for as much time again, or at once if it is synchronous
        /// and cannot be told to stop. It holds its key and its slot.
        case overdue
        /// The handler has returned.
        case executed
        /// The handler has thrown, perhaps since its time limit was over.
        case failed
        /// A cancel or a shut-down dropped what was pending or waiting, or stopped a running execution.
        case cancelled
        /// A submit was rejected, for this reason.
        case rejected(Rejection)
    }

    /// The kind of the event.
    public let kind: Kind
    /// The key under which it happened; ``NoKey`` for a debouncer or throttler without keys.
    public let key: Key
    /// When it happened, since the debouncer was created; for ``Kind/started``, when the execution was due.
    public let at: Duration
    /// The number of submits that it concerns; for an execution, all its submits, superseded ones included.
    public let count: Int
    /// Why the execution fell due; nil if the event concerns none.
    public let cause: Cause?
    /// The number of events immediately before this one that were lost because the observer was slow.
    public internal(set) var lost = 0

    init(kind: Kind, key: Key, at: Duration, count: Int, cause: Cause?) {
        self.kind = kind
        self.key = key
        self.at = at
        self.count = count
        self.cause = cause
    }
}

/// An asynchronous sequence of the events of a debouncer or throttler.
///
/// It may be iterated several times, on any actor; each iteration has a buffer of its own. The first iteration delivers
/// the events since the sequence was made, each further one those since its own beginning. An iteration ends when the
/// debouncer has been released and has nothing left to do.
public struct Events<Key: Sendable>: AsyncSequence, Sendable {
    /// The element that an iteration delivers.
    public typealias Element = Event<Key>
    /// An iteration never throws.
    public typealias Failure = Never

    /// The subscription that the first iteration takes.
    private let first: Guarded<Subscription<Key>?>
    private let subscribe: @Sendable () -> Subscription<Key>

    init(subscribing subscribe: @escaping @Sendable () -> Subscription<Key>) {
        first = Guarded(subscribe())
        self.subscribe = subscribe
    }

    /// Begins an iteration: the first one with the events since the sequence was made, others from now on.
    public func makeAsyncIterator() -> Iterator {
        Iterator(subscription: first.exchange(nil) ?? subscribe())
    }

    /// The iterator of ``Events``. For one task at a time: if two tasks wait for its next event, the program stops with
    /// a message.
    public struct Iterator: AsyncIteratorProtocol {
        let subscription: Subscription<Key>

        /// Returns the next event; nil at the end, or when the task was cancelled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Event<Key>? {
            await subscription.buffer.next()
        }

        /// Returns the next event; nil at the end, or when the task was cancelled.
        public mutating func next() async -> Event<Key>? {
            await next(isolation: nil)
        }
    }
}

extension Coalescer {
    /// Returns all events from now on, for logs, metrics and debugging (<doc:Observing>).
    ///
    /// ```swift
    /// for await event in save.events() {
    ///     log.error("\(event.kind) at \(event.at)")
    /// }
    /// ```
    ///
    /// A slow observer loses the oldest events, learns how many (``Event/lost``), and never slows the debouncer. Each
    /// observer costs about a microsecond per event; without observers there is no cost.
    ///
    /// - Parameter limit: The number of events that are kept for each iteration; at least one.
    public func events(bufferingNewest limit: Int = 256) -> Events<Key> {
        Events { [weak runtime] in
            let buffer = EventBuffer<Key>(limit: max(limit, 1))
            if let runtime { runtime.observe(with: buffer) } else { buffer.end() }
            return Subscription(buffer) { [weak runtime] in runtime?.stopObserving(with: buffer) }
        }
    }
}

/// Keeps an observer registered until it is released.
final class Subscription<Key: Sendable>: Sendable {
    let buffer: EventBuffer<Key>
    private let onEnd: @Sendable () -> Void

    init(_ buffer: EventBuffer<Key>, onEnd: @escaping @Sendable () -> Void) {
        self.buffer = buffer
        self.onEnd = onEnd
    }

    deinit {
        onEnd()
    }
}
