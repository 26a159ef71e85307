/// Where the executions of a debounced sequence meet its consumer.
///
/// An execution hands its value over and lasts until the consumer asks for the next one. So what falls due while the
/// consumer is busy waits as it does for any handler: at most one value, or one a key, the newest (semantics, section
/// 7).
@usableFromInline
final class Handover<Element: Sendable, Failure: Error>: @unchecked Sendable {
    /// What a consumer is told.
    @usableFromInline typealias Answer = Swift.Result<Element?, Failure>

    private struct State {
        /// The consumer, waiting for a value.
        var consumer: UnsafeContinuation<Answer, Never>?
        /// The execution whose value the consumer has, waiting for him to ask again.
        var lent: UnsafeContinuation<Void, Never>?
        /// A value that came while no consumer was waiting, and its execution.
        var offered: (Element, UnsafeContinuation<Void, Never>)?
        /// How it all ended, until the consumer has been told.
        var ending: Answer?
        /// Whether the consumer has been told, or has gone.
        var isOver = false
        /// The number of values handed over or offered.
        var hands = 0
        /// The reader of the upstream, waiting for a value to be handed over.
        var reader: UnsafeContinuation<Void, Never>?
    }

    // Proof of @unchecked Sendable: `state` is only touched while `lock` is held. Proof of the unchecked continuations:
    // each is taken out of the state, under the lock, by whoever resumes it, and everything that ends takes out all of
    // them.
    private let lock = Lock()
    private var state = State()

    /// The consumer asks for the next value. Called by one consumer at a time.
    nonisolated(nonsending) func next() async -> Answer {
        await withUnsafeContinuation { (continuation: UnsafeContinuation<Answer, Never>) in
            let (lent, answer) = lock.withLock { () -> (UnsafeContinuation<Void, Never>?, Answer?) in
                let lent = state.lent.take()
                return (lent, self.answer(to: continuation))
            }
            lent?.resume()
            if let answer { continuation.resume(returning: answer) }
        }
    }

    /// What can be said at once; otherwise the consumer waits. Called with the lock held.
    private func answer(to consumer: UnsafeContinuation<Answer, Never>) -> Answer? {
        if state.isOver { return .success(nil) }
        if let (element, execution) = state.offered.take() {
            state.lent = execution
            return .success(element)
        }
        if let ending = state.ending.take() {
            state.isOver = true
            return ending
        }
        state.consumer = consumer
        return nil
    }

    /// An execution hands its value over, and lasts until the consumer asks for the next one.
    @usableFromInline
    nonisolated(nonsending) func hand(_ element: Element) async {
        await withUnsafeContinuation { (execution: UnsafeContinuation<Void, Never>) in
            let (consumer, reader, isOver) = lock.withLock {
                () -> (UnsafeContinuation<Answer, Never>?, UnsafeContinuation<Void, Never>?, Bool) in
                guard !state.isOver else { return (nil, nil, true) }
                state.hands += 1
                if let consumer = state.consumer.take() {
                    state.lent = execution
                    return (consumer, state.reader.take(), false)
                }
                state.offered = (element, execution)
                return (nil, state.reader.take(), false)
            }
            consumer?.resume(returning: .success(element))
            reader?.resume()
            if isOver { execution.resume() }
        }
    }

    /// The number of values handed over or offered so far.
    @usableFromInline
    var hands: Int { lock.withLock { state.hands } }

    /// Waits until more values than that have been handed over, or everything is over.
    @usableFromInline
    nonisolated(nonsending) func handed(after hands: Int) async {
        await withUnsafeContinuation { (reader: UnsafeContinuation<Void, Never>) in
            let isThere = lock.withLock { () -> Bool in
                if state.hands > hands || state.isOver { return true }
                state.reader = reader
                return false
            }
            if isThere { reader.resume() }
        }
    }

    /// Nothing comes any more: the consumer is told so, after what he has not yet got.
    func end(_ ending: Answer) {
        let consumer = lock.withLock { () -> UnsafeContinuation<Answer, Never>? in
            guard !state.isOver else { return nil }
            guard let consumer = state.consumer.take() else {
                state.ending = ending
                return nil
            }
            state.isOver = true
            return consumer
        }
        consumer?.resume(returning: ending)
    }

    /// The consumer has gone or was cancelled: nobody waits any longer.
    func abandon() {
        let old = lock.withLock { () -> State in
            let old = state
            state = State()
            state.isOver = true
            return old
        }
        old.consumer?.resume(returning: .success(nil))
        old.lent?.resume()
        old.offered?.1.resume()
        old.reader?.resume()
    }
}
