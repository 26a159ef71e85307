/// The elements of another asynchronous sequence, debounced or throttled: what `debounced(for:)` and
/// `throttled(every:)` return.
///
/// An element counts from the moment at which it arrives: the upstream is read all the time, from the first `next()`
/// on, not only when the consumer asks. While the consumer is busy with an element, at most one more waits for it (of
/// each key), the newest; memory does not grow. When the upstream ends or throws, what is pending is delivered first.
/// Cancelling the consuming task, or leaving its loop, ends everything at once.
///
/// Iterating it a second time reads the upstream a second time. An iterator costs a task that reads, an element a
/// submit, a delivery what an execution costs. More is in <doc:Sequences>.
public struct AsyncCoalescedSequence<Base: AsyncSequence & Sendable, Element: Sendable>: AsyncSequence, Sendable
where Base.Element: Sendable {
    /// What the upstream throws.
    public typealias Failure = Base.Failure

    @usableFromInline typealias MakeStage = @Sendable (Handover<Element, Failure>) -> Stage

    private let dropsAtEnd: Bool
    private let isDuplicate: (@Sendable (Element, Element) -> Bool)?
    private let makeStage: MakeStage

    /// - Parameter makeStage: Made where elements and keys are of the user's types: what it makes is specialised for them.
    @usableFromInline
    init(
        droppingAtEnd dropsAtEnd: Bool, removingDuplicates isDuplicate: (@Sendable (Element, Element) -> Bool)? = nil,
        _ makeStage: @escaping MakeStage
    ) {
        self.dropsAtEnd = dropsAtEnd
        self.isDuplicate = isDuplicate
        self.makeStage = makeStage
    }

    /// Begins to iterate; the upstream is read from the first `next()` on.
    public func makeAsyncIterator() -> Iterator {
        Iterator(self)
    }

    /// The iterator of an ``AsyncCoalescedSequence``.
    public struct Iterator: AsyncIteratorProtocol {
        private let sequence: AsyncCoalescedSequence
        private var reading: Reading?
        /// What was delivered last, where duplicates of it are removed.
        private var latest: Element?

        init(_ sequence: AsyncCoalescedSequence) {
            self.sequence = sequence
        }

        /// The next element, or nil when the upstream has ended and everything has been delivered, or the task was
        /// cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(Failure) -> Element? {
            let reading = reading ?? Reading(sequence)
            self.reading = reading
            guard let isDuplicate = sequence.isDuplicate else { return try await reading.next() }
            while let element = try await reading.next() {
                if let latest, isDuplicate(latest, element) { continue }
                latest = element
                return element
            }
            return nil
        }

        /// The next element, or nil when there is none any more.
        public mutating func next() async throws(Failure) -> Element? {
            try await next(isolation: nil)
        }
    }

    /// The reading of the upstream: ends when nobody holds it any more.
    private final class Reading: Sendable {
        private let handover = Handover<Element, Failure>()
        private let stage: Stage
        private let task: Task<Void, any Error>

        init(_ sequence: AsyncCoalescedSequence) {
            let handover = handover
            let stage = sequence.makeStage(handover)
            self.stage = stage
            let observer = stage.observer
            let work = Work { "the reader of a sequence" }
            observer?.began(work)
            // Reading is waiting: whoever keeps track of it sees it only while it is busy with an element.
            observer?.slept(work)
            task = launch(work, observer, on: nil) {
                let ending = await stage.read()
                await stage.finish(sequence.dropsAtEnd)
                handover.end(ending)
                observer?.ended(work)
            }
        }

        nonisolated(nonsending) func next() async throws(Failure) -> Element? {
            let answer = await withTaskCancellationHandler {
                await handover.next()
            } onCancel: {
                abandon()
            }
            return try answer.get()
        }

        private func abandon() {
            handover.abandon()
            stage.abandon()
            task.cancel()
        }

        deinit {
            abandon()
        }
    }
}

@available(*, unavailable)
extension AsyncCoalescedSequence.Iterator: Sendable {}
