/// Executions with an instant each, in the order of these: when their time limit is over, or when they are overdue.
///
/// The limit is the same for all, so the order is that of their starts, and an execution is added behind the others.
/// One that ends earlier leaves its entry behind. Such entries are dropped bit by bit, while others are added: there
/// are never many more entries than twice as many as executions that run.
struct TimeLimitQueue {
    struct Entry: Equatable {
        let at: CoreInstant
        let run: RunID
    }

    /// While a pass drops entries: those from `first` to `kept`, which it has kept, and those from `unchecked` on.
    /// Otherwise all from `first` on; the three are equal then.
    private var entries: [Entry] = []
    private var first = 0
    private var kept = 0
    private var unchecked = 0
    private var isCompacting = false

    init() {}

    /// The number of entries.
    var count: Int { kept - first + entries.count - unchecked }

    /// The first entry.
    var front: Entry? {
        if first < kept { return entries[first] }
        return unchecked < entries.count ? entries[unchecked] : nil
    }

    /// Adds an entry at the latest instant so far, or later.
    ///
    /// - Parameters:
    ///   - bound: With as many entries, those are dropped that need not be kept.
    ///   - keeps: Whether an entry has to be kept.
    mutating func push(_ entry: Entry, bound: Int, keeps: (Entry) -> Bool) {
        assert(entries.last.map { $0.at <= entry.at } ?? true, "a time limit was added before an earlier one")
        for _ in 0..<2 { if let front, !keeps(front) { removeFront() } }
        if !isCompacting, entries.count >= bound { beginPass() }
        entries.append(entry)
        for _ in 0..<4 where isCompacting { checkNext(keeps) }
    }

    /// Removes the first entry, which there must be.
    mutating func removeFront() {
        if first < kept {
            first += 1
        } else {
            unchecked += 1
            if !isCompacting { (first, kept) = (unchecked, unchecked) }
        }
        if count == 0 { removeAll() } else if isCompacting, unchecked == entries.count { endPass() }
    }

    private mutating func removeAll() {
        if entries.count > 256 { entries = [] } else { entries.removeAll(keepingCapacity: true) }
        (first, kept, unchecked, isCompacting) = (0, 0, 0, false)
    }

    /// Begins to move what is kept to the front.
    private mutating func beginPass() {
        unchecked = first
        (first, kept, isCompacting) = (0, 0, true)
    }

    private mutating func checkNext(_ keeps: (Entry) -> Bool) {
        let entry = entries[unchecked]
        unchecked += 1
        if keeps(entry) {
            entries[kept] = entry
            kept += 1
        }
        if unchecked == entries.count { endPass() }
    }

    private mutating func endPass() {
        entries.removeLast(entries.count - kept)
        (kept, unchecked, isCompacting) = (first, first, false)
    }
}
