package import LullCore

/// The rows of a store in memory.
package struct MemoryTable: StoreTable {
    package var now = CoreInstant.origin
    package var wall = CoreInstant.origin
    package let limits: DurableLimits
    package var sequence: Int64 = 0
    package var base: Int64 = 0
    private var namespacesByName: [String: DurableNamespace] = [:]
    /// The number of the next new namespace.
    private var nextNamespace: Int64 = 0
    private var latestHandle: Int64 = 0
    private var contents: [Int64: NamespaceContents] = [:]
    /// What was written since `takeWritten`.
    private var written = WrittenWakes()

    /// Creates an empty table.
    init(limits: DurableLimits = DurableLimits()) { self.limits = limits }

    /// The contents of one namespace.
    fileprivate struct NamespaceContents {
        var rows: [[UInt8]: DurableEntry] = [:]
        var ends: [[UInt8]: [StoredEnd]] = [:]
        var dead: [Int64: StoredDead] = [:]
        /// By their bytes.
        var tokens: [[UInt8]: DurableReceipt] = [:]
        /// The keys that have ends, and the tokens, by age.
        var endLog = AgeLog<[UInt8]>()
        var tokenLog = AgeLog<[UInt8]>()
        var totals = DurableTotals()
        /// What the limit has counted.
        var arrival = CoreInstant.farPast
        /// What the workers have announced, by their numbers, and when.
        var workers: [Int64: (identity: DurableWorker.Identity, at: CoreInstant)] = [:]

        /// The rows that satisfy a condition, in the order of their insertion. A scan is fast enough for tests.
        func entries(where isIncluded: (DurableEntry) -> Bool) -> [DurableEntry] {
            rows.values.filter(isIncluded).sorted { $0.handle < $1.handle }
        }
    }

    private subscript(namespace: DurableNamespace) -> NamespaceContents {
        get { contents[namespace.id] ?? NamespaceContents() }
        _modify { yield &contents[namespace.id, default: NamespaceContents()] }
    }

    // MARK: - Rows

    package mutating func find(_ key: [UInt8], in namespace: DurableNamespace) -> DurableEntry? {
        self[namespace].rows[key]
    }

    package mutating func insert(_ row: DurableRow, wake: CoreInstant, of key: [UInt8], in namespace: DurableNamespace)
    {
        latestHandle += 1
        self[namespace].rows[key] = DurableEntry(handle: latestHandle, key: key, row: row, wake: wake)
        written.note(wake, in: namespace)
    }

    package mutating func update(_ new: DurableEntry, from old: DurableEntry, in namespace: DurableNamespace) {
        self[namespace].rows[new.key] = new
        if new.wake != old.wake { written.note(new.wake, in: namespace) }
    }

    package mutating func noteInterruption(in namespace: DurableNamespace) { written.noteInterruption(in: namespace) }

    /// Removes and returns what was written, for the store's wake-up signal.
    package mutating func takeWritten() -> WrittenWakes {
        defer { written = WrittenWakes() }
        return written
    }

    package mutating func delete(_ entry: DurableEntry, in namespace: DurableNamespace) {
        self[namespace].rows[entry.key] = nil
    }

    package mutating func earliest(in namespace: DurableNamespace, through now: CoreInstant, limit: Int)
        -> [DurableEntry]
    {
        let due = self[namespace].rows.values.filter { $0.wake <= now }
        return Array(due.sorted { ($0.wake, $0.handle) < ($1.wake, $1.handle) }.prefix(limit))
    }

    package mutating func nextWake(in namespace: DurableNamespace, besides claim: DurableClaim?) -> CoreInstant? {
        self[namespace].rows.values.filter { claim?.isHanging($0.row.run) != true }.map { $0.wake }.min()
    }

    package mutating func held(by owner: Int64, in namespace: DurableNamespace) -> [DurableEntry] {
        self[namespace].entries { entry in
            entry.row.run.map { !$0.isInBackoff && $0.owner == owner } ?? false
        }
    }

    package mutating func places(matching selection: DurableSelection, in namespace: DurableNamespace) -> [[UInt8]] {
        self[namespace].entries { $0.key.starts(with: selection.prefix) }.map { $0.key }
    }

    package mutating func entry(at key: [UInt8], in namespace: DurableNamespace) -> DurableEntry? {
        self[namespace].rows[key]
    }

    package mutating func keys(submittedBy submitter: Int64, in namespace: DurableNamespace) -> [[UInt8]] {
        self[namespace].entries { entry in
            entry.row.pending?.submitter == .one(submitter) || entry.row.pending?.submitter == .several
        }.map { $0.key }
    }

    package mutating func values(ofRunIn entry: DurableEntry, in namespace: DurableNamespace) -> [[UInt8]] {
        entry.row.run.map { $0.value.batch.values.map { $0.bytesInMemory } } ?? []
    }

    package mutating func arrival(in namespace: DurableNamespace) -> CoreInstant { self[namespace].arrival }

    package mutating func setArrival(_ arrival: CoreInstant, in namespace: DurableNamespace) {
        self[namespace].arrival = arrival
    }

    package mutating func leases(in namespace: DurableNamespace) -> [(place: [UInt8], until: CoreInstant)] {
        self[namespace].entries { $0.row.run.map { !$0.isInBackoff } ?? false }.map {
            ($0.key, $0.row.run?.state.end ?? .farPast)
        }
    }

    package mutating func count(_ totals: DurableTotals, of key: [UInt8], in namespace: DurableNamespace) {
        self[namespace].totals += totals
    }

    package mutating func generation(
        ofValue index: Int, in ready: DurableRow.Ready, of key: [UInt8], in namespace: DurableNamespace
    ) -> Int64? { nil }

    package mutating func dropValues(
        of submits: ClosedRange<Int64>, of key: [UInt8], in namespace: DurableNamespace
    ) {}

    // MARK: - Ends

    package mutating func record(
        _ ended: EndedSubmits, of entry: DurableEntry, at now: CoreInstant, in namespace: DurableNamespace
    ) {
        if ended.how == .dead, let run = ended.run {
            self[namespace].dead[run.id] = StoredDead(key: entry.key, run: run, at: now, place: 0)
            return
        }
        self[namespace].endLog.append(entry.key, at: now)
        var end = StoredEnd(ended, at: now)
        // Other submits of the key may have ended since.
        if end.how == .absorbed,
            let index = self[namespace].ends[entry.key]?.lastIndex(where: { $0.how == .absorbed }),
            let first = self[namespace].ends[entry.key]?[index].submits,
            first.upperBound + 1 == end.submits.lowerBound
        {
            end.submits = first.lowerBound...end.submits.upperBound
            self[namespace].ends[entry.key]?.remove(at: index)
        }
        self[namespace].ends[entry.key, default: []].append(end)
    }

    package mutating func end(ofRun run: Int64, of key: [UInt8], in namespace: DurableNamespace) -> EndKind? {
        if let dead = self[namespace].dead[run], dead.key == key { return .dead }
        return self[namespace].ends[key]?.first { $0.run == run }?.how
    }

    package mutating func end(
        ofSubmit generation: Int64, of key: [UInt8], in namespace: DurableNamespace
    ) -> (how: EndKind, error: String?)? {
        if let end = self[namespace].ends[key]?.first(where: { $0.submits.contains(generation) }) {
            return (end.how, end.errorText)
        }
        return self[namespace].dead.values.first { $0.key == key && $0.run.value.submits.contains(generation) }
            .map { (.dead, $0.run.errorText) }
    }

    package mutating func newestEnd(of key: [UInt8], in namespace: DurableNamespace) -> Int64? {
        let ended = self[namespace].ends[key]?.map { $0.submits.upperBound } ?? []
        return (ended + self[namespace].dead.values.filter { $0.key == key }.map { $0.run.value.submits.upperBound })
            .max()
    }

    package mutating func findDead(
        _ run: Int64, in namespace: DurableNamespace
    ) -> (key: [UInt8], run: DurableRow.Run)? {
        self[namespace].dead[run].map { ($0.key, $0.run) }
    }

    package mutating func takeDead(_ run: Int64, withValues: Bool, in namespace: DurableNamespace) -> Bool {
        guard let dead = self[namespace].dead.removeValue(forKey: run) else { return false }
        self[namespace].endLog.append(dead.key, at: dead.at)
        return true
    }

    // MARK: - Tokens and retention

    package mutating func answer(to token: String, in namespace: DurableNamespace) -> DurableReceipt? {
        self[namespace].tokens[Array(token.utf8)]
    }

    package mutating func remember(
        _ receipt: DurableReceipt, for token: String, at now: CoreInstant, in namespace: DurableNamespace
    ) {
        let token = Array(token.utf8)
        self[namespace].tokens[token] = receipt
        self[namespace].tokenLog.append(token, at: now)
    }

    package mutating func forget(
        endsBefore ended: CoreInstant, tokensBefore tokens: CoreInstant, in namespace: DurableNamespace
    ) {
        while let key = self[namespace].endLog.removeFirst(before: ended) {
            // These ends are looked at again when the run has ended or the dead run is removed.
            if self[namespace].rows[key]?.row.run != nil { continue }
            if self[namespace].dead.values.contains(where: { $0.key == key }) { continue }
            let rest = self[namespace].ends[key]?.filter { $0.at >= ended } ?? []
            self[namespace].ends[key] = rest.isEmpty ? nil : rest
        }
        while let token = self[namespace].tokenLog.removeFirst(before: tokens) {
            self[namespace].tokens[token] = nil
        }
    }
}

