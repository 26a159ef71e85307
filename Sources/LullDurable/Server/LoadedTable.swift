package import LullCore

/// The rows of some keys as a server had them at one instant, and what steps make of them.
///
/// A store on a server loads what steps are known to need, runs them here, and writes their ``changes()`` in one atomic
/// act. What a step asks for and is not here goes to ``missing``, and the step fails: whatever it has returned, what is
/// missing is loaded then, and the steps are run again on the table as it was before them.
package struct LoadedTable: Sendable {
    /// What steps have asked for in vain.
    package struct Missing: Hashable, Sendable {
        package var keys: Set<[UInt8]> = []
        package var tokens: Set<String> = []
        package var dead: Set<Int64> = []
        /// The keys of which it matters how their submits have ended, and single submits of keys.
        package var ends: Set<[UInt8]> = []
        package var endsOfSubmits: Set<SubmitID> = []
        /// Values of which it matters which submit they come from.
        package var values: Set<SubmitID> = []
        /// How many more rows that are due.
        package var due = 0
        /// The rows with runs that workers have: all of them, or those of one worker.
        package var needsLeases = false
        package var holders: Set<Int64> = []
        /// How many run ids and fences.
        package var fences = 0

        package var isEmpty: Bool { self == Missing() }
    }

    /// A submit of a key, or a value by its number.
    package struct SubmitID: Hashable, Sendable {
        package var key: [UInt8]
        package var number: Int64
    }

    /// What is known of a key.
    struct Key: Sendable {
        var read: StoredRow?
        var bytes: [UInt8]?
        /// The row now.
        var row: StoredRow?
        var handle: Int64
        var entries: [InboxEntry] = []
        var change: KeyChange
        var values: [Int64: [UInt8]] = [:]
        /// The dead run that is retried in the present step.
        var retried: StoredDead?
        /// The ranges of values that the store had before, beside those of the row.
        var others: [Range<Int64>] = []
    }

    // MARK: - What the server says

    /// The present instant, in whole microseconds.
    package private(set) var now: CoreInstant
    package let namespace: DurableNamespace
    /// What changes with the settings of the namespace: what was loaded under others is not written.
    package let settings: [UInt8]
    private(set) var keys: [[UInt8]: Key] = [:]
    /// The keys in the order in which they were loaded.
    private(set) var order: [[UInt8]] = []
    /// The number of the next fence or run id, and how many are reserved. They are so far apart.
    var nextFence: Int64 = 1
    var fencesLeft = 0
    private(set) var fencesReserved = 0
    let fenceStep: Int64
    /// The highest generation of all deleted rows, or what the server's time makes of it.
    package var base: Int64
    /// The same before the steps: a new row is refused if a later one was deleted meanwhile.
    package private(set) var firstBase: Int64
    var tokens: [String: DurableReceipt?] = [:]
    var deadRuns: [Int64: StoredDead?] = [:]
    var ends: [[UInt8]: [StoredEnd]] = [:]
    var endsOfSubmits: [SubmitID: StoredEnd?] = [:]
    var origins: [SubmitID: Int64] = [:]
    /// When the first row wakes that was not loaded; up to there the order of those that were is certain.
    var nextUnloaded: CoreInstant = .farFuture
    /// How many runs workers have, if that was loaded with their rows.
    package private(set) var leaseCount: Int?
    private(set) var holders: Set<Int64> = []
    /// The keys that the present step is about, if it says so.
    package var selected: [[UInt8]] = []

    /// The instant of the present step; nil for now.
    private var folding: CoreInstant?
    var instant: CoreInstant { folding ?? now }

    // MARK: - What steps have done

    package var missing = Missing()
    /// Whether workers have to look at their runs.
    package private(set) var hasInterruption = false

    package init(
        now: CoreInstant, namespace: DurableNamespace, settings: [UInt8], base: Int64, fenceStep: Int64 = 1
    ) {
        self.now = now
        self.namespace = namespace
        self.settings = settings
        self.base = max(base, now.microseconds)
        firstBase = self.base
        self.fenceStep = fenceStep
    }

    /// Takes note that more is loaded at a later instant: the steps are made at that.
    package mutating func advance(to later: CoreInstant, base: Int64) {
        now = max(now, later)
        self.base = max(self.base, base, now.microseconds)
        firstBase = self.base
    }

    var collects: Bool { namespace.rules.combination == .collect }

    /// The instant as a number of microseconds: no submit has a lower number, so that one which is lost with the
    /// server's latest moments is not given again.
    package var leastGeneration: Int64 { now.microseconds }

    // MARK: - Loading

    /// Adds a key with its row and its entries of the inbox. A row that was stepped later than now, by a clock that was
    /// ahead, is moved back as a whole: it waits as long as it would have.
    package mutating func load(
        _ key: [UInt8], _ bytes: [UInt8]?, entries: [InboxEntry] = [], hasMoreEntries: Bool = false
    ) throws(DurableError) {
        guard keys[key] == nil else { return }
        let read = try bytes.map { bytes throws(DurableError) in try StoredRow(bytes) }
        var row = read
        if let latest = row?.latest, latest > now { row?.moveBack(by: now.duration(to: latest)) }
        var change = KeyChange(key: key, expected: bytes, before: read, after: nil)
        change.hasMoreEntries = hasMoreEntries
        keys[key] = Key(
            read: read, bytes: bytes, row: row, handle: Int64(order.count), entries: entries, change: change)
        order.append(key)
    }

    /// How many keys were loaded.
    package var count: Int { order.count }
    package func hasLoaded(_ key: [UInt8]) -> Bool { keys[key] != nil }

    package mutating func reserveFences(from first: Int64, count: Int) {
        nextFence = first
        (fencesLeft, fencesReserved) = (count, count)
    }
    package mutating func load(token: String, _ receipt: DurableReceipt?) { tokens[token] = .some(receipt) }
    package mutating func load(dead run: Int64, _ dead: StoredDead?) { deadRuns[run] = .some(dead) }
    /// Adds how submits of a key have ended, the newest first: as many as matter.
    package mutating func load(endsOf key: [UInt8], _ found: [StoredEnd]) { ends[key] = found }
    package mutating func load(endOf submit: SubmitID, _ end: StoredEnd?) { endsOfSubmits[submit] = .some(end) }
    package mutating func load(originOf value: SubmitID, _ generation: Int64) { origins[value] = generation }
    /// Notes that all rows were loaded with runs that workers have, or those of one worker.
    package mutating func note(leases count: Int) { leaseCount = count }
    package mutating func note(holder owner: Int64) { holders.insert(owner) }
    /// Notes when the first of the rows wakes that were not loaded.
    package mutating func note(nextUnloaded wake: CoreInstant) { nextUnloaded = wake }

    // MARK: - Folding

    /// Makes the calls of all entries that were loaded with their keys: before any step sees a row. There is no other
    /// place, so no path can forget it.
    package mutating func fold() throws(DurableError) {
        for key in order {
            guard let entries = keys[key]?.entries, !entries.isEmpty else { continue }
            keys[key]?.entries = []
            for entry in entries { try fold(entry, of: key) }
        }
        folding = nil
    }

    /// Makes a call at its own instant, but not behind the latest step of the row.
    private mutating func fold(_ entry: InboxEntry, of key: [UInt8]) throws(DurableError) {
        let instant = min(max(entry.at, keys[key]?.row?.latest ?? .farPast), now)
        folding = instant
        keys[key]?.change.folded.append(entry.stored)
        switch entry.call {
        case .submit(let value, let wait, let token, let context):
            let submission = DurableSubmission(
                namespace: namespace.name, key: key, value: value, wait: wait, token: token, context: context)
            do throws(DurableError) {
                _ = try submit(submission, in: namespace, at: instant)
            } catch {
                guard missing.isEmpty else { throw error }
                try bury(entry, submission, "\(error)", at: instant)
            }
        case .touch(let wait): _ = try touch(key, wait: wait, in: namespace, at: instant)
        case .flush: _ = try change(.flush, key, in: namespace, at: instant)
        case .cancel: _ = try change(.cancel, key, in: namespace, at: instant)
        }
    }

    /// Keeps an entry that cannot be folded, as a dead run with its reason.
    private mutating func bury(
        _ entry: InboxEntry, _ submission: DurableSubmission, _ reason: String, at instant: CoreInstant
    ) throws(DurableError) {
        sequence += 1
        if !missing.isEmpty { throw Self.isMissing }
        let value = DurableRow.Ready(
            batch: Batch(.stored(.run)), submits: entry.number...entry.number, count: 1, first: entry.at, due: entry.at,
            edge: .trailing)
        let run = DurableRow.Run(
            value: value, id: sequence, fence: sequence, owner: 0, attempt: 0, state: .backoff(until: instant),
            error: Array(reason.utf8))
        // No value of a row has a number below 0.
        store(submission.storedValue, of: entry.number, at: -entry.number, for: submission.key)
        keep(dead: run, of: submission.key, place: -entry.number, at: instant)
    }

    static var isMissing: DurableError { .refused("a row that has to be loaded first") }

    // MARK: - Changes

    /// Returns what is to be written, key by key; also for some keys of which nothing else has changed.
    package func changes(besides others: Set<[UInt8]> = []) -> [KeyChange] {
        order.compactMap { key in
            guard let known = keys[key] else { return nil }
            var change = known.change
            change.after = known.row
            if change.after == change.before, change.isEmpty, !others.contains(key) { return nil }
            // A row that was moved back, or whose entries were folded, is written in any case.
            if change.after != nil { change.after?.latest = now }
            let kept =
                (known.row?.ranges(collects: collects) ?? [])
                + change.dead.map { $0.place..<$0.place + valueCount(of: $0.run.value) }
            let had = (known.read?.ranges(collects: collects) ?? []) + known.others
            change.dropped = removing(kept, from: had)
            change.values =
                known.values.filter { number, _ in kept.contains { $0.contains(number) } }
                .map { ($0.key, $0.value) }.sorted { $0.number < $1.number }
            return change
        }
    }

    func valueCount(of ready: DurableRow.Ready) -> Int64 { collects ? Int64(ready.count) : 1 }

    /// Returns the numbers of the values of a run.
    package func valueNumbers(ofRun run: Int64, of key: [UInt8]) -> Range<Int64>? {
        guard let row = keys[key]?.row, let value = row.row.run?.value, row.row.run?.id == run else { return nil }
        return row.places.run..<row.places.run + valueCount(of: value)
    }

    // MARK: - Access for the extensions

    func known(_ key: [UInt8]) -> Key? { keys[key] }

    mutating func with<Answer>(_ key: [UInt8], _ body: (inout Key) -> Answer) -> Answer? {
        guard let index = keys.index(forKey: key) else { return nil }
        return body(&keys.values[index])
    }

    package mutating func count(_ totals: DurableTotals, of key: [UInt8], in namespace: DurableNamespace) {
        _ = with(key) { $0.change.totals += totals }
    }

    package mutating func noteInterruption(in namespace: DurableNamespace) { hasInterruption = true }

    /// Adds a value under a number.
    mutating func store(_ value: [UInt8], of generation: Int64, at number: Int64, for key: [UInt8]) {
        let bytes = collects ? withUnsafeBytes(of: generation.bigEndian, Array.init) + value : value
        keys[key]?.values[number] = bytes
    }

    /// Adds a dead run.
    mutating func keep(dead run: DurableRow.Run, of key: [UInt8], place: Int64, at instant: CoreInstant) {
        keys[key]?.change.dead.append(StoredDead(key: key, run: run, at: instant, place: place))
        var ending = DurableEnding(run, .dead)
        ending.submits = run.value.submits
        keys[key]?.change.ends.append(StoredEnd(ending, at: instant))
    }
}
