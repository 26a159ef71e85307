/// The elements of another sequence, debounced or throttled.
///
/// An element counts from the moment at which it arrives: the upstream is read all the time, from the first `next()`
/// on, not only when the consumer asks. While the consumer is busy with an element, at most one more waits for him (of
/// each key), the newest; memory does not grow. When the upstream ends or throws, what is pending is delivered first.
/// Cancelling the consuming task, or leaving its loop, ends everything at once.
///
/// Iterating it a second time reads the upstream a second time. An iterator costs a task that reads, an element a
/// submit, a delivery what an execution costs. More is in <doc:Sequences>.
public struct AsyncCoalescedSequence<Base: AsyncSequence & Sendable, Element: Sendable>: AsyncSequence, Sendable
where Base.Element: Sendable {
    /// What the upstream throws.
    public typealias Failure = Base.Failure

    /// What reads the upstream is given: a debouncer or a throttler in front of a consumer.
    struct Stage: Sendable {
        /// Offers an element.
        let submit: @Sendable (Base.Element) -> Void
        /// The number of elements that count towards the limit: those that are pending or waiting, or only the latter.
        let held: @Sendable () -> Int
        /// Delivers what is pending, or drops it, and returns when the consumer has asked for more.
        let finish: @Sendable (_ dropping: Bool) async -> Void
        /// Drops everything.
        let abandon: @Sendable () -> Void
        /// Who wants to know when elements are being read.
        let observer: (any WorkObserver)?
    }

    let base: Base
    let dropsAtEnd: Bool
    /// The upstream is not read while that many elements are held.
    let limit: Int?
    let makeStage: @Sendable (Handover<Element, Failure>) -> Stage

    /// Begins to iterate; the upstream is read from the first `next()` on.
    public func makeAsyncIterator() -> Iterator {
        Iterator(self)
    }

    /// The iterator of an ``AsyncCoalescedSequence``.
    public struct Iterator: AsyncIteratorProtocol {
        private let sequence: AsyncCoalescedSequence
        private var reading: Reading?

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
            return try await reading.next()
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
            let work = Work(owner: ObjectIdentifier(handover)) { "the reader of a sequence" }
            observer?.began(work)
            // Reading is waiting: whoever keeps track of it sees it only while it is busy with an element.
            observer?.slept(work)
            task = launch(work, observer, on: nil) {
                let ending = await sequence.read(into: stage, handover)
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

    /// Submits the elements of the upstream as they come.
    private func read(
        into stage: Stage, _ handover: Handover<Element, Failure>
    ) async -> Handover<Element, Failure>.Answer {
        var iterator = base.makeAsyncIterator()
        do throws(Failure) {
            while let element = try await iterator.next(isolation: nil) {
                stage.submit(element)
                guard let limit else { continue }
                var hands = handover.hands
                while stage.held() >= limit, !Task.isCancelled {
                    await handover.handed(after: hands)
                    hands = handover.hands
                }
            }
            return .success(nil)
        } catch {
            return .failure(error)
        }
    }
}

@available(*, unavailable)
extension AsyncCoalescedSequence.Iterator: Sendable {}

extension AsyncCoalescedSequence.Stage {
    /// A stage in front of a debouncer or throttler without keys.
    init<C: SoleCoalescer<Base.Element, Void>>(_ coalescer: C) {
        self.init(coalescer, held: { coalescer.counters.pending }) { coalescer.submit($0) }
    }

    /// A stage in front of a debouncer or throttler with keys.
    ///
    /// - Parameter collects: Whether what is pending is bounded for each key, by `maxCount`. Then only what is due and
    ///   waits for the consumer counts as held: other keys must not keep an element from being read when it arrives.
    init<C: KeyedCoalescer>(_ coalescer: C, by key: @escaping @Sendable (Base.Element) -> C.Key, collects: Bool = false)
    where C.Value == Base.Element, C.Result == Void {
        let runtime = coalescer.runtime
        self.init(
            coalescer,
            held: {
                runtime.lock.withLock {
                    collects ? runtime.engine.waitingCount : runtime.engine.counters.pending
                }
            }
        ) { coalescer.submit($0, for: key($0)) }
    }

    private init(
        _ coalescer: some Coalescer, held: @escaping @Sendable () -> Int,
        submit: @escaping @Sendable (Base.Element) -> Void
    ) {
        self.submit = submit
        self.held = held
        finish = { dropping in await coalescer.shutDownAndWait(dropping: dropping) }
        abandon = { coalescer.shutDown(dropping: true) }
        observer = coalescer.runtime.observer
    }
}