// MARK: - Namespaces and workers

extension MemoryTable {
    package mutating func namespace(_ name: String) throws(DurableError) -> DurableNamespace {
        guard let namespace = namespacesByName[name] else { throw .noPolicy(namespace: name) }
        return namespace
    }

    package func namespaces() -> [DurableNamespace] { namespacesByName.values.sorted { $0.name < $1.name } }

    package mutating func write(_ rules: DurableRules, of name: String, isNew: Bool) {
        if isNew {
            namespacesByName[name] = DurableNamespace(id: nextNamespace, name: name, rules: rules)
            nextNamespace += 1
        } else {
            namespacesByName[name]?.rules = rules
        }
    }

    package mutating func write(_ pause: DurablePause?, of namespace: DurableNamespace) {
        namespacesByName[namespace.name]?.latestPause = pause
    }

    package mutating func forgetSome(in namespace: DurableNamespace) throws(DurableError) {
        try forget(beyond: limits, in: namespace, at: now)
    }

    package mutating func announce(_ worker: DurableWorker.Identity, in namespace: DurableNamespace) {
        let now = now
        self[namespace].workers = self[namespace].workers.filter {
            $0.value.at.duration(to: now) <= DurableWorker.memory
        }
        self[namespace].workers[worker.id] = (worker, now)
    }

