public import LullCore

extension AsyncSequence where Self: Sendable, Element: Sendable {
    /// Delivers at most one element an interval, the newest (<doc:Semantics>, section 4).
    ///
    /// ```swift
    /// for await position in positions.throttled(every: .seconds(1)) { await show(position) }
    /// ```
    ///
    /// The upstream is read all the time, not only when the consumer asks; what that means is in <doc:Sequences>. The
    /// program stops with a message if a setting breaks a rule (<doc:Semantics>, section 10).
    ///
    /// - Parameters:
    ///   - interval: The length of a window.
    ///   - edges: Whether a window delivers at its beginning, at its end, or at both.
    ///   - maxCount: This many elements fall due at once; only with the trailing edge.
    ///   - combining: How the elements behind one delivery become the one that is delivered. With `merge`, the upstream
    ///     is not read while 1,024 elements wait to be merged.
    ///   - removingDuplicates: Whether two elements are the same: what would be delivered is left out if it is the same as
    ///     what was delivered last. For elements that are `Equatable`, give `{ $0 == $1 }`.
    ///   - droppingAtEnd: Whether what is pending when the upstream ends or throws is dropped instead of delivered.
    ///   - clock: Measures the waits; a test gives the `ManualClock` of `LullTesting` (<doc:Testing>).
    ///   - tolerance: How much later than due an element may come, so that several wake-ups of the processor become
    ///     one; never earlier. Zero or more.
    @inlinable
    public func throttled(
        every interval: Duration, edges: Edges = [.leading, .trailing], maxCount: Int? = nil,
        combining: Combining<Element> = .latest,
        removingDuplicates: (@Sendable (Element, Element) -> Bool)? = nil, droppingAtEnd: Bool = false,
        clock: any Clock<Duration> = ContinuousClock(), tolerance: Duration = .zero
    ) -> AsyncCoalescedSequence<Self, Element> {
        AsyncCoalescedSequence(droppingAtEnd: droppingAtEnd, removingDuplicates: removingDuplicates) { handover in
            let throttler = Throttler(
                every: interval, edges: edges, combining: combining,
                options: .init(maxCount: maxCount, atEnd: .drop, tolerance: tolerance),
                clock: clock
            ) { (element: Element) in
                await handover.hand(element)
            }
            return .init(self, throttler, limit: combining.limit, handover)
        }
    }

    /// Delivers, for each key, at most one element an interval, the newest.
    ///
    /// The function `key` says which elements belong together. Keys take turns with the consumer, in order of due
    /// instants. The other parameters are those of the form without keys, which alone can remove duplicates: with keys, the last
    /// element of each would be kept for ever.
    @inlinable
    public func throttled<Key: Hashable & Sendable>(
        every interval: Duration, by key: @escaping @Sendable (Element) -> Key, edges: Edges = [.leading, .trailing],
        maxCount: Int? = nil, combining: Combining<Element> = .latest, droppingAtEnd: Bool = false,
        clock: any Clock<Duration> = ContinuousClock(), tolerance: Duration = .zero
    ) -> AsyncCoalescedSequence<Self, Element> {
        AsyncCoalescedSequence(droppingAtEnd: droppingAtEnd) { handover in
            let throttler = KeyedThrottler(
                every: interval, edges: edges, combining: combining,
                options: .init(maxCount: maxCount, maxConcurrent: 1, atEnd: .drop, tolerance: tolerance),
                clock: clock
            ) { (_: Key, element: Element) in
                await handover.hand(element)
            }
            return .init(self, throttler, by: key, limit: combining.limit, handover)
        }
    }

    /// Delivers all the elements of a window together as an array, in order.
    ///
    /// When there are `maxCount` elements, they fall due at once. No more than that are kept while the consumer is
    /// busy: the upstream is not read meanwhile. The other parameters are those of the form without `collecting`.
    @inlinable
    public func throttled(
        collectingEvery interval: Duration, edges: Edges = [.leading, .trailing], maxCount: Int,
        droppingAtEnd: Bool = false, clock: any Clock<Duration> = ContinuousClock(), tolerance: Duration = .zero
    ) -> AsyncCoalescedSequence<Self, [Element]> {
        AsyncCoalescedSequence(droppingAtEnd: droppingAtEnd) { handover in
            let throttler = Throttler(
                collectingEvery: interval, edges: edges,
                options: .init(maxCount: maxCount, atEnd: .drop, tolerance: tolerance), clock: clock
            ) {
                (elements: [Element]) in
                await handover.hand(elements)
            }
            return .init(self, throttler, limit: maxCount, handover)
        }
    }

    /// Delivers, for each key, all the elements of a window together as an array, in order.
    ///
    /// When a key has `maxCount` elements, they fall due at once. The upstream is not read while that many, of all keys
    /// together, are due and wait for the consumer. A delivery has `maxCount` elements at most. The other parameters are
    /// those of the other forms.
    @inlinable
    public func throttled<Key: Hashable & Sendable>(
        collectingEvery interval: Duration, by key: @escaping @Sendable (Element) -> Key,
        edges: Edges = [.leading, .trailing], maxCount: Int, droppingAtEnd: Bool = false,
        clock: any Clock<Duration> = ContinuousClock(), tolerance: Duration = .zero
    ) -> AsyncCoalescedSequence<Self, [Element]> {
        AsyncCoalescedSequence(droppingAtEnd: droppingAtEnd) { handover in
            let throttler = KeyedThrottler(
                collectingEvery: interval, edges: edges,
                options: .init(
                    maxCount: maxCount, maxBatch: maxCount, maxConcurrent: 1, atEnd: .drop, tolerance: tolerance),
                clock: clock
            ) { (_: Key, elements: [Element]) in
                await handover.hand(elements)
            }
            return .init(self, throttler, by: key, limit: maxCount, collects: true, handover)
        }
    }
}
