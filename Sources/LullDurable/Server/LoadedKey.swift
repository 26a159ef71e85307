internal import LullCore

/// A key as it was read, and what steps have made of it: written if it is still as it was read, or else not at all.
/// Only the store's thread uses it.
package final class LoadedKey {
    package let key: [UInt8]
    /// The bytes of the row as it was read; nil if there was none.
    package let expected: [UInt8]?
    /// The row as it was read.
    package let before: StoredRow?
    /// The entries of the inbox that come first, and whether it has more.
    let entries: [InboxEntry]
    package let hasMoreEntries: Bool
    let handle: Int64

    /// The row as it is now.
    package internal(set) var after: StoredRow?
    /// New values by their numbers, and the numbers of values that are not needed any more.
    package internal(set) var values: [(number: Int64, bytes: [UInt8])] = []
    package private(set) var dropped: [Range<Int64>] = []
    /// The greatest number of the new values, or of those that there were.
    private var greatest = Int64.min
    /// How submits have ended, and ends that are not to be kept: those that were extended, and of dead runs that were
    /// taken.
    package internal(set) var ends: [StoredEnd] = []
    package internal(set) var removedEnds: [StoredEnd] = []
    /// Answers that are to be remembered, and which entry of the inbox has asked for them.
    package internal(set) var tokens: [(token: String, receipt: DurableReceipt, entry: Int64?)] = []
    package internal(set) var dead: [StoredDead] = []
    /// The numbers of dead runs that were taken: they must still be there.
    package internal(set) var takenDead: [Int64] = []
    package internal(set) var totals = DurableTotals()
    /// The highest generation of the rows of the key that were deleted.
    package internal(set) var deletedGeneration: Int64?
    /// The entries of the inbox that were folded.
    package internal(set) var folded: [[UInt8]] = []
    /// The dead run that is retried in the present step.
    var retried: StoredDead?
    /// The ranges of values that the store had before, beside those of the row.
    var others: [Range<Int64>] = []

    init(
        _ key: [UInt8], _ bytes: [UInt8]?, _ handle: Int64, entries: [InboxEntry], hasMoreEntries: Bool
    ) throws(DurableError) {
        (self.key, expected, self.handle) = (key, bytes, handle)
        (self.entries, self.hasMoreEntries) = (entries, hasMoreEntries)
        before = try bytes.map { bytes throws(DurableError) in try StoredRow(bytes) }
    }

    /// Forgets what steps have made. A row that was stepped later than now, by a clock that was ahead, is moved back as
    /// a whole: it waits as long as it would have.
    func begin(at now: CoreInstant) {
        after = before
        if let latest = before?.latest, latest > now { after?.moveBack(by: now.duration(to: latest)) }
        if values.isEmpty, hasNothingBesidesRow { return }
        (values, dropped, others, retried, deletedGeneration) = ([], [], [], nil, nil)
        (ends, removedEnds, tokens, dead, takenDead, folded) = ([], [], [], [], [], [])
        totals = DurableTotals()
        greatest = .min
    }

    private var hasNothingBesidesRow: Bool {
        ends.isEmpty && removedEnds.isEmpty && tokens.isEmpty && dead.isEmpty && takenDead.isEmpty && folded.isEmpty
            && totals == DurableTotals()
    }

    /// Whether there is nothing to write.
    var isUnchanged: Bool { before == after && hasNothingBesidesRow }

    /// Completes what is written, at the end of the steps.
    func complete(at now: CoreInstant, collects: Bool) {
        // A row that was moved back, or whose entries were folded, is written in any case.
        after?.latest = now
        let (had, has) = (before.map { SlotRanges($0, collects) }, after.map { SlotRanges($0, collects) })
        let isKept = { [dead] (number: Int64) in
            has?.contains(number) == true || dead.contains { $0.values(collects).contains(number) }
        }
        if !values.allSatisfy({ isKept($0.number) }) { values.removeAll { !isKept($0.number) } }
        if collects { values.sort { $0.number < $1.number } }
        if had == has, dead.isEmpty, others.isEmpty { return dropped = [] }
        dropped = removing(
            (has?.all ?? []) + dead.map { $0.values(collects) }, from: (had?.all ?? []) + others)
    }

    /// Adds a value under a number.
    func store(_ value: [UInt8], of generation: Int64, at number: Int64, collects: Bool) {
        let bytes = collects ? withUnsafeBytes(of: generation.bigEndian, Array.init) + value : value
        // Nearly all come in order.
        if number <= greatest, let index = values.firstIndex(where: { $0.number == number }) {
            values[index].bytes = bytes
        } else {
            values.append((number, bytes))
            greatest = max(greatest, number)
        }
    }

    /// When the row wakes, if that is earlier than it was.
    package var earlierWake: CoreInstant? {
        after.flatMap { after in after.wake < before?.wake ?? .farFuture ? after.wake : nil }
    }

    var entry: DurableEntry? {
        after.map { DurableEntry(handle: handle, key: key, row: $0.row, wake: $0.wake) }
    }
}

