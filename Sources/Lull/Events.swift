public import LullCore

/// Something that a debouncer or throttler did: its story as it happens (<doc:Semantics>, section 6).
public struct Event<Key: Sendable>: Sendable {
    /// What happened.
    @nonexhaustive
    public enum Kind: Hashable, Sendable {
        /// A value was offered.
        case submitted
        /// A later one took its place.
        case superseded
        /// Another one stood for it.
        case absorbed
        /// An execution has fallen due, and its handler is on its way to where it runs.
        case started
        /// The handler has returned.
        case finished
        /// The handler has thrown.
        case failed
        /// What was pending, waiting or running was cancelled.
        case cancelled
        /// It was not taken.
        case rejected(Rejection)
    }

    /// What happened.
    public let kind: Kind
    /// Under which key.
    public let key: Key
    /// When, since the debouncer was made; of ``Kind/started``, the instant at which the execution was due.
    public let at: Duration
    /// How many submits it is about; of an execution, all that are behind it, superseded ones included.
    public let count: Int
    /// Why the execution happened, if it is about one.
    public let edge: Edge?
    /// How many events this observer has lost right before this one, being slow.
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

/// The events of a debouncer or throttler from the moment on at which they were asked for.
///
/// Every iteration is one for itself, on any actor, with a buffer of its own: the one that begins first has what has been
/// kept since the events were asked for, each further one what happens from its beginning on. It ends when the debouncer
/// has gone and nothing of it is left to do. An event costs a lock and its place in each buffer.
public struct Events<Key: Sendable>: AsyncSequence, Sendable {
    /// What is delivered.
    public typealias Element = Event<Key>
    /// Nothing is thrown.
    public typealias Failure = Never

    /// What the first iteration takes.
    private let first: Guarded<Subscription<Key>?>
    private let subscribe: @Sendable () -> Subscription<Key>

    init(subscribing subscribe: @escaping @Sendable () -> Subscription<Key>) {
        first = Guarded(subscribe())
        self.subscribe = subscribe
    }

    /// Begins to iterate: from the moment on at which the events were asked for if it is the first time, and from now on
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
    /// What happens from now on, as it happens.
    ///
    /// An observer that is slow loses the oldest events, is told how many, and never slows the debouncer. Without
    /// observers this costs nothing; with one, some hundred nanoseconds an event.
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
