internal import LullCore

/// The deadlines of all clients of a scheduler.
///
/// A client has at most one deadline here. It knows its own places in the heaps, so that one that moves or goes away
/// leaves nothing behind. Adding, moving and removing cost a logarithm of the number of clients.
struct ClientQueue {
    /// When clients without a tolerance want to be woken.
    private var strict = DeadlineHeap(isByLatest: false)
    /// When those with a tolerance want to be woken.
    private var tolerant = DeadlineHeap(isByLatest: false)
    /// When these have to be woken at the latest.
    private var latest = DeadlineHeap(isByLatest: true)

    /// The number of clients that have a deadline.
    var count: Int { strict.count + tolerant.count }

    /// Sets the deadline of a client, in place of an earlier one.
    mutating func set(_ client: SystemClock, to deadline: CoreInstant, tolerance: CoreDuration) {
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
    mutating func remove(_ client: SystemClock) {
        guard client.place >= 0 else { return }
        if client.isTolerant {
            tolerant.remove(at: client.place)
            latest.remove(at: client.latestPlace)
        } else {
            strict.remove(at: client.place)
        }
    }

    /// Takes out a client whose deadline has passed, with that deadline.
    mutating func pop(notAfter now: CoreInstant) -> (client: SystemClock, deadline: CoreInstant)? {
        if let first = strict.first, first.at <= now {
            strict.remove(at: 0)
            return (first.client, first.at)
        }
        guard let first = tolerant.first, first.at <= now else { return nil }
        remove(first.client)
        return (first.client, first.at)
    }

    /// When to wake, from the one instant to the other: as late as the least tolerant client allows, but no later than
    /// the last deadline until then.
    var wakeUp: WakeUp? {
        guard let limit = latest.first?.at else { return strict.first.map { WakeUp(at: $0.at, latest: $0.at) } }
        if let first = strict.first?.at, first <= limit { return WakeUp(at: first, latest: first) }
        return WakeUp(at: tolerant.last(notAfter: limit) ?? limit, latest: limit)
    }

    /// When a timer rings, at the earliest and at the latest.
    struct WakeUp: Equatable {
        var at: CoreInstant
        var latest: CoreInstant

        static let never = WakeUp(at: .farFuture, latest: .farFuture)
    }
}

/// A binary heap whose elements know where they are.
struct DeadlineHeap {
    /// A client and the instant by which it is ordered.
    struct Entry {
        let at: CoreInstant
        let client: SystemClock
    }

    private var entries: [Entry] = []
    /// In which of its two fields a client keeps its place.
    private let isByLatest: Bool

    init(isByLatest: Bool) {
        self.isByLatest = isByLatest
    }

    var count: Int { entries.count }
    var first: Entry? { entries.first }
    var capacity: Int { entries.capacity }

    mutating func insert(_ client: SystemClock, at instant: CoreInstant) {
        let entry = Entry(at: instant, client: client)
        entries.append(entry)
        raise(entry, from: entries.count - 1)
    }

    mutating func remove(at place: Int) {
        note(-1, for: entries[place].client)
        let last = entries.removeLast()
        if place < entries.count {
            if place > 0, last.at < entries[(place - 1) / 2].at {
                raise(last, from: place)
            } else {
                sink(last, from: place)
            }
        }
        shrink()
    }

    /// The last instant of an entry that is not after `limit`. Looks at a few dozen of them; any of them will do.
    func last(notAfter limit: CoreInstant) -> CoreInstant? {
        guard let first, first.at <= limit else { return nil }
        var last = first.at
        var left = 64
        func look(at place: Int) {
            guard place < entries.count, left > 0, entries[place].at <= limit else { return }
            left -= 1
            last = max(last, entries[place].at)
            look(at: 2 * place + 1)
            look(at: 2 * place + 2)
        }
        look(at: 0)
        return last
    }

    /// Puts an entry where its parent is not later, on the way from a place to the root.
    private mutating func raise(_ entry: Entry, from start: Int) {
        var place = start
        while place > 0 {
            let parent = (place - 1) / 2
            guard entry.at < entries[parent].at else { break }
            put(entries[parent], at: place)
            place = parent
        }
        put(entry, at: place)
    }

    /// Puts an entry where its children are not earlier, on the way from a place to the leaves.
    private mutating func sink(_ entry: Entry, from start: Int) {
        var place = start
        while true {
            var child = 2 * place + 1
            guard child < entries.count else { break }
            if child + 1 < entries.count, entries[child + 1].at < entries[child].at { child += 1 }
            guard entries[child].at < entry.at else { break }
            put(entries[child], at: place)
            place = child
        }
        put(entry, at: place)
    }

    private mutating func put(_ entry: Entry, at place: Int) {
        entries[place] = entry
        note(place, for: entry.client)
    }

    private func note(_ place: Int, for client: SystemClock) {
        if isByLatest { client.latestPlace = place } else { client.place = place }
    }

    /// Gives memory back when most of it is unused.
    private mutating func shrink() {
        guard entries.capacity > 256, entries.count * 8 < entries.capacity else { return }
        var fewer: [Entry] = []
        fewer.reserveCapacity(2 * entries.count)
        fewer += entries
        entries = fewer
    }
}
