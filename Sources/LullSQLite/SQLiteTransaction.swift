package import LullCore
package import LullDurable

/// A transaction of a file: the table on which the steps of ``DurableTable`` work, and the calls of a store by the
/// names of namespaces.
package struct SQLiteTransaction: StoreTable {
    let connection: Connection
    package let limits: DurableLimits
    /// The numbers and the time of the file as they will be after the transaction.
    private(set) var meta: Meta
    /// The present instant: that of the transaction, read after other processes could no longer write, or of the calls
    /// that came while it was open.
    package internal(set) var now: CoreInstant {
        didSet { if now != oldValue { submitMark = nil } }
    }
    /// The same on the wall clock.
    package private(set) var wall: CoreInstant
    /// The row that was written last, if a submit of the present instant has left something pending in it. It then
    /// shows that the transaction was committed, and its instant, so that ``Meta`` need not.
    var submitMark: CommitMark?
    /// What was written that concerns workers.
    private var written = WrittenWakes()
    /// What this transaction has changed in the counts, and not written yet.
    var tallies: [TallyPlace: Tally] = [:]
    var counters: [Int64: CounterChange] = [:]
    /// The namespace of the latest call: most transactions have one only.
    private var latestNamespace: DurableNamespace?
    /// Whether old entries were deleted in this transaction.
    private var hasForgotten = false
    /// Whether a namespace of this transaction has values in rows of their own.
    private var collects = false
    /// Whether pages of the file were moved, which writes no row.
    var hasMovedPages = false

    /// Creates the value of a transaction that has begun.
    init(_ connection: Connection, _ meta: Meta, at reading: StoreTime.Reading, limits: DurableLimits) {
        self.connection = connection
        self.limits = limits
        self.meta = meta
        now = self.meta.time.now(reading)
        wall = reading.wall
    }

    /// See ``DurableTable/sequence``. Numbers follow the wall clock, in microseconds, so that a copy of the file that
    /// takes its place later does not give those again that were given meanwhile.
    package var sequence: Int64 {
        get { max(meta.sequence, wall.nanoseconds / 1000) }
        set { if newValue != sequence { meta.sequence = newValue } }
    }

    /// See ``DurableTable/base``, and ``sequence``.
    package var base: Int64 {
        get { max(meta.base, wall.nanoseconds / 1000) }
        set { meta.base = newValue }
    }

    /// Raises all numbers above those that have been given by a clock that was ahead by up to a day.
    ///
    /// - Returns: What the numbers of new runs, fences and generations of new keys are above.
    mutating func adopt() throws(DurableError) -> Int64 {
        let day: Int64 = 86_400_000_000
        base = max(base, try connection.number("SELECT max(generation) FROM work")) + day
        sequence += day
        return min(base, sequence)
    }

    /// Advances the present instant for calls that came while the transaction was open.
    mutating func advance(to reading: StoreTime.Reading) {
        now = meta.time.now(reading)
        wall = reading.wall
    }

    // MARK: - Namespaces

    /// Returns a namespace with the rules that hold for all processes.
    package mutating func namespace(_ name: String) throws(DurableError) -> DurableNamespace {
        if let latestNamespace, latestNamespace.name == name { return latestNamespace }
        guard let found = try connection.cachedNamespace(name) else { throw .noPolicy(namespace: name) }
        latestNamespace = found
        if found.collects { collects = true }
        return found
    }

    package func namespaces() throws(DurableError) -> [DurableNamespace] { try connection.namespaces() }

    /// Creates a namespace, or changes its rules.
    package mutating func write(_ rules: DurableRules, of name: String, isNew: Bool) throws(DurableError) {
        try connection.write(rules, of: name, isNew: isNew)
        forgetCachedNamespaces()
    }

    /// Writes the pause of a namespace; nil ends it.
    package mutating func write(_ pause: DurablePause?, of namespace: DurableNamespace) throws(DurableError) {
        try connection.write(pause, of: namespace)
        forgetCachedNamespaces()
    }

    /// Reads namespaces again from now on: one of them has changed.
    mutating func forgetCachedNamespaces() {
        latestNamespace = nil
        connection.clearNamespaceCache()
    }

    // MARK: - Wake-ups

    /// Removes and returns what was written, for the store's wake signal.
    package mutating func takeWritten() -> WrittenWakes {
        defer { if !written.isEmpty { written = WrittenWakes() } }
        return written
    }

    /// Records a `wake` that was written.
    mutating func recordWake(_ wake: CoreInstant, in namespace: DurableNamespace) {
        written.note(wake, in: namespace)
    }

    /// See ``DurableTable/noteInterruption(in:)``.
    package mutating func noteInterruption(in namespace: DurableNamespace) {
        written.noteInterruption(in: namespace)
    }

    // MARK: - Deleting what is old

    /// Deletes a few of the old ends and tokens, once in each transaction with submits or claims.
    package mutating func forgetSome(in namespace: DurableNamespace) throws(DurableError) {
        if hasForgotten { return }
        hasForgotten = true
        try forget(beyond: limits, in: namespace, at: now)
    }

    /// Deletes values that have ended, twice as many rows as the transaction has written, so that they never pile up,
    /// however busy the store is.
    func deleteReleasedValues(afterWriting rows: Int32) throws(DurableError) {
        if collects, rows > 0 { try deleteReleasedValues(atMost: max(Self.mostDeleted, 2 * Int(rows))) }
    }
}

