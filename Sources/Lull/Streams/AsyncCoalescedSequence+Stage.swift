extension AsyncCoalescedSequence {
    /// A debouncer or throttler between an upstream and a consumer.
    ///
    /// Everything on an element's way is inlined into the user's module and specialised there. Unspecialised, an
    /// element took five times as long as in a loop over the upstream alone; specialised it takes 1.2 times as long
    /// (`make bench ROWS=stream`). It is in no other place: inlinable, a copy of it would be in each program that has
    /// no sequence, 33 kB (`make bench ROWS=building`).
    @usableFromInline
    struct Stage: Sendable {
        @usableFromInline typealias Delivery = Handover<Element, Failure>.Delivery

        /// Submits the elements of the upstream as they come, and returns how it ended.
        let read: @Sendable () async -> Delivery
        /// Delivers what is pending, or drops it, and returns when the consumer has asked for the next element.
        let finish: @Sendable (_ dropping: Bool) async -> Void
        /// Drops everything.
        let abandon: @Sendable () -> Void
        /// Tracks when elements are read, for a clock that does.
        let observer: (any WorkObserver)?
        /// Describes a consumer that waits for the next element.
        let wait: WaitingCall

        @usableFromInline
        init<Key, Value, Output>(
            _ coalescer: Coalescer<Key, Value, Output>, read: @escaping @Sendable () async -> Delivery
        ) {
            self.read = read
            finish = { dropping in await coalescer.shutDownAndWait(droppingPending: dropping) }
            abandon = { coalescer.shutDown(droppingPending: true) }
            observer = coalescer.runtime.workObserver
            wait = coalescer.runtime.wait(in: "the next element", isOpen: true)
        }

        /// - Parameters:
        ///   - limit: While this many elements are held, the upstream is held up: they are pending or wait for the
        ///     consumer.
        ///   - collects: Whether `maxCount` bounds what is pending for each key. Then only what is due and waits for
        ///     the consumer counts as held: other keys must not delay the reading of an element.
        @_alwaysEmitIntoClient
        init<Key, Output>(
            _ base: Base, _ coalescer: Coalescer<Key, Base.Element, Output>, limit: Int?, collects: Bool = false,
            _ handover: Handover<Element, Failure>, submit: @escaping @Sendable (Base.Element) -> Void
        ) {
            let runtime = coalescer.runtime
            self.init(coalescer) {
                await base.read(handover, limit: limit, submit: submit) { runtime.pendingSubmits(onlyDue: collects) }
            }
        }
    }
}

extension AsyncSequence where Self: Sendable, Element: Sendable {
    /// Reads to the end, or until the consumer has gone. Then an upstream that reacts to cancellation learns of it from
    /// a last request, if it was not being asked when the task was cancelled; one that does not react is not asked
    /// again after that.
    ///
    /// While `limit` elements are held, the element that was read waits here: its place is after them, and an end that
    /// comes in its place does not wait.
    @_alwaysEmitIntoClient
    func read<Delivered>(
        _ handover: Handover<Delivered, Failure>, limit: Int?, submit: (Element) -> Void, held: () -> Int
    ) async -> Handover<Delivered, Failure>.Delivery {
        var iterator = makeAsyncIterator()
        var isLast = false
        do throws(Failure) {
            while let element = try await iterator.next(isolation: nil), !isLast {
                if let limit, held() >= limit {
                    var count = handover.count
                    while held() >= limit, !Task.isCancelled {
                        await handover.delivery(after: count)
                        count = handover.count
                    }
                }
                isLast = Task.isCancelled
                if !isLast { submit(element) }
            }
            return .success(nil)
        } catch {
            return .failure(error)
        }
    }
}
