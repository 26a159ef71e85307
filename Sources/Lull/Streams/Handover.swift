/// The meeting point of a sequence's executions and its consumer.
///
/// An execution delivers its element and lasts until the consumer asks for the next one. A value that falls due while the consumer
/// is busy therefore waits as it does for any handler: at most one element (of each key), the newest (<doc:Semantics>, section 7).
///
/// This is the driver of ``HandoverState``: it resumes continuations without the lock.
@usableFromInline
final class Handover<Element: Sendable, Failure: Error>: @unchecked Sendable {
    /// The result that a consumer gets: an element, nil at the end, or an error.
    @usableFromInline typealias Delivery = Swift.Result<Element?, Failure>

    // Proof of @unchecked Sendable: the fields are only touched while `lock` is held. Proof of the unchecked continuations, which
    // cost less for each element than checked ones (`make bench ROWS=stream`): each is
    // taken out of its field under the lock by the one caller that resumes it, and `abandon` takes out all of them.
    private let lock = Lock()
    private var state = HandoverState<Element, Failure>()
    /// The reader of the upstream, while it waits for a delivery.
    private var reader: UnsafeContinuation<Void, Never>?
    private var deliveries = 0

    // MARK: - For the consumer

    /// Returns the next delivery. For one consumer at a time.
    nonisolated(nonsending) func next() async -> Delivery {
        await withUnsafeContinuation { (consumer: UnsafeContinuation<Delivery, Never>) in
            let (execution, delivery) = lock.withLock { state.request(consumer) }
            execution?.resume()
            if let delivery { consumer.resume(returning: delivery) }
        }
    }

    /// Ends everything: the consumer was cancelled, or has left its loop.
    func abandon() {
        let (consumer, execution, reader) = lock.withLock {
            let (consumer, execution) = state.abandon()
            return (consumer, execution, self.reader.take())
        }
        consumer?.resume(returning: .success(nil))
        execution?.resume()
        reader?.resume()
    }

    // MARK: - For executions

    /// Delivers an element, and returns when the consumer asks for the next one.
    @usableFromInline
    nonisolated(nonsending) func deliver(_ element: Element) async {
        await withUnsafeContinuation { (execution: UnsafeContinuation<Void, Never>) in
            let (delivery, reader) = lock.withLock {
                deliveries += 1
                return (state.deliver(element, execution), self.reader.take())
            }
            switch delivery {
            case .offered: break
            case .delivered(let consumer): consumer.resume(returning: .success(element))
            case .abandoned: execution.resume()
            }
            reader?.resume()
        }
    }

    // MARK: - For the reader of the upstream

    /// The number of deliveries so far.
    @usableFromInline
    var count: Int { lock.withLock { deliveries } }

    /// Waits until there have been more deliveries than `count`, or the consumer was cancelled or released.
    @usableFromInline
    nonisolated(nonsending) func delivery(after count: Int) async {
        await withUnsafeContinuation { (reader: UnsafeContinuation<Void, Never>) in
            let waits = lock.withLock { () -> Bool in
                guard deliveries <= count, !state.isOver else { return false }
                self.reader = reader
                return true
            }
            if !waits { reader.resume() }
        }
    }

    /// Delivers the end of the upstream, after all executions have ended.
    func end(_ end: Delivery) {
        lock.withLock { state.end(end) }?.resume(returning: end)
    }
}
