/// The newest events, until an observer takes them.
@usableFromInline
final class EventBuffer<Key: Sendable>: @unchecked Sendable {
    // Proof of @unchecked Sendable: everything that changes is only touched while `lock` is held.
    private let lock = Lock()
    private let limit: Int
    /// What is kept begins at `first`; what lies before is removed now and then, many at once.
    private var events: [Event<Key>] = []
    private var first = 0
    private var lost = 0
    private var consumer: UnsafeContinuation<Event<Key>?, Never>?
    private var isOver = false

    init(limit: Int) {
        self.limit = limit
    }

    /// Keeps an event, and forgets the oldest one if there are too many. Wakes nobody: that is ``wake()``.
    @usableFromInline
    func add(_ event: Event<Key>) {
        lock.withLock {
            events.append(event)
            if events.count - first > limit {
                first += 1
                lost += 1
            }
            if first > limit {
                events.removeFirst(first)
                first = 0
            }
        }
    }

    /// Lets the observer have the next event, if he waits for one.
    @usableFromInline
    func wake() {
        let (waiting, event) = lock.withLock { () -> (UnsafeContinuation<Event<Key>?, Never>?, Event<Key>?) in
            guard consumer != nil else { return (nil, nil) }
            let event = take()
            return event != nil || isOver ? (consumer.take(), event) : (nil, nil)
        }
        waiting?.resume(returning: event)
    }

    /// No event comes any more.
    func end() {
        lock.withLock { isOver = true }
        wake()
    }

    private func take() -> Event<Key>? {
        guard first < events.count else { return nil }
        var event = events[first]
        first += 1
        event.lost = lost
        lost = 0
        return event
    }

    nonisolated(nonsending) func next() async -> Event<Key>? {
        await withTaskCancellationHandler {
            // The continuation is resumed by whoever takes it out under the lock, and nobody else.
            await withUnsafeContinuation { (continuation: UnsafeContinuation<Event<Key>?, Never>) in
                let answer = lock.withLock { () -> Event<Key>?? in
                    if let event = take() { return .some(event) }
                    if isOver || Task.isCancelled { return .some(nil) }
                    consumer = continuation
                    return .none
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            lock.withLock { consumer.take() }?.resume(returning: nil)
        }
    }
}
