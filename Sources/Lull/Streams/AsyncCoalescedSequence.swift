/// The elements of another asynchronous sequence, debounced or throttled: what `debounced(for:)` and
/// `throttled(every:)` return.
///
/// The upstream is read all the time, from the first `next()` on, not only when the consumer asks: an element counts
/// from the moment at which it arrives. While the consumer is busy, at most one more element (of each key) waits for
/// it, the newest; memory does not grow. When the upstream ends or throws, what is pending is delivered first. Leaving
/// the loop, or cancelling its task, ends everything at once, whether the upstream reacts to cancellation or not; a
/// cancellation in the body of the loop counts from the next `next()`.
///
/// Each iteration reads the upstream again. An iterator costs a task that reads, an element costs a submit, and a
/// delivery costs an execution. See <doc:Sequences>.
public struct AsyncCoalescedSequence<Base: AsyncSequence & Sendable, Element: Sendable>: AsyncSequence, Sendable
where Base.Element: Sendable {
    /// The error that the upstream throws.
    public typealias Failure = Base.Failure

    @usableFromInline typealias MakeStage = @Sendable (Handover<Element, Failure>) -> Stage

    private let dropsAtEnd: Bool
    private let isDuplicate: (@Sendable (Element, Element) -> Bool)?
    private let makeStage: MakeStage

    /// - Parameter makeStage: A closure that is specialised for the user's types, and so is what it makes.
    @usableFromInline
    init(
        droppingAtEnd dropsAtEnd: Bool, removingDuplicates isDuplicate: (@Sendable (Element, Element) -> Bool)? = nil,
        _ makeStage: @escaping MakeStage
    ) {
        self.dropsAtEnd = dropsAtEnd
        self.isDuplicate = isDuplicate
        self.makeStage = makeStage
    }

    /// Begins an iteration. The upstream is read from the first `next()` on.
    public func makeAsyncIterator() -> Iterator {
        Iterator(self)
    }

    /// The iterator of an ``AsyncCoalescedSequence``.
    public struct Iterator: AsyncIteratorProtocol {
        private let sequence: AsyncCoalescedSequence
        private var reading: Reading?
        /// The element that was delivered last, if duplicates are removed.
        private var latest: Element?

        init(_ sequence: AsyncCoalescedSequence) {
            self.sequence = sequence
        }

        /// Returns the next element, or nil when the upstream has ended and everything has been delivered, or when the
        /// task was cancelled.
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

        /// Returns the next element, or nil at the end.
        public mutating func next() async throws(Failure) -> Element? {
            try await next(isolation: nil)
        }
    }

    /// The task that reads the upstream; ends when it is released.
    private final class Reading: Sendable {
        private let handover = Handover<Element, Failure>()
        private let stage: Stage
        private let task: Task<Void, any Error>

        init(_ sequence: AsyncCoalescedSequence) {
            let handover = handover
            let stage = sequence.makeStage(handover)
            self.stage = stage
            let observer = stage.observer
            let work = TrackedWork { "the reader of a sequence" }
            observer?.began(work)
            // A tracking clock sees the reader only while it is busy with an element.
            observer?.slept(work)
            task = launch(work, observer, on: nil) {
                let ending = await stage.read()
                // Where the consumer has gone, `abandon` ends everything, and the wait in `finish` is cut short.
                if !Task.isCancelled { await stage.finish(sequence.dropsAtEnd) }
                if !Task.isCancelled { handover.end(ending) }
                observer?.ended(work)
            }
        }

        nonisolated(nonsending) func next() async throws(Failure) -> Element? {
            let observer = stage.observer.flatMap { TrackedWork.isHandling ? nil : $0 }
            observer?.began(stage.wait)
            defer { observer?.ended(stage.wait) }
            let answer = await withTaskCancellationHandler {
                await handover.next()
            } onCancel: {
                abandon()
            }
            return try answer.get()
        }

        /// Ends everything. When the consumer gets its nil, what was pending has been dropped, and submits are
        /// rejected. The task is cancelled first: once nothing is pending, nothing else holds its reading up, and only
        /// a request after the cancellation tells the upstream.
        private func abandon() {
            task.cancel()
            stage.abandon()
            handover.abandon()
        }

        deinit {
            abandon()
        }
    }
}

@available(*, unavailable)
extension AsyncCoalescedSequence.Iterator: Sendable {}
