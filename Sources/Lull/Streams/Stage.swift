extension AsyncCoalescedSequence {
    /// A debouncer or throttler between an upstream and a consumer.
    ///
    /// All that an element comes through is inlined into the user's module, from the call that makes the sequence on:
    /// there its types are known. Compiled for any types, an element took five times as long as in a loop over the upstream
    /// alone, and so it takes 1.2 times as long (`make bench ROWS=stream`).
    @usableFromInline
    struct Stage: Sendable {
        @usableFromInline typealias Answer = Handover<Element, Failure>.Answer

        /// Submits the elements of the upstream as they come, and says how it has ended.
        let read: @Sendable () async -> Answer
        /// Delivers what is pending, or drops it, and returns when the consumer has asked for more.
        let finish: @Sendable (_ dropping: Bool) async -> Void
        /// Drops everything.
        let abandon: @Sendable () -> Void
        /// Who wants to know when elements are being read.
        let observer: (any WorkObserver)?

        @usableFromInline
        init<Key, Value, Output>(
            _ coalescer: Coalescer<Key, Value, Output>, read: @escaping @Sendable () async -> Answer
        ) {
            self.read = read
            finish = { dropping in await coalescer.shutDownAndWait(discardingPending: dropping) }
            abandon = { coalescer.shutDown(discardingPending: true) }
            observer = coalescer.runtime.observer
        }

        /// A stage without keys.
        ///
        /// - Parameter limit: The upstream is not read while that many elements are pending or wait for the consumer.
        @inlinable
        init(
            _ base: Base, _ coalescer: UnkeyedCoalescer<Base.Element, Void>, limit: Int?,
            _ handover: Handover<Element, Failure>
        ) {
            let runtime = coalescer.runtime
            self.init(coalescer) {
                await base.read(handover, limit: limit) {
                    runtime.submit($0, for: NoKey())
                } held: {
                    runtime.lock.withLock { runtime.engine.counters.pending }
                }
            }
        }

        /// A stage with keys.
        ///
        /// - Parameters:
        ///   - limit: The upstream is not read while that many elements are held.
        ///   - collects: Whether what is pending is bounded for each key, by `maxCount`. Then only what is due and waits
        ///     for the consumer counts as held: other keys must not keep an element from being read when it arrives.
        @inlinable
        init<Key>(
            _ base: Base, _ coalescer: KeyedCoalescer<Key, Base.Element, Void>,
            by key: @escaping @Sendable (Base.Element) -> Key, limit: Int?, collects: Bool = false,
            _ handover: Handover<Element, Failure>
        ) {
            let runtime = coalescer.runtime
            self.init(coalescer) {
                await base.read(handover, limit: limit) {
                    runtime.submit($0, for: key($0))
                } held: {
                    runtime.lock.withLock {
                        collects ? runtime.engine.waitingCount : runtime.engine.counters.pending
                    }
                }
            }
        }
    }
}

extension AsyncSequence where Self: Sendable, Element: Sendable {
    /// Reads to the end, waiting for the consumer while `limit` elements are held.
    @inlinable
    func read<Delivered>(
        _ handover: Handover<Delivered, Failure>, limit: Int?, submit: (Element) -> Void, held: () -> Int
    ) async -> Handover<Delivered, Failure>.Answer {
        var iterator = makeAsyncIterator()
        do throws(Failure) {
            while let element = try await iterator.next(isolation: nil) {
                submit(element)
                guard let limit, held() >= limit else { continue }
                var hands = handover.hands
                while held() >= limit, !Task.isCancelled {
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
