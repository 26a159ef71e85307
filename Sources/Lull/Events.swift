public import LullCore

/// Something that happened in a debouncer or throttler, as ``Coalescer/events(bufferingNewest:)`` delivers it
/// (<doc:Observing>; <doc:Semantics>, section 6).
public struct Event<Key: Sendable>: Sendable {
    /// The things that can happen. A later version may add one: give a `switch` an `@unknown default`.
    @nonexhaustive
    public enum Kind: Hashable, Sendable {
        /// A value was submitted.
        case submitted
        /// A later value took the place of a pending one, or of one whose execution was told to stop.
        case superseded
        /// A value was left out, since another one stands for it: see ``Outcome/absorbed``.
        case absorbed
        /// An execution has begun: its handler is on its way to the actor or queue where it runs.
        case started
        /// The handler has returned.
        case finished
        /// The handler has thrown.
        case failed
        /// What was pending or waiting was dropped, or a running execution was stopped, by a cancel or a shut-down.
        case cancelled
        /// A submit was refused, for this reason.
        case rejected(Rejection)
    }

    /// What happened.
    public let kind: Kind
    /// The key under which it happened; ``NoKey`` for a debouncer or throttler without keys.
    public let key: Key
    /// When it happened, counted from the making of the debouncer; of ``Kind/started``, when the execution was due.
    public let at: Duration
    /// How many submits it concerns; of an execution, all that are behind it, superseded ones included.
    public let count: Int
    /// Why the execution fell due; nil of an event that concerns none.
    public let edge: Edge?
    /// How many events right before this one were lost because this observer was slow.
    public internal(set) var lost = 0

    @usableFromInline
    init(kind: Kind, key: Key, at: Duration, count: Int, edge: Edge?) {
        self.kind = kind
        self.key = key
        self.at = at
        self.count = count
        self.edge = edge
    }
}

/// The events of a debouncer or throttler from the moment at which they were asked for: an asynchronous sequence.
///
/// It may be iterated several times, on any actor; each iteration has a buffer of its own. The first one delivers what
/// has happened since the events were asked for, each further one what happens from its own beginning on. An iteration
/// ends when the debouncer has gone and nothing of it is left to do.
public struct Events<Key: Sendable>: AsyncSequence, Sendable {
    /// What an iteration delivers.
    public typealias Element = Event<Key>
    /// An iteration never throws.
    public typealias Failure = Never

    /// What the first iteration takes.
    private let first: Guarded<Subscription<Key>?>
    private let subscribe: @Sendable () -> Subscription<Key>

    init(subscribing subscribe: @escaping @Sendable () -> Subscription<Key>) {
        first = Guarded(subscribe())
        self.subscribe = subscribe
    }

    /// Begins an iteration: from the moment at which the events were asked for if it is the first one, from now on
    /// otherwise.
    public func makeAsyncIterator() -> Iterator {
        Iterator(subscription: first.exchange(nil) ?? subscribe())
    }

    /// The iterator of ``Events``. For one task at a time: if two wait for its next event, the program stops with a
    /// message.
    public struct Iterator: AsyncIteratorProtocol {
        let subscription: Subscription<Key>

        /// The next event; nil when there are none any more, or the task was cancelled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Event<Key>? {
            await subscription.buffer.next()
        }

        /// The next event; nil when there are none any more, or the task was cancelled.
        public mutating func next() async -> Event<Key>? {
            await next(isolation: nil)
        }
    }
}

extension Coalescer {
    /// Everything that happens from now on, as it happens: for logs, metrics and debugging (<doc:Observing>).
    ///
    /// ```swift
    /// for await event in save.events() {
    ///     log.error("\(event.kind) at \(event.at)")
    /// }
    /// ```
    ///
    /// An observer that is slow loses the oldest events, is told how many (``Event/lost``), and never slows the
    /// debouncer. Each observer costs some hundred nanoseconds an event; without observers there is no cost.
    ///
    /// - Parameter limit: How many events are kept for each iteration; at least one.
    public func events(bufferingNewest limit: Int = 256) -> Events<Key> {
        Events { [weak runtime] in
            let buffer = EventBuffer<Key>(limit: max(limit, 1))
            if let runtime { runtime.observe(with: buffer) } else { buffer.end() }
            return Subscription(buffer) { [weak runtime] in runtime?.stopObserving(with: buffer) }
        }
    }
}

/// Lives as long as somebody may ask for events.
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
