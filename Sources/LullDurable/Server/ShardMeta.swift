package import LullCore

/// What a shard says of itself: its settings and its counts.
package struct ShardMeta: Sendable {
    /// The instant, in microseconds.
    package var now: CoreInstant
    /// What changes with the settings.
    package var settings: [UInt8]
    package var rules: DurableRules
    package var pause: DurablePause?
    /// What the limit has counted: in the first shard.
    package var arrival: CoreInstant?
    package var totals = DurableTotals()
    /// The number of dead runs, where it is counted.
    package private(set) var dead = 0
    /// The counts of periods.
    package var tallies: [(period: Int64, tally: Tally)] = []
    /// What workers have announced, and when.
    package var workers: [(identity: DurableWorker.Identity, at: CoreInstant)] = []

    package init(
        now: CoreInstant, settings: [UInt8], rules: DurableRules, pause: DurablePause?, arrival: CoreInstant?
    ) {
        (self.now, self.settings, self.rules) = (now, settings, rules)
        (self.pause, self.arrival) = (pause?.at(now), arrival)
    }

    /// Adds a count by its name, as the shard has it: of keys in a period, or a total.
    package mutating func add(_ count: Int, _ name: String, period: Int64) {
        if Tally.names.contains(name) {
            if let index = tallies.firstIndex(where: { $0.period == period }) {
                tallies[index].tally[name] += count
            } else {
                var tally = Tally()
                tally[name] = count
                tallies.append((period, tally))
            }
        } else if name == "dead" {
            dead += count
        } else {
            totals[name] += count
        }
    }
}

/// What a status needs of a shard beside its counts.
package struct ShardLook: Sendable {
    /// The rows that have woken since they were written.
    package var woken: WokenRows
    /// The earliest instant at which a value fell due that is stored as ready.
    package var oldestReady: CoreInstant?
    package var dead = 0
    /// The entries of the inbox, and when the oldest was made.
    package var entries = 0
    package var oldestEntry: CoreInstant?

    package init(_ woken: WokenRows) { self.woken = woken }
}

/// What a row counts for, in the period in which it wakes.
package struct CountedRow: Equatable, Sendable {
    /// The length of a period, in microseconds.
    package static let period: Int64 = 1 << 22

    package let tally: Tally
    package let period: Int64

    /// - Parameter wake: When the row wakes as the store has that, in microseconds.
    package init(_ row: DurableRow, wake: Int64) {
        tally = Tally(row)
        period = wake / Self.period
    }
}

extension StoredRow {
    /// The worker that has the run.
    package var holder: Int64? { row.run.flatMap { $0.isInBackoff ? nil : $0.owner } }
}

extension LoadedKey {
    /// Whether the key had a pending value and nothing else, and has it still, to wake as before: then it counts as
    /// before.
    package var isStillPending: Bool {
        before?.hasOnlyPending == true && after?.hasOnlyPending == true && before?.wake == after?.wake
    }
}

extension StoredRow {
    fileprivate var hasOnlyPending: Bool { row.pending != nil && row.ready == nil && row.run == nil }
}

extension DurableTotals {
    private static var places: [(name: String, count: WritableKeyPath<DurableTotals, Int>)] {
        [
            ("attempts", \.attempts), ("lost_leases", \.lostLeases), ("runs", \.runs), ("executed", \.executed),
            ("failures", \.failures), ("restarted", \.restarted), ("snoozed", \.snoozed), ("given_up", \.givenUp),
            ("overdue", \.overdue),
        ]
    }

    /// The names of the counters.
    package static let names = places.map(\.name)

    /// The counters with their names, as stores keep them.
    package var named: [(name: String, count: Int)] { Self.places.map { ($0.name, self[keyPath: $0.count]) } }

    /// The counter of a name; other names are ignored.
    package subscript(name: String) -> Int {
        get { Self.places.first { $0.name == name }.map { self[keyPath: $0.count] } ?? 0 }
        set { if let place = Self.places.first(where: { $0.name == name }) { self[keyPath: place.count] = newValue } }
    }
}