// Status, listings and dead runs. Of values, only those of dead runs are read.

extension SQLiteTransaction {
    package mutating func status(of namespace: DurableNamespace) throws(DurableError) -> DurableStatus {
        var status = DurableStatus(namespace: namespace.name, rules: namespace.rules)
        status.note(namespace.latestPause, at: now)
        try countWork(of: namespace, &status)
        try readCounters(of: namespace, to: &status)
        if namespace.rules.limit != nil { status.noteStarts(after: try arrival(in: namespace), at: now) }
        return status
    }

    /// Lists keys from `start` on, or, if it is empty, from the first key with the prefix.
    package func list(
        prefix: [UInt8], from start: [UInt8], limit: Int, in namespace: DurableNamespace
    ) throws(DurableError) -> [DurableListing<[UInt8]>] {
        var listings: [DurableListing<[UInt8]>] = []
        let rows = try connection[.listedRows]
        defer { rows.reset() }
        rows.bind(":namespace", namespace.id)
        rows.bind(":start", blob: start.isEmpty ? prefix : start)
        while listings.count < limit, try rows.next() {
            let entry = try rows.entry()
            guard entry.key.starts(with: prefix) else { break }
            guard entry.row.isListed(at: now, by: namespace.rules) else { continue }
            listings.append(DurableListing(key: entry.key, row: entry.row, rules: namespace.rules, at: now))
        }
        return listings
    }

    /// Lists the keys with work that wake first.
    package func upcoming(limit: Int, in namespace: DurableNamespace) throws(DurableError) -> [DurableListing<[UInt8]>]
    {
        var listings: [DurableListing<[UInt8]>] = []
        let rows = try connection[.earliestRows]
        defer { rows.reset() }
        rows.bind(":namespace", namespace.id)
        rows.bind(":now", CoreInstant.farFuture)
        rows.bind(":limit", DurableListing<[UInt8]>.mostRows(for: limit))
        while listings.count < limit, try rows.next() {
            let entry = try rows.entry()
            let listing = DurableListing(key: entry.key, row: entry.row, rules: namespace.rules, at: now)
            if listing.hasWork { listings.append(listing) }
        }
        return listings.sortedByChange()
    }

