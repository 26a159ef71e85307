/// The newest events, until an observer takes them.
///
/// Events are added while the debouncer's lock is held. So that takes the same short time whatever the limit is, and
/// releases no key: a key's `deinit` may call the debouncer.
@usableFromInline
final class EventBuffer<Key: Sendable>: @unchecked Sendable {
    // Proof of @unchecked Sendable: everything that changes is only touched while `lock` is held.
    @usableFromInline let lock = Lock()
    @usableFromInline let limit: Int
    @usableFromInline var events: Chunks<Event<Key>>
    @usableFromInline var lost = 0
    @usableFromInline var consumer: UnsafeContinuation<Event<Key>?, Never>?
    private var isOver = false

    init(limit: Int) {
        self.limit = limit
        events = Chunks(for: limit)
    }

    /// Keeps an event, and forgets the oldest one if there are too many. Wakes nobody, and releases nothing: that is
    /// ``wake()``. Inlined into the user's module, as what calls it is: unspecialised, an event took eight times as long.
    @inlinable
    func add(_ event: Event<Key>) {
        lock.withLock {
            events.append(event)
            if events.count > limit {
                events.removeFirst()
                lost += 1
            }
        }
    }

    /// Lets the observer have the next event, if it waits for one, and releases what has been forgotten. Called without
    /// the debouncer's lock.
    @inlinable
    func wake() {
        let isNeeded = lock.withLock { consumer != nil || !events.usedUp.isEmpty }
        if isNeeded { deliver() }
    }

    @usableFromInline
    func deliver() {
        let (waiting, event, released) = lock.withLock {
            () -> (UnsafeContinuation<Event<Key>?, Never>?, Event<Key>?, [[Event<Key>]]) in
            guard consumer != nil else { return (nil, nil, events.takeUsedUp()) }
            let event = take()
            let waiting = event != nil || isOver ? consumer.take() : nil
            return (waiting, event, events.takeUsedUp())
        }
        waiting?.resume(returning: event)
        withExtendedLifetime(released) {}
    }

    /// No event comes any more.
    func end() {
        lock.withLock { isOver = true }
        wake()
    }

    private func take() -> Event<Key>? {
        guard var event = events.first else { return nil }
        events.removeFirst()
        event.lost = lost
        lost = 0
        return event
    }

    /// The next event; nil when there are none any more, or the task was cancelled.
    nonisolated(nonsending) func next() async -> Event<Key>? {
        await withTaskCancellationHandler {
            // The continuation is resumed by whoever takes it out under the lock, and by nobody else.
            await withUnsafeContinuation { (continuation: UnsafeContinuation<Event<Key>?, Never>) in
                let (answer, released) = lock.withLock { () -> (Event<Key>??, [[Event<Key>]]) in
                    require(
                        consumer == nil,
                        "two tasks wait for the next event of one iterator; let each iterate for itself")
                    if Task.isCancelled { return (.some(nil), []) }
                    if let event = take() { return (.some(event), events.takeUsedUp()) }
                    if isOver { return (.some(nil), []) }
                    consumer = continuation
                    return (.none, [])
                }
                if let answer { continuation.resume(returning: answer) }
                withExtendedLifetime(released) {}
            }
        } onCancel: {
            lock.withLock { consumer.take() }?.resume(returning: nil)
        }
    }
}
