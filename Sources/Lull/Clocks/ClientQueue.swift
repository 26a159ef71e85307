internal import LullCore

/// The deadlines of all clients of a scheduler, one for each at most.
///
/// A client stores its own indices in the heaps, so that a deadline can be moved and removed. Each operation costs a
/// logarithm of the number of clients.
struct ClientQueue {
    /// The deadlines of clients without a tolerance.
    private(set) var strict = DeadlineHeap(isByLatest: false)
    /// The deadlines of clients with a tolerance.
    private(set) var tolerant = DeadlineHeap(isByLatest: false)
    /// The ends of their tolerances.
    private var latest = DeadlineHeap(isByLatest: true)

    /// Sets the deadline of a client, in place of an earlier one.
    mutating func set(_ client: SchedulerClient, to deadline: CoreInstant, tolerance: CoreDuration) {
        remove(client)
        guard deadline != .farFuture else { return }
        client.isTolerant = tolerance > .zero
        if client.isTolerant {
            tolerant.insert(client, at: deadline)
            latest.insert(client, at: deadline.advanced(by: tolerance))
        } else {
            strict.insert(client, at: deadline)
        }
    }

    /// Removes a client's deadline, if it has one.
    mutating func remove(_ client: SchedulerClient) {
        guard client.index >= 0 else { return }
        if client.isTolerant {
            tolerant.remove(at: client.index)
            latest.remove(at: client.latestIndex)
        } else {
            strict.remove(at: client.index)
        }
    }

    /// Removes and returns a client whose deadline has passed, with the deadline.
    mutating func pop(notAfter now: CoreInstant) -> (client: SchedulerClient, deadline: CoreInstant)? {
        if let first = strict.first, first.at <= now {
            strict.remove(at: 0)
            return (first.client, first.at)
        }
        guard let first = tolerant.first, first.at <= now else { return nil }
        remove(first.client)
        return (first.client, first.at)
    }

    /// The next wake-up: as late as the least tolerant client allows, but no later than the last deadline until then.
    var wakeUp: WakeUp? {
        guard let limit = latest.first?.at else { return strict.first.map { WakeUp(at: $0.at, latest: $0.at) } }
        if let first = strict.first?.at, first <= limit { return WakeUp(at: first, latest: first) }
        return WakeUp(at: tolerant.last(notAfter: limit) ?? limit, latest: limit)
    }

    /// When a timer fires, at the earliest and at the latest.
    struct WakeUp: Equatable {
        var at: CoreInstant
        var latest: CoreInstant

        static let never = WakeUp(at: .farFuture, latest: .farFuture)
    }
}

/// A binary heap of clients, each of which stores its index.
struct DeadlineHeap {
    /// A client and the instant by which it is ordered.
    struct Entry {
        let at: CoreInstant
        let client: SchedulerClient
    }

    private(set) var entries: [Entry] = []
    /// In which of its two fields a client stores the index.
    private let isByLatest: Bool

    init(isByLatest: Bool) {
        self.isByLatest = isByLatest
    }

    var first: Entry? { entries.first }

    mutating func insert(_ client: SchedulerClient, at instant: CoreInstant) {
        let entry = Entry(at: instant, client: client)
        entries.append(entry)
        raise(entry, from: entries.count - 1)
    }

    mutating func remove(at index: Int) {
        store(-1, in: entries[index].client)
        let last = entries.removeLast()
        if index < entries.count {
            if index > 0, last.at < entries[(index - 1) / 2].at {
                raise(last, from: index)
            } else {
                sink(last, from: index)
            }
        }
        shrink()
    }

    /// Returns a late instant that is not after `limit`: the latest of a few dozen entries, not of all.
    func last(notAfter limit: CoreInstant) -> CoreInstant? {
        guard let first, first.at <= limit else { return nil }
        var last = first.at
        var left = 64
        func visit(_ index: Int) {
            guard index < entries.count, left > 0, entries[index].at <= limit else { return }
            left -= 1
            last = max(last, entries[index].at)
            visit(2 * index + 1)
            visit(2 * index + 2)
        }
        visit(0)
        return last
    }

    /// Moves an entry towards the root until its parent is not later.
    private mutating func raise(_ entry: Entry, from start: Int) {
        var index = start
        while index > 0 {
            let parent = (index - 1) / 2
            guard entry.at < entries[parent].at else { break }
            set(entries[parent], at: index)
            index = parent
        }
        set(entry, at: index)
    }

    /// Moves an entry towards the leaves until its children are not earlier.
    private mutating func sink(_ entry: Entry, from start: Int) {
        var index = start
        while true {
            var child = 2 * index + 1
            guard child < entries.count else { break }
            if child + 1 < entries.count, entries[child + 1].at < entries[child].at { child += 1 }
            guard entries[child].at < entry.at else { break }
            set(entries[child], at: index)
            index = child
        }
        set(entry, at: index)
    }

    private mutating func set(_ entry: Entry, at index: Int) {
        entries[index] = entry
        store(index, in: entry.client)
    }

    private func store(_ index: Int, in client: SchedulerClient) {
        if isByLatest { client.latestIndex = index } else { client.index = index }
    }

    /// Frees memory when most of it is unused.
    private mutating func shrink() {
        guard entries.capacity > 256, entries.count * 8 < entries.capacity else { return }
        var fewer: [Entry] = []
        fewer.reserveCapacity(2 * entries.count)
        fewer += entries
        entries = fewer
    }
}