    package func deadRuns(
        matching selection: DurableSelection, newestFirst: Bool, limit: Int, withValues: Bool,
        in namespace: DurableNamespace
    ) throws(DurableError) -> [DurableDeadRun<[UInt8]>] {
        let statement = try connection[newestFirst ? .newestDeadRuns : .oldestDeadRuns]
        defer { statement.reset() }
        statement.bind(":namespace", namespace.id)
        var found: [DurableDeadRun<[UInt8]>] = []
        while found.count < limit, try statement.next() {
            let (key, run, at) = try dead(statement, in: namespace)
            guard selection.includes(deadRunOf: key, run.error, diedAt: at, at: now) else { continue }
            found.append(DurableDeadRun(key: key, run: run, stored: [], diedAt: at, at: now))
        }
        if !withValues { return found }
        var whole: [DurableDeadRun<[UInt8]>] = []
        for run in found { if let run = try deadRun(run.number, in: namespace) { whole.append(run) } }
        return whole
    }

    /// Returns a dead run with its values.
    package func deadRun(_ run: Int64, in namespace: DurableNamespace) throws(DurableError) -> DurableDeadRun<[UInt8]>?
    {
        let statement = try connection[.deadByRun]
        defer { statement.reset() }
        statement.bind(":run", run)
        statement.bind(":namespace", namespace.id)
        guard try statement.next() else { return nil }
        let (key, run, at) = try dead(statement, in: namespace)
        let values =
            namespace.collects
            ? try values(of: run.value, of: key, in: namespace) : [statement.blob(DeadColumn.value)]
        return DurableDeadRun(key: key, run: run, stored: values, diedAt: at, at: now)
    }
}

// Deleting a namespace: in steps, between which other processes write, since its ends may be millions. It disappears in
// the last one.

extension SQLiteTransaction {
    /// The most rows of a table that a step deletes.
    private static let forgottenRows = 5000

    package mutating func removeSome(of namespace: DurableNamespace) throws(DurableError) -> Bool {
        // Keys without work whose gates are not idle.
        let statement = try connection[.someRows]
        statement.bind(":namespace", namespace.id)
        statement.bind(":limit", Self.forgottenRows)
        let rest = try entries(statement)
        for entry in rest {
            base = max(base, entry.row.generation)
            try delete(entry, in: namespace)
        }
        if rest.count == Self.forgottenRows { return false }
        for query in [Query.forgetEndsOfNamespace, .forgetTokensOfNamespace, .forgetValuesOfNamespace] {
            if try run(query, on: namespace, limit: Self.forgottenRows) == Self.forgottenRows { return false }
        }
        for query in [
            Query.forgetSpentOfNamespace, .forgetTallyOfNamespace, .forgetWorkersOfNamespace, .forgetNamespace,
        ] {
            try run(query, on: namespace)
        }
        tallies = tallies.filter { $0.key.namespace != namespace.id }
        counters[namespace.id] = nil
        forgetCachedNamespaces()
        return true
    }

    /// - Returns: The number of rows deleted.
    @discardableResult
    private func run(_ query: Query, on namespace: DurableNamespace, limit: Int? = nil) throws(DurableError) -> Int {
        let statement = try connection[query]
        statement.bind(":namespace", namespace.id)
        if let limit { statement.bind(":limit", limit) }
        let before = connection.rowsWritten
        try statement.run()
        return Int(connection.rowsWritten &- before)
    }
}

// The values of `collect`: each is a row of its own under the generation of its submit. A submit therefore costs the
// same however many values there are, and values that become due, are claimed or die are a range of rows that need not
// move.

extension DurableNamespace {
    /// Whether values are rows of their own.
    var collects: Bool { rules.combination == .collect }
}

extension SQLiteTransaction {
    /// The most values that are deleted when a range ends, and in each later transaction until none is left: a large
    /// range must not delay other writers.
    static let mostDeleted = 256

