package import LullCore

/// The rows of some keys as a server had them at one instant, and what steps make of them.
///
/// A store on a server loads what steps are known to need, runs them here, and writes their ``changes()`` in one atomic
/// act. What a step asks for and is not here goes to ``missing``, and the step fails: whatever it has returned, what is
/// missing is loaded then, and after ``begin()`` the steps are run again, on the table as it was before them.
package struct LoadedTable {
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
        /// How many more rows that are due, and whether it matters when the next one wakes.
        package var due = 0
        package var next = false
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

    // MARK: - What the server says

    /// The present instant, in whole microseconds.
    package private(set) var now: CoreInstant
    package let namespace: DurableNamespace
    /// What changes with the settings of the namespace: what was loaded under others is not written.
    package let settings: [UInt8]
    private var keys: [[UInt8]: LoadedKey] = [:]
    /// The keys in the order in which they were loaded.
    private(set) var order: [LoadedKey] = []
    /// The first of the fences and run ids that are reserved, and how many are. They are so far apart.
    private var firstFence: Int64 = 1
    private(set) var fencesReserved = 0
    let fenceStep: Int64
    /// The number above which new rows begin, before the steps: it is above all numbers of deleted rows.
    package private(set) var firstBase: Int64
    /// No submit has a lower number, so that one which is lost with the server's latest moments is not given again.
    package let leastGeneration: Int64
    private var tokens: [String: DurableReceipt?] = [:]
    var deadRuns: [Int64: StoredDead?] = [:]
    var ends: [[UInt8]: [StoredEnd]] = [:]
    var endsOfSubmits: [SubmitID: StoredEnd?] = [:]
    var origins: [SubmitID: Int64] = [:]
    /// When the first row wakes that was not loaded; up to there the order of those that were is certain.
    var nextUnloaded: CoreInstant = .farFuture
    /// How many runs workers have, if that was loaded with their rows.
    package private(set) var leaseCount: Int?
    private(set) var holders: Set<Int64> = []

    // MARK: - What steps have done

    package var missing = Missing()
    /// The number above which the next new row begins.
    package var base: Int64
    /// The number of the next fence or run id, and how many are left.
    var nextFence: Int64 = 1
    var fencesLeft = 0
    /// The answers that have been remembered.
    private var newTokens: [String: DurableReceipt] = [:]
    /// Whether workers have to look at their runs.
    package private(set) var hasInterruption = false
    /// The key that the present step is about, if it says so.
    package var selected: [UInt8]?
    /// The entry whose call is made, and its instant; nil for none, and for now.
    private var folding: (entry: InboxEntry, at: CoreInstant)?
    var instant: CoreInstant { folding?.at ?? now }

    package init(
        now: CoreInstant, namespace: DurableNamespace, settings: [UInt8], base: Int64, leastGeneration: Int64,
        fenceStep: Int64 = 1
    ) {
        self.now = now
        self.namespace = namespace
        self.settings = settings
        firstBase = base
        self.base = base
        self.leastGeneration = leastGeneration
        self.fenceStep = fenceStep
    }

    /// Takes note that more is loaded at a later instant: the steps are made at that.
    package mutating func advance(to later: CoreInstant, base: Int64) {
        now = max(now, later)
        firstBase = max(firstBase, base)
    }

    var collects: Bool { namespace.rules.combination == .collect }

    // MARK: - Loading

    /// Adds a key with its row and its entries of the inbox.
    package mutating func load(
        _ key: [UInt8], _ bytes: [UInt8]?, entries: [InboxEntry] = [], hasMoreEntries: Bool = false
    ) throws(DurableError) {
        guard keys[key] == nil else { return }
        let loaded = try LoadedKey(
            key, bytes, Int64(order.count), entries: entries, hasMoreEntries: hasMoreEntries)
        keys[key] = loaded
        order.append(loaded)
    }

    /// Makes room for keys.
    package mutating func reserveCapacity(_ count: Int) {
        keys.reserveCapacity(count)
        order.reserveCapacity(count)
    }

    /// How many keys were loaded.
    package var count: Int { order.count }
    package func hasLoaded(_ key: [UInt8]) -> Bool { keys[key] != nil }

    package mutating func reserveFences(from first: Int64, count: Int) {
        (firstFence, fencesReserved) = (first, count)
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

    /// Forgets what steps have made, and makes the calls of all entries that were loaded with their keys: before any
    /// step sees a row. There is no other place, so no path can forget it.
    package mutating func begin() throws(DurableError) {
        missing = Missing()
        (base, nextFence, fencesLeft) = (firstBase, firstFence, fencesReserved)
        if !newTokens.isEmpty { newTokens = [:] }
        (hasInterruption, selected) = (false, nil)
        for key in order { key.begin(at: now) }
        for key in order where !key.entries.isEmpty {
            for entry in key.entries { try fold(entry, of: key) }
        }
        folding = nil
    }

    /// Makes a call at its own instant, but not behind the latest step of the row.
    private mutating func fold(_ entry: InboxEntry, of loaded: LoadedKey) throws(DurableError) {
        let key = loaded.key
        let instant = min(max(entry.at, loaded.after?.latest ?? .farPast), now)
        folding = (entry, instant)
        loaded.folded.append(entry.stored)
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
            cause: .trailing)
        let run = DurableRow.Run(
            value: value, id: sequence, fence: sequence, owner: 0, attempt: 0, state: .backoff(until: instant),
            error: Array(reason.utf8))
        // No value of a row has a number below 0.
        store(submission.storedValue, of: entry.number, at: -entry.number, for: submission.key)
        keep(dead: run, of: submission.key, place: -entry.number, at: instant)
    }

    static var isMissing: DurableError { .refused("a row that has to be loaded first") }

    // MARK: - Changes

    /// Returns what is to be written, key by key; also some keys of which nothing has changed.
    package func changes(besides others: Set<[UInt8]> = []) -> [LoadedKey] {
        order.filter { key in
            if key.isUnchanged, others.isEmpty || !others.contains(key.key) { return false }
            key.complete(at: now, collects: collects)
            return true
        }
    }

    /// Returns the runs that a worker has, of those that were loaded.
    package func runs(of owner: Int64) -> Set<Int64> {
        Set(order.compactMap { $0.after.flatMap { $0.holder == owner ? $0.row.run?.id : nil } })
    }

    func valueCount(of ready: DurableRow.Ready) -> Int64 { collects ? Int64(ready.count) : 1 }

    /// Returns the numbers of the values of a run.
    package func valueNumbers(ofRun run: Int64, of key: [UInt8]) -> Range<Int64>? {
        guard let row = keys[key]?.after, let value = row.row.run?.value, row.row.run?.id == run else { return nil }
        return row.places.run..<row.places.run + valueCount(of: value)
    }

    // MARK: - Access for the extensions

    func known(_ key: [UInt8]) -> LoadedKey? { keys[key] }

    package mutating func count(_ totals: DurableTotals, of key: [UInt8], in namespace: DurableNamespace) {
        keys[key]?.totals += totals
    }

    package mutating func noteInterruption(in namespace: DurableNamespace) { hasInterruption = true }

    /// Adds a value under a number.
    mutating func store(_ value: [UInt8], of generation: Int64, at number: Int64, for key: [UInt8]) {
        keys[key]?.store(value, of: generation, at: number, collects: collects)
    }

    /// Adds a dead run.
    mutating func keep(dead run: DurableRow.Run, of key: [UInt8], place: Int64, at instant: CoreInstant) {
        keys[key]?.dead.append(StoredDead(key: key, run: run, at: instant, place: place))
        keys[key]?.ends.append(StoredEnd(EndedSubmits(run, .dead), at: instant))
    }

    // MARK: - Tokens

    package mutating func answer(
        to token: String, in namespace: DurableNamespace
    ) throws(DurableError) -> DurableReceipt? {
        if let receipt = newTokens[token] { return receipt }
        guard let receipt = tokens[token] else {
            missing.tokens.insert(token)
            throw Self.isMissing
        }
        return receipt
    }

    package mutating func remember(
        _ receipt: DurableReceipt, for token: String, at now: CoreInstant, in namespace: DurableNamespace
    ) {
        newTokens[token] = receipt
        keys[receipt.key]?.tokens.append((token, receipt, folding?.entry.number))
    }
}
