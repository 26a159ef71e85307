internal import LullCore

/// The rows of a table in memory by their `wake`: a binary heap with lazy deletion. Who finds an entry that is no longer
/// true drops it.
struct WakeHeap {
    private var heap: [(wake: CoreInstant, handle: Int64)] = []

    init() {}

    init(_ wakes: [(CoreInstant, Int64)]) {
        for (wake, handle) in wakes { push(wake, handle) }
    }

    var count: Int { heap.count }

    var first: (wake: CoreInstant, handle: Int64)? { heap.first }

    mutating func push(_ wake: CoreInstant, _ handle: Int64) {
        heap.append((wake, handle))
        var place = heap.count - 1
        while place > 0, heap[place] < heap[(place - 1) / 2] {
            heap.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    mutating func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var place = 0
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2] where child < heap.count && heap[child] < heap[least] {
                least = child
            }
            if least == place { return }
            heap.swapAt(place, least)
            place = least
        }
    }
}

/// Things by the instant at which they came, the oldest first.
struct AgeLog<Element: Sendable> {
    private var entries: [(at: CoreInstant, element: Element)] = []
    private var head = 0

    mutating func append(_ element: Element, at instant: CoreInstant) {
        entries.append((instant, element))
    }

    /// Takes out the oldest if it is older than an instant.
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
