internal import LullCore

/// The newest events, for one observer.
///
/// Events are added while the runtime's lock is held. Adding therefore takes the same short time whatever the limit is,
/// and releases no key: a key's `deinit` may call the debouncer.
final class EventBuffer<Key: Sendable>: @unchecked Sendable {
    // Proof of @unchecked Sendable: everything that changes is only touched while `lock` is held.
    let lock = Lock()
    let limit: Int
    var events: Chunks<Event<Key>>
    var lost = 0
    var consumer: UnsafeContinuation<Event<Key>?, Never>?
    private var isOver = false

    init(limit: Int) {
        self.limit = limit
        events = Chunks(for: limit)
    }

    /// Adds an event, and drops the oldest one if there are too many. The caller calls ``wake()`` later, without the
    /// lock.
    func add(_ event: Event<Key>) {
        lock.withLock {
            events.append(event)
            if events.count > limit {
                events.removeFirst()
                lost += 1
            }
        }
    }

    /// Delivers the next event if the observer waits for one, and releases what was dropped. Called without the
    /// runtime's lock.
    func wake() {
        let isNeeded = lock.withLock { consumer != nil || !events.usedUp.isEmpty }
        if isNeeded { deliver() }
    }

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

    /// Ends the observer's iteration after the events that are there.
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

    /// Returns the next event; nil at the end, or when the task was cancelled.
    nonisolated(nonsending) func next() async -> Event<Key>? {
        await withTaskCancellationHandler {
            // Proof of the unchecked continuation: only the caller that takes it out under the lock resumes it.
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
