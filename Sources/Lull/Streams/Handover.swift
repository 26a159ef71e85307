/// The meeting point of a sequence's executions and its consumer.
///
/// An execution delivers its element and lasts until the consumer asks for the next one. A value that falls due while
/// the consumer is busy therefore waits as it does for any handler: at most one element (of each key), the newest
/// (<doc:Semantics>, section 7).
///
/// This is the driver of ``HandoverState``: it resumes continuations without the lock.
@usableFromInline
final class Handover<Element: Sendable, Failure: Error>: @unchecked Sendable {
    /// The result that a consumer gets: an element, nil at the end, or an error.
    @usableFromInline typealias Delivery = Swift.Result<Element?, Failure>

    // Proof of @unchecked Sendable: the fields are only touched while `lock` is held. Proof of the unchecked
    // continuations, which cost less for each element than checked ones (`make bench ROWS=stream`): each is taken out
    // of its field under the lock by the one caller that resumes it, and `abandon` takes out all of them.
    private let lock = Lock()
    private var state = HandoverState<Element, Failure>.idle
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

/// The state machine of a ``Handover``.
///
///     idle ──request──▶ requested ──deliver──▶ delivered ──request──▶ requested
///       └───deliver───▶ offered ───request───▶ delivered
///     requested ──end──▶ over
///     idle ──end──▶ ended ──request──▶ over
///     any ──abandon──▶ over
///
/// Executions come one after the other, and the upstream's end after the last one.
enum HandoverState<Element: Sendable, Failure: Error> {
    typealias Consumer = UnsafeContinuation<Swift.Result<Element?, Failure>, Never>
    typealias Execution = UnsafeContinuation<Void, Never>

    /// Nothing has happened yet.
    case idle
    /// The consumer waits for an element.
    case requested(Consumer)
    /// An execution waits for the consumer.
    case offered(Element, Execution)
    /// The consumer has the element of an execution, which lasts until it asks for another one.
    case delivered(Execution)
    /// The upstream has ended, and the consumer has not asked since.
    case ended(Swift.Result<Element?, Failure>)
    /// The consumer has got the end, or was cancelled or released.
    case over

    var isOver: Bool {
        if case .over = self { true } else { false }
    }

    /// The consumer asks for an element.
    ///
    /// - Returns: The execution that ends, and what is delivered at once. If that is nil, the consumer waits.
    mutating func request(_ consumer: Consumer) -> (Execution?, Swift.Result<Element?, Failure>?) {
        switch self {
        case .idle:
            self = .requested(consumer)
            return (nil, nil)
        case .delivered(let execution):
            self = .requested(consumer)
            return (execution, nil)
        case .offered(let element, let execution):
            self = .delivered(execution)
            return (nil, .success(element))
        case .ended(let end):
            self = .over
            return (nil, end)
        case .over:
            return (nil, .success(nil))
        case .requested:
            refuse("two tasks wait for the next element of one iterator; let each iterate for itself")
        }
    }

    /// The fate of a delivered element.
    enum DeliveryAction {
        /// The execution waits for the consumer.
        case offered
        /// The consumer gets the element.
        case delivered(Consumer)
        /// There is no consumer any more.
        case abandoned
    }

    /// An execution delivers its element.
    mutating func deliver(_ element: Element, _ execution: Execution) -> DeliveryAction {
        switch self {
        case .idle:
            self = .offered(element, execution)
            return .offered
        case .requested(let consumer):
            self = .delivered(execution)
            return .delivered(consumer)
        case .over:
            return .abandoned
        case .offered, .delivered, .ended:
            preconditionFailure("an execution has begun before the one before it has ended, or after the end")
        }
    }

    /// The upstream has ended, and so have all executions.
    ///
    /// - Returns: The consumer, if it waits.
    mutating func end(_ end: Swift.Result<Element?, Failure>) -> Consumer? {
        switch self {
        case .idle:
            self = .ended(end)
            return nil
        case .requested(let consumer):
            self = .over
            return consumer
        case .over:
            return nil
        case .offered, .delivered, .ended:
            preconditionFailure("the end has come before the last execution has ended, or twice")
        }
    }

    /// The consumer was cancelled or released.
    ///
    /// - Returns: The consumer's continuation and that of the execution that waits for it.
    mutating func abandon() -> (Consumer?, Execution?) {
        defer { self = .over }
        switch self {
        case .idle, .ended, .over: return (nil, nil)
        case .requested(let consumer): return (consumer, nil)
        case .offered(_, let execution), .delivered(let execution): return (nil, execution)
        }
    }
}
