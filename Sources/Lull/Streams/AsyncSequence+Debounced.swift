public import LullCore

extension AsyncSequence where Self: Sendable, Element: Sendable {
    /// Delivers the newest element of a burst once no other has come for a while (<doc:Semantics>, section 3).
    ///
    /// ```swift
    /// for await query in queries.debounced(for: .milliseconds(300)) { await search(query) }
    /// ```
    ///
    /// The upstream is read all the time, not only when the consumer asks; what that means is in <doc:Sequences>. The
    /// program stops with a message if a setting breaks a rule (<doc:Semantics>, section 10).
    ///
    /// - Parameters:
    ///   - wait: The quiet period after which a burst is at rest.
    ///   - maxWait: No element waits longer than this before it falls due; at least `wait`.
    ///   - edges: Where in a burst elements are delivered.
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
    public func debounced(
        for wait: Duration, maxWait: Duration? = nil, edges: Edges = .trailing, maxCount: Int? = nil,
        combining: Combining<Element> = .latest,
        removingDuplicates: (@Sendable (Element, Element) -> Bool)? = nil, droppingAtEnd: Bool = false,
        clock: any Clock<Duration> = ContinuousClock(), tolerance: Duration = .zero
    ) -> AsyncCoalescedSequence<Self, Element> {
        AsyncCoalescedSequence(droppingAtEnd: droppingAtEnd, removingDuplicates: removingDuplicates) { handover in
            let debouncer = Debouncer(
                for: wait, maxWait: maxWait, edges: edges, combining: combining,
                options: .init(maxCount: maxCount, atEnd: .drop, tolerance: tolerance),
                clock: clock
            ) { (element: Element) in
                await handover.hand(element)
            }
            return .init(self, debouncer, limit: combining.limit, handover)
        }
    }

    /// Delivers, for each key, the newest element of a burst once no other has come for a while.
    ///
    /// The function `key` says which elements belong together. Keys take turns with the consumer, in order of due
    /// instants. The other parameters are those of the form without keys, which alone can remove duplicates: with keys, the last
    /// element of each would be kept for ever.
    @inlinable
    public func debounced<Key: Hashable & Sendable>(
        for wait: Duration, by key: @escaping @Sendable (Element) -> Key, maxWait: Duration? = nil,
        edges: Edges = .trailing, maxCount: Int? = nil, combining: Combining<Element> = .latest,
        droppingAtEnd: Bool = false,
        clock: any Clock<Duration> = ContinuousClock(), tolerance: Duration = .zero
    ) -> AsyncCoalescedSequence<Self, Element> {
        AsyncCoalescedSequence(droppingAtEnd: droppingAtEnd) { handover in
            let debouncer = KeyedDebouncer(
                for: wait, maxWait: maxWait, edges: edges, combining: combining,
                options: .init(maxCount: maxCount, maxConcurrent: 1, atEnd: .drop, tolerance: tolerance),
                clock: clock
            ) { (_: Key, element: Element) in
                await handover.hand(element)
            }
            return .init(self, debouncer, by: key, limit: combining.limit, handover)
        }
    }

    /// Delivers all the elements of a burst together as an array, in order, once no other has come for a while.
    ///
    /// When there are `maxCount` elements, they fall due at once. No more than that are kept while the consumer is
    /// busy: the upstream is not read meanwhile. The other parameters are those of the form without `collecting`.
    @inlinable
    public func debounced(
        collectingFor wait: Duration, maxWait: Duration? = nil, edges: Edges = .trailing, maxCount: Int,
        droppingAtEnd: Bool = false, clock: any Clock<Duration> = ContinuousClock(), tolerance: Duration = .zero
    ) -> AsyncCoalescedSequence<Self, [Element]> {
        AsyncCoalescedSequence(droppingAtEnd: droppingAtEnd) { handover in
            let debouncer = Debouncer(
                collectingFor: wait, maxWait: maxWait, edges: edges,
                options: .init(maxCount: maxCount, atEnd: .drop, tolerance: tolerance),
                clock: clock
            ) { (elements: [Element]) in
                await handover.hand(elements)
            }
            return .init(self, debouncer, limit: maxCount, handover)
        }
    }

    /// Delivers, for each key, all the elements of a burst together as an array, in order.
    ///
    /// When a key has `maxCount` elements, they fall due at once. The upstream is not read while that many, of all keys
    /// together, are due and wait for the consumer. A delivery has `maxCount` elements at most. The other parameters are
    /// those of the other forms.
    @inlinable
    public func debounced<Key: Hashable & Sendable>(
        collectingFor wait: Duration, by key: @escaping @Sendable (Element) -> Key, maxWait: Duration? = nil,
        edges: Edges = .trailing, maxCount: Int, droppingAtEnd: Bool = false,
        clock: any Clock<Duration> = ContinuousClock(), tolerance: Duration = .zero
    ) -> AsyncCoalescedSequence<Self, [Element]> {
        AsyncCoalescedSequence(droppingAtEnd: droppingAtEnd) { handover in
            let debouncer = KeyedDebouncer(
                collectingFor: wait, maxWait: maxWait, edges: edges,
                options: .init(
                    maxCount: maxCount, maxBatch: maxCount, maxConcurrent: 1, atEnd: .drop, tolerance: tolerance),
                clock: clock
            ) { (_: Key, elements: [Element]) in
                await handover.hand(elements)
            }
            return .init(self, debouncer, by: key, limit: maxCount, collects: true, handover)
        }
    }
}