    /// Inserts the values of a batch that come from the caller.
    func insertValues(
        _ batch: Batch<DurablePayload>?, of key: [UInt8], in namespace: DurableNamespace
    ) throws(DurableError) {
        guard let batch else { return }
        for case .bytes(let value, let generation) in batch.values {
            let statement = try connection[.insertValue]
            statement.bind(":namespace", namespace.id)
            statement.bind(":key", blob: key)
            statement.bind(":generation", generation)
            statement.bind(":value", blob: value)
            try statement.run()
        }
    }

    /// Reads the values of a run.
    func values(
        of run: DurableRow.Ready, of key: [UInt8], in namespace: DurableNamespace
    ) throws(DurableError) -> [[UInt8]] {
        let statement = try range(.values, run.submits, of: key, namespace.id)
        defer { statement.reset() }
        var values: [[UInt8]] = []
        while try statement.next() { values.append(statement.blob(0)) }
        guard values.count == run.count else {
            throw connection.damage("\(values.count) values of \(run.count) submits")
        }
        return values
    }

    package mutating func generation(
        ofValue index: Int, in ready: DurableRow.Ready, of key: [UInt8], in namespace: DurableNamespace
    ) throws(DurableError) -> Int64? {
        let statement = try range(.generationOfValue, ready.submits, of: key, namespace.id)
        defer { statement.reset() }
        statement.bind(":index", index)
        guard try statement.next() else { throw connection.damage("fewer than \(ready.count) values that are ready") }
        return statement.integer(0)
    }

    package mutating func dropValues(
        of submits: ClosedRange<Int64>, of key: [UInt8], in namespace: DurableNamespace
    ) throws(DurableError) {
        if namespace.collects { _ = try deleteValues(submits, of: key, namespace.id, limit: -1) }
    }

    /// Deletes the values of a range that has ended: all, or some now and the rest in later transactions.
    func releaseValues(
        of submits: ClosedRange<Int64>, of key: [UInt8], in namespace: DurableNamespace
    ) throws(DurableError) {
        guard namespace.collects else { return }
        let deleted = try deleteValues(submits, of: key, namespace.id, limit: Self.mostDeleted)
        if deleted < Self.mostDeleted { return }
        try range(.insertSpent, submits, of: key, namespace.id).run()
    }

    /// Deletes some of the values that were too many for the step in which they ended (the ranges in `spent`).
    func deleteReleasedValues(atMost limit: Int = mostDeleted) throws(DurableError) {
        var left = limit
        while left > 0 {
            let spent = try connection[.spent]
            defer { spent.reset() }
            guard try spent.next() else { return }
            let (id, namespace, key) = (spent.integer(0), spent.integer(1), spent.blob(2))
            let submits = try spent.range(3, 4)
            spent.reset()
            let deleted = try deleteValues(submits, of: key, namespace, limit: left)
            if deleted == left { return }
            let statement = try connection[.deleteSpent]
            statement.bind(":id", id)
            try statement.run()
            left -= max(1, deleted)
        }
    }

    /// Deletes at most `limit` values of a range.
    ///
    /// - Returns: The number of values deleted.
    private func deleteValues(
        _ submits: ClosedRange<Int64>, of key: [UInt8], _ namespace: Int64, limit: Int
    ) throws(DurableError) -> Int {
        let statement = try range(.deleteValues, submits, of: key, namespace)
        statement.bind(":limit", limit)
        let before = connection.rowsWritten
        try statement.run()
        return Int(connection.rowsWritten &- before)
    }

    /// Returns a statement with its parameters for a range of a key's values bound.
    private func range(
        _ query: Query, _ submits: ClosedRange<Int64>, of key: [UInt8], _ namespace: Int64
    ) throws(DurableError) -> Statement {
        let statement = try connection[query]
        statement.bind(":namespace", namespace)
        statement.bind(":key", blob: key)
        statement.bind(":first", submits.lowerBound)
        statement.bind(":last", submits.upperBound)
        return statement
    }
}
