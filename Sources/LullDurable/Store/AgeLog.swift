internal import LullCore

/// Elements with the instants at which they were added, the oldest first.
struct AgeLog<Element: Sendable> {
    private var entries: [(at: CoreInstant, element: Element)] = []
    /// The index of the oldest entry. Entries before it have been removed.
    private var head = 0

    mutating func append(_ element: Element, at instant: CoreInstant) {
        entries.append((instant, element))
    }

    /// Removes and returns the oldest element if it is older than an instant.
    mutating func removeFirst(before instant: CoreInstant) -> Element? {
        guard head < entries.count, entries[head].at < instant else { return nil }
        defer {
            head += 1
            if head > 64, 2 * head > entries.count {
                entries.removeFirst(head)
                head = 0
            }
        }
        return entries[head].element
    }
}
