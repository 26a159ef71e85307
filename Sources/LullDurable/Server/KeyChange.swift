internal import LullCore

/// What steps have changed of a key: written if the key is still as it was read, or else not at all.
package struct KeyChange: Sendable {
    package var key: [UInt8]
    /// The bytes of the row as it was read; nil if there was none.
    package var expected: [UInt8]?
    /// The row as it was read, and as it is now.
    package var before: StoredRow?
    package var after: StoredRow?
    /// New values by their numbers, and the numbers of values that are not needed any more.
    package var values: [(number: Int64, bytes: [UInt8])] = []
    package var dropped: [Range<Int64>] = []
    /// How submits have ended, and ends that are not to be kept: those that were extended, and of dead runs that were
    /// taken.
    package var ends: [StoredEnd] = []
    package var removedEnds: [StoredEnd] = []
    package var tokens: [(token: String, receipt: DurableReceipt)] = []
    package var dead: [StoredDead] = []
    /// The numbers of dead runs that were taken: they must still be there.
    package var takenDead: [Int64] = []
    package var totals = DurableTotals()
    /// The highest generation of the rows of the key that were deleted.
    package var deletedGeneration: Int64?
    /// The entries of the inbox that were folded.
    package var folded: [[UInt8]] = []
    /// Whether the inbox has more of the key.
    package var hasMoreEntries = false

    /// Whether there is nothing to write.
    package var isEmpty: Bool {
        before == after && ends.isEmpty && removedEnds.isEmpty && tokens.isEmpty && dead.isEmpty && takenDead.isEmpty
            && folded.isEmpty && totals == DurableTotals()
    }
}

extension StoredRow {
    /// The numbers of the values of the row: of one in each part, or of all that are collected.
    func ranges(collects: Bool) -> [Range<Int64>] {
        func range(_ place: Int64, _ count: Int?) -> Range<Int64>? {
            count.map { place..<place + (collects ? Int64($0) : 1) }
        }
        return [
            range(places.pending, row.pending == nil ? nil : row.gate.count), range(places.ready, row.ready?.count),
            range(places.run, row.run?.value.count),
        ].compactMap { $0 }
    }

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
            run.state = run.isInBackoff ? .backoff(until: end) : .claimed(until: end)
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
