public import LullCore

extension AsyncSequence where Self: Sendable, Element: Sendable {
    /// Delivers the newest element, at most one per interval (<doc:Semantics>, section 4).
    ///
    /// ```swift
    /// for await position in positions.throttled(every: .seconds(1)) { await show(position) }
    /// ```
    ///
    /// The upstream is read all the time, not only when the consumer asks (<doc:Sequences>). The program stops with a
    /// message if a setting breaks a rule (<doc:Semantics>, section 10).
    ///
    /// - Parameters:
    ///   - interval: The length of a window.
    ///   - edges: Whether a window delivers an element at its beginning, at its end, or both.
    ///   - maxCount: As soon as this many elements are pending, they are due; only with the trailing edge.
    ///   - combining: How the elements of one delivery become the one that is delivered. With `merge`, the upstream is
    ///     held up while 1,024 elements wait to be merged.
    ///   - removingDuplicates: Whether two elements are the same: an element that is the same as the one delivered last
    ///     is not delivered. For `Equatable` elements, give `{ $0 == $1 }`.
    ///   - droppingAtEnd: Whether elements that are pending when the upstream ends or throws are dropped instead of
    ///     delivered.
    ///   - limit: How often elements are delivered, of all keys together. What may not be delivered yet waits, and
    ///     newer elements of its key join it (<doc:Semantics>, section 7). Nil for no limit.
    ///   - clock: Measures the waits. For tests, `LullTesting` has `ManualClock` (<doc:Testing>).
    ///   - tolerance: How much later than due an element may be delivered, so that one wake-up of the processor serves
    ///     several; never earlier. Zero or more.
    ///   - fileID: The file that a message about a wrong setting names; leave it out.
    ///   - line: The line that this message names; leave it out.
    @_alwaysEmitIntoClient
    public func throttled(
        every interval: Duration, edges: Edges = [.leading, .trailing], maxCount: Int? = nil,
        combining: Combination<Element> = .latest,
        removingDuplicates: (@Sendable (Element, Element) -> Bool)? = nil, droppingAtEnd: Bool = false,
        limit: RateLimit? = nil,
        clock: any Clock<Duration> = ContinuousClock(), tolerance: Duration = .zero,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> AsyncCoalescedSequence<Self, Element> {
        AsyncCoalescedSequence(droppingAtEnd: droppingAtEnd, removingDuplicates: removingDuplicates) { handover in
            let throttler = Throttler(
                every: interval, edges: edges, maxCount: maxCount, combining: combining,
                options: .init(limit: limit, atEnd: .drop, tolerance: tolerance),
                clock: clock, fileID: fileID, line: line
            ) { (element: Element) in
                await handover.deliver(element)
            }
            return .init(self, throttler, limit: combining.limit, handover) { throttler.submit($0) }
        }
    }

    /// Delivers, for each key, the newest element, at most one per interval.
    ///
    /// Elements with the same `key` are coalesced. Keys take turns, in order of their due instants. The other
    /// parameters are those of the form without keys. Duplicates cannot be removed here: the last element of each key
    /// would be kept forever.
    @_alwaysEmitIntoClient
    public func throttled<Key: Hashable & Sendable>(
        every interval: Duration, by key: @escaping @Sendable (Element) -> Key, edges: Edges = [.leading, .trailing],
        maxCount: Int? = nil, combining: Combination<Element> = .latest, droppingAtEnd: Bool = false,
        limit: RateLimit? = nil,
        clock: any Clock<Duration> = ContinuousClock(), tolerance: Duration = .zero,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> AsyncCoalescedSequence<Self, Element> {
        AsyncCoalescedSequence(droppingAtEnd: droppingAtEnd) { handover in
            let throttler = KeyedThrottler(
                every: interval, edges: edges, maxCount: maxCount, combining: combining,
                options: .init(maxConcurrent: 1, limit: limit, atEnd: .drop, tolerance: tolerance),
                clock: clock, fileID: fileID, line: line
            ) { (_: Key, element: Element) in
                await handover.deliver(element)
            }
            return .init(self, throttler, limit: combining.limit, handover) { throttler.submit($0, for: key($0)) }
        }
    }

    /// Delivers all elements of a window as an array, in order.
    ///
    /// As soon as there are `maxCount` elements, they are due. While the consumer is busy, no more than that are kept:
    /// the upstream is held up meanwhile. The other parameters are those of the form without `collecting`.
    @_alwaysEmitIntoClient
    public func throttled(
        collectingEvery interval: Duration, edges: Edges = [.leading, .trailing], maxCount: Int,
        droppingAtEnd: Bool = false, limit: RateLimit? = nil, clock: any Clock<Duration> = ContinuousClock(),
        tolerance: Duration = .zero,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> AsyncCoalescedSequence<Self, [Element]> {
        AsyncCoalescedSequence(droppingAtEnd: droppingAtEnd) { handover in
            let throttler = Throttler(
                collectingEvery: interval, edges: edges, maxCount: maxCount,
                options: .init(limit: limit, atEnd: .drop, tolerance: tolerance), clock: clock, fileID: fileID,
                line: line
            ) {
                (elements: [Element]) in
                await handover.deliver(elements)
            }
            return .init(self, throttler, limit: maxCount, handover) { throttler.submit($0) }
        }
    }

    /// Delivers, for each key, all elements of a window as an array, in order.
    ///
    /// As soon as a key has `maxCount` elements, they are due. While that many, of all keys together, are due and wait
    /// for the consumer, the upstream is held up. A delivery has `maxCount` elements at most. The other parameters are
    /// those of the other forms.
    @_alwaysEmitIntoClient
    public func throttled<Key: Hashable & Sendable>(
        collectingEvery interval: Duration, by key: @escaping @Sendable (Element) -> Key,
        edges: Edges = [.leading, .trailing], maxCount: Int, droppingAtEnd: Bool = false, limit: RateLimit? = nil,
        clock: any Clock<Duration> = ContinuousClock(), tolerance: Duration = .zero,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> AsyncCoalescedSequence<Self, [Element]> {
        AsyncCoalescedSequence(droppingAtEnd: droppingAtEnd) { handover in
            let throttler = KeyedThrottler(
                collectingEvery: interval, edges: edges, maxCount: maxCount,
                options: .init(maxBatch: maxCount, maxConcurrent: 1, limit: limit, atEnd: .drop, tolerance: tolerance),
                clock: clock, fileID: fileID, line: line
            ) { (_: Key, elements: [Element]) in
                await handover.deliver(elements)
            }
            return .init(self, throttler, limit: maxCount, collects: true, handover) {
                throttler.submit($0, for: key($0))
            }
        }
    }
}