    package func workers(of namespace: DurableNamespace) -> [DurableWorker] {
        let claimed = self[namespace].rows.values.compactMap { entry in
            entry.row.run.flatMap { $0.isInBackoff ? nil : $0.owner }
        }
        return DurableWorker.listed(
            self[namespace].workers.values.map { identity, at in
                DurableWorker(
                    identity, seen: DurableNamespace.time(from: at, to: now),
                    running: claimed.count { $0 == identity.id })
            })
    }

    /// Deletes all of a namespace at once. Later numbers are above those that it has had.
    package mutating func removeSome(of namespace: DurableNamespace) -> Bool {
        for entry in self[namespace].rows.values { base = max(base, entry.row.generation) }
        contents[namespace.id] = nil
        namespacesByName[namespace.name] = nil
        return true
    }
}

// MARK: - Inspection

extension MemoryTable {
    package func status(of namespace: DurableNamespace) -> DurableStatus {
        var status = DurableStatus(namespace: namespace.name, rules: namespace.rules)
        status.note(namespace.latestPause, at: now)
        for entry in self[namespace].rows.values { status.add(entry.row, at: now) }
        status.dead = self[namespace].dead.count
        status.add(self[namespace].totals)
        status.noteStarts(after: self[namespace].arrival, at: now)
        return status
    }