/// The numbers of the values of a row: of one in each part, or of all that are collected.
struct SlotRanges: Equatable {
    private var pending: Range<Int64>?
    private var ready: Range<Int64>?
    private var run: Range<Int64>?

    init(_ stored: StoredRow, _ collects: Bool) {
        func range(_ place: Int64, _ count: Int) -> Range<Int64> { place..<place + (collects ? Int64(count) : 1) }
        if stored.row.pending != nil { pending = range(stored.places.pending, stored.row.gate.count) }
        if let value = stored.row.ready { ready = range(stored.places.ready, value.count) }
        if let value = stored.row.run?.value { run = range(stored.places.run, value.count) }
    }

    func contains(_ number: Int64) -> Bool {
        pending?.contains(number) == true || ready?.contains(number) == true || run?.contains(number) == true
    }

    var all: [Range<Int64>] { [pending, ready, run].compactMap { $0 } }
}

extension StoredDead {
    func values(_ collects: Bool) -> Range<Int64> { place..<place + (collects ? Int64(run.value.count) : 1) }
}

extension StoredRow {
    /// Moves all instants of the row back: the clock of the server has been ahead.
    mutating func moveBack(by span: CoreDuration) {
        func move(_ instant: inout CoreInstant) {
            if instant > .farPast, instant < .farFuture {
                instant = CoreInstant(nanoseconds: instant.nanoseconds &- span.nanoseconds)
            }
        }
        func move(_ ready: inout DurableRow.Ready) {
            move(&ready.first)
            move(&ready.due)
            if var since = ready.since {
                move(&since)
                ready.since = since
            }
        }
        move(&row.gate.quiet)
        move(&row.gate.first)
        move(&row.gate.latest)
        move(&wake)
        move(&latest)
        if var pending = row.pending {
            move(&pending.last)
            row.pending = pending
        }
        if var ready = row.ready {
            move(&ready)
            row.ready = ready
        }
        if var run = row.run {
            move(&run.value)
            var end = run.state.end
            move(&end)
            run.state.end = end
            if var mark = run.mark {
                move(&mark)
                run.mark = mark
            }
            if var began = run.began {
                move(&began)
                run.began = began
            }
            row.run = run
        }
    }
}

/// Removes ranges from others.
func removing(_ ranges: [Range<Int64>], from others: [Range<Int64>]) -> [Range<Int64>] {
    ranges.reduce(others) { rest, range in
        rest.flatMap { other -> [Range<Int64>] in
            guard range.overlaps(other) else { return [other] }
            return [
                other.lowerBound..<max(other.lowerBound, range.lowerBound),
                min(other.upperBound, range.upperBound)..<other.upperBound,
            ].filter { !$0.isEmpty }
        }
    }
}
