public import LullCore

extension AsyncSequence where Self: Sendable, Element: Sendable {
    /// Delivers the newest element of a burst once no other has come for a while (<doc:Semantics>, section 3).
    ///
    /// ```swift
    /// for await query in queries.debounced(for: .milliseconds(300)) { await search(query) }
    /// ```
    ///
    /// The upstream is read all the time, not only when the consumer asks (<doc:Sequences>). The program stops with a
    /// message if a setting breaks a rule (<doc:Semantics>, section 10).
    ///
    /// - Parameters:
    ///   - wait: The quiet period after which a burst has ended.
    ///   - delay: The delay of an element, in place of the wait; a negative one counts as zero. For instance, to ask
    ///     at once when a field has been emptied: `{ $0.isEmpty ? .zero : .milliseconds(300) }`.
    ///   - maxWait: The longest that an element waits before it is due; at least `wait`.
    ///   - edges: Whether an element is delivered at the beginning of a burst, at its end, or both.
    ///   - maxCount: As soon as this many elements are pending, they are due; only with the trailing edge.
    ///   - spacing: The least time between two due instants; only with the trailing edge. Nil for none.
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
    public func debounced(
        for wait: Duration, after delay: (@Sendable (Element) -> Duration)? = nil, maxWait: Duration? = nil,
        edges: Edges = .trailing, maxCount: Int? = nil, spacing: Duration? = nil,
        combining: Combination<Element> = .latest,
        removingDuplicates: (@Sendable (Element, Element) -> Bool)? = nil, droppingAtEnd: Bool = false,
        limit: RateLimit? = nil,
        clock: any Clock<Duration> = ContinuousClock(), tolerance: Duration = .zero,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> AsyncCoalescedSequence<Self, Element> {
        AsyncCoalescedSequence(droppingAtEnd: droppingAtEnd, removingDuplicates: removingDuplicates) { handover in
            let debouncer = Debouncer(
                for: wait, maxWait: maxWait, edges: edges, maxCount: maxCount, combining: combining,
                options: .init(spacing: spacing, limit: limit, atEnd: .drop, tolerance: tolerance),
                clock: clock, fileID: fileID, line: line
            ) { (element: Element) in
                await handover.deliver(element)
            }
            return .init(self, debouncer, limit: combining.limit, handover) { element in
                if let delay {
                    debouncer.submit(element, after: delay(element))
                } else {
                    debouncer.submit(element)
                }
            }
        }
    }

    /// Delivers, for each key, the newest element of a burst once no other has come for a while.
    ///
    /// Elements with the same `key` are coalesced. Keys take turns, in order of their due instants. The other
    /// parameters are those of the form without keys. Duplicates cannot be removed here: the last element of each key
    /// would be kept forever.
    @_alwaysEmitIntoClient
    public func debounced<Key: Hashable & Sendable>(
        for wait: Duration, by key: @escaping @Sendable (Element) -> Key,
        after delay: (@Sendable (Element) -> Duration)? = nil, maxWait: Duration? = nil, edges: Edges = .trailing,
        maxCount: Int? = nil, spacing: Duration? = nil,
        combining: Combination<Element> = .latest, droppingAtEnd: Bool = false, limit: RateLimit? = nil,
        clock: any Clock<Duration> = ContinuousClock(), tolerance: Duration = .zero,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> AsyncCoalescedSequence<Self, Element> {
        AsyncCoalescedSequence(droppingAtEnd: droppingAtEnd) { handover in
            let debouncer = KeyedDebouncer(
                for: wait, maxWait: maxWait, edges: edges, maxCount: maxCount, combining: combining,
                options: .init(spacing: spacing, maxConcurrent: 1, limit: limit, atEnd: .drop, tolerance: tolerance),
                clock: clock, fileID: fileID, line: line
            ) { (_: Key, element: Element) in
                await handover.deliver(element)
            }
            return .init(self, debouncer, limit: combining.limit, handover) { element in
                if let delay {
                    debouncer.submit(element, for: key(element), after: delay(element))
                } else {
                    debouncer.submit(element, for: key(element))
                }
            }
        }
    }

    /// Delivers all elements of a burst as an array, in order, once no other has come for a while.
    ///
    /// As soon as there are `maxCount` elements, they are due. While the consumer is busy, no more than that are kept:
    /// the upstream is held up meanwhile. The other parameters are those of the form without `collecting`.
    @_alwaysEmitIntoClient
    public func debounced(
        collectingFor wait: Duration, maxWait: Duration? = nil, edges: Edges = .trailing, maxCount: Int,
        spacing: Duration? = nil, droppingAtEnd: Bool = false, limit: RateLimit? = nil,
        clock: any Clock<Duration> = ContinuousClock(),
        tolerance: Duration = .zero,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> AsyncCoalescedSequence<Self, [Element]> {
        AsyncCoalescedSequence(droppingAtEnd: droppingAtEnd) { handover in
            let debouncer = Debouncer(
                collectingFor: wait, maxWait: maxWait, edges: edges, maxCount: maxCount,
                options: .init(spacing: spacing, limit: limit, atEnd: .drop, tolerance: tolerance),
                clock: clock, fileID: fileID, line: line
            ) { (elements: [Element]) in
                await handover.deliver(elements)
            }
            return .init(self, debouncer, limit: maxCount, handover) { debouncer.submit($0) }
        }
    }

    /// Delivers, for each key, all elements of a burst as an array, in order.
    ///
    /// As soon as a key has `maxCount` elements, they are due. While that many, of all keys together, are due and wait
    /// for the consumer, the upstream is held up. A delivery has `maxCount` elements at most. The other parameters are
    /// those of the other forms.
    @_alwaysEmitIntoClient
    public func debounced<Key: Hashable & Sendable>(
        collectingFor wait: Duration, by key: @escaping @Sendable (Element) -> Key, maxWait: Duration? = nil,
        edges: Edges = .trailing, maxCount: Int, spacing: Duration? = nil, droppingAtEnd: Bool = false,
        limit: RateLimit? = nil,
        clock: any Clock<Duration> = ContinuousClock(), tolerance: Duration = .zero,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> AsyncCoalescedSequence<Self, [Element]> {
        AsyncCoalescedSequence(droppingAtEnd: droppingAtEnd) { handover in
            let debouncer = KeyedDebouncer(
                collectingFor: wait, maxWait: maxWait, edges: edges, maxCount: maxCount,
                options: .init(
                    spacing: spacing, maxBatch: maxCount, maxConcurrent: 1, limit: limit, atEnd: .drop,
                    tolerance: tolerance),
                clock: clock, fileID: fileID, line: line
            ) { (_: Key, elements: [Element]) in
                await handover.deliver(elements)
            }
            return .init(self, debouncer, limit: maxCount, collects: true, handover) {
                debouncer.submit($0, for: key($0))
            }
        }
    }
}