    package func list(
        prefix: [UInt8], from start: [UInt8], limit: Int, in namespace: DurableNamespace
    ) -> [DurableListing<[UInt8]>] {
        self[namespace].rows.values
            .filter {
                $0.key.starts(with: prefix) && !$0.key.lexicographicallyPrecedes(start)
                    && $0.row.isListed(at: now, by: namespace.rules)
            }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }.prefix(max(0, limit))
            .map { DurableListing(key: $0.key, row: $0.row, rules: namespace.rules, at: now) }
    }

    package mutating func upcoming(limit: Int, in namespace: DurableNamespace) -> [DurableListing<[UInt8]>] {
        let now = now
        return earliest(in: namespace, through: .farFuture, limit: DurableListing<[UInt8]>.mostRows(for: limit))
            .map { DurableListing(key: $0.key, row: $0.row, rules: namespace.rules, at: now) }
            .filter { $0.hasWork }.prefix(max(0, limit)).sortedByChange()
    }

    package func ended(
        of key: [UInt8]?, limit: Int, in namespace: DurableNamespace
    ) -> [DurableEnd<[UInt8]>] {
        var all: [(key: [UInt8], end: StoredEnd)] = []
        for (other, ends) in self[namespace].ends where key == nil || key == other {
            all += ends.map { (other, $0) }
        }
        for dead in self[namespace].dead.values where key == nil || key == dead.key {
            all.append((dead.key, StoredEnd(EndedSubmits(dead.run, .dead), at: dead.at)))
        }
        return all.newest(limit, at: now)
    }

    package func deadRuns(
        matching selection: DurableSelection, newestFirst: Bool, limit: Int, withValues: Bool,
        in namespace: DurableNamespace
    ) -> [DurableDeadRun<[UInt8]>] {
        let dead = self[namespace].dead.values.sorted { ($0.at, $0.run.id) < ($1.at, $1.run.id) }
            .filter { selection.includes(deadRunOf: $0.key, $0.run.error, diedAt: $0.at, at: now) }
        return (newestFirst ? dead.reversed() : dead).prefix(max(0, limit)).map {
            $0.described(withValues: withValues, at: now)
        }
    }

    package func deadRun(_ run: Int64, in namespace: DurableNamespace) -> DurableDeadRun<[UInt8]>? {
        self[namespace].dead[run]?.described(withValues: true, at: now)
    }
}

extension StoredDead {
    /// Returns the record of the run.
    fileprivate func described(withValues: Bool, at now: CoreInstant) -> DurableDeadRun<[UInt8]> {
        let values = withValues ? run.value.batch.values.map { $0.bytesInMemory } : []
        return DurableDeadRun(key: key, run: run, stored: values, diedAt: at, at: now)
    }
}

extension MemoryTable {
    /// Returns the rules that do not hold; empty unless there is a bug.
    func checkInvariants(of namespace: DurableNamespace, isComplete: Bool) -> [String] {
        self[namespace].entries { _ in true }.flatMap { entry in
            let dead = self[namespace].dead.values.filter { $0.key == entry.key }.map { $0.run.value.submits }
            let ends = (self[namespace].ends[entry.key] ?? []).map { $0.submits }
            return entry.checkInvariants(ends: ends + dead, isComplete: isComplete, by: namespace.rules)
        }
    }
}

extension DurablePayload {
    /// The bytes: in memory a value is never stored anywhere else.
    fileprivate var bytesInMemory: [UInt8] {
        switch self {
        case .bytes(let bytes, _): bytes
        case .stored: preconditionFailure("a value in memory is its bytes")
        }
    }
}

/// Elements with the instants at which they were added, the oldest first.
private struct AgeLog<Element: Sendable> {
    private var entries: [(at: CoreInstant, element: Element)] = []
    /// The index of the oldest entry. Entries before it have been removed.
    private var head = 0

    mutating func append(_ element: Element, at instant: CoreInstant) {
        entries.append((instant, element))
    }

    /// Removes and returns the oldest element if it is older than an instant.
    mutating func removeFirst(before instant: CoreInstant) -> Element? {
        guard head < entries.count, entries[head].at < instant else { return nil }
        defer {
            head += 1
            if head > 64, 2 * head > entries.count {
                entries.removeFirst(head)
                head = 0
            }
        }
        return entries[head].element
    }
}
