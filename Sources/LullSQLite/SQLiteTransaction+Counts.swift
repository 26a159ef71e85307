internal import LullCore
package import LullDurable

// The counts that the file keeps: see `Tally`.

/// The place of a tally: rows of a namespace that wake within the same four seconds.
struct TallyPlace: Hashable {
    let namespace: Int64
    let period: Int64

    init(_ namespace: DurableNamespace, _ wake: CoreInstant) {
        self.namespace = namespace.id
        period = wake.nanoseconds >> Self.shift
    }

    /// When the period began.
    var start: CoreInstant { CoreInstant(nanoseconds: period << Self.shift) }

    /// Nanoseconds are shifted by this.
    static let shift: Int64 = 32
}

extension SQLiteTransaction {
    /// Notes that a row has changed.
    mutating func note(_ new: DurableEntry?, insteadOf old: DurableEntry?, in namespace: DurableNamespace) {
        let (before, after) = (old.map { Tally($0.row) }, new.map { Tally($0.row) })
        let (from, to) = (old.map { TallyPlace(namespace, $0.wake) }, new.map { TallyPlace(namespace, $0.wake) })
        // Most submits change neither.
        if before == after, from == to { return }
        if let before, let from, !before.isZero { tallies[from, default: Tally()] -= before }
        if let after, let to, !after.isZero { tallies[to, default: Tally()] += after }
    }

    /// Writes what has changed in the counts.
    mutating func writeCounts() throws(DurableError) {
        try writeTallies()
        try writeCounters()
    }

    private mutating func writeTallies() throws(DurableError) {
        if tallies.isEmpty { return }
        defer { tallies = [:] }
        for (place, tally) in tallies where !tally.isZero {
            let adding = try connection[.addToTally]
            adding.bind(":namespace", place.namespace)
            adding.bind(":period", place.period)
            adding.bind(":pending", tally.pending)
            adding.bind(":ready", tally.ready)
            adding.bind(":running", tally.running)
            adding.bind(":retrying", tally.retrying)
            adding.bind(":due", tally.due)
            adding.bind(":replaced", tally.replaced)
            try adding.run()
            // Each row that is counted is counted by at least one of these.
            guard min(tally.pending, tally.ready, tally.running, tally.retrying) < 0 else { continue }
            let deleting = try connection[.deleteEmptyTally]
            deleting.bind(":namespace", place.namespace)
            deleting.bind(":period", place.period)
            try deleting.run()
        }
    }

    /// Counts the work of a namespace.
    mutating func countWork(
        of namespace: DurableNamespace, _ status: inout DurableStatus
    ) throws(DurableError) {
        try writeCounts()
        let present = TallyPlace(namespace, now)
        let ready = try connection[.oldestReady]
        defer { ready.reset() }
        ready.bind(":namespace", namespace.id)
        let oldestReady = try ready.next() ? ready.instant(0) : nil
        var tallies: [(period: Int64, tally: Tally)] = []
        let statement = try connection[.tallies]
        defer { statement.reset() }
        statement.bind(":namespace", namespace.id)
        while try statement.next() {
            tallies.append((statement.integer(0), Tally((1...6).map { Int(statement.integer($0)) })))
        }
        let first = try rows(of: namespace, wokenFrom: .farPast)
        let woken = try WokenRows(first) { () throws(DurableError) in
            try rows(of: namespace, wokenFrom: present.start)
        }
        status.add(tallies, present: present.period, woken, oldestReady: oldestReady, at: now)
    }

    private func rows(
        of namespace: DurableNamespace, wokenFrom start: CoreInstant
    ) throws(DurableError) -> [DurableRow] {
        let statement = try connection[.wokenRows]
        statement.bind(":namespace", namespace.id)
        statement.bind(":from", start)
        statement.bind(":now", now)
        statement.bind(":limit", WokenRows.most)
        return try entries(statement).map(\.row)
    }
}

// The counters of a namespace that only grow, and the number of its dead runs. They are in the file because monitoring
// subtracts two readings, whichever processes did the work in between. Each transaction writes them once.

/// What a transaction adds to the counters of a namespace.
struct CounterChange: Equatable {
    var totals = DurableTotals()
    var dead = 0
}

extension SQLiteTransaction {
    package mutating func count(_ totals: DurableTotals, of key: [UInt8], in namespace: DurableNamespace) {
        counters[namespace.id, default: CounterChange()].totals += totals
    }

    /// Counts a run that has died, or with -1 one that is dead no more.
    mutating func count(dead: Int, in namespace: DurableNamespace) {
        counters[namespace.id, default: CounterChange()].dead += dead
    }

    private mutating func writeCounters() throws(DurableError) {
        if counters.isEmpty { return }
        defer { counters = [:] }
        for (namespace, change) in counters where change != CounterChange() {
            let statement = try connection[.addToCounters]
            // The counters are the first parameters.
            for (index, counter) in change.totals.named.enumerated() {
                statement.bind(Int32(index + 1), Int64(counter.count))
            }
            statement.bind(":dead", change.dead)
            statement.bind(":namespace", namespace)
            try statement.run()
        }
    }

    func readCounters(of namespace: DurableNamespace, to status: inout DurableStatus) throws(DurableError) {
        let statement = try connection[.readCounters]
        defer { statement.reset() }
        statement.bind(":namespace", namespace.id)
        guard try statement.next() else { return }
        var totals = DurableTotals()
        for (index, name) in DurableTotals.names.enumerated() { totals[name] = Int(try statement.number(index)) }
        status.add(totals)
        status.dead = Int(try statement.number(DurableTotals.names.count))
    }
}
