internal import LullCore

/// The rows of a store in memory.
struct MemoryTable: DurableTable {
    var sequence: Int64 = 0
    var base: Int64 = 0
    private var latestHandle: Int64 = 0
    private var keysByHandle: [Int64: (namespace: Int64, key: [UInt8])] = [:]
    private var contents: [Int64: Contents] = [:]
    /// What was written since `takeWritten`.
    private var written = WrittenWakes()

    /// The contents of one namespace.
    struct Contents {
        var rows: [[UInt8]: DurableEntry] = [:]
        var ends: [[UInt8]: [End]] = [:]
        var dead: [Int64: Dead] = [:]
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

    /// An ended range.
    struct End {
        var submits: ClosedRange<Int64>
        var how: DurableOutcome
        var run: Int64?
        var error: String?
        var at: CoreInstant
    }

    /// A run that has failed for good.
    struct Dead {
        var key: [UInt8]
        var run: DurableRow.Run
        var at: CoreInstant
    }

    private subscript(namespace: DurableNamespace) -> Contents {
        get { contents[namespace.id] ?? Contents() }
        _modify { yield &contents[namespace.id, default: Contents()] }
    }

    // MARK: - Rows

    mutating func find(_ key: [UInt8], in namespace: DurableNamespace) -> DurableEntry? {
        self[namespace].rows[key]
    }

    mutating func insert(_ row: DurableRow, wake: CoreInstant, of key: [UInt8], in namespace: DurableNamespace) {
        latestHandle += 1
        keysByHandle[latestHandle] = (namespace.id, key)
        self[namespace].rows[key] = DurableEntry(handle: latestHandle, key: key, row: row, wake: wake)
        written.note(wake, in: namespace)
    }

    mutating func update(_ new: DurableEntry, from old: DurableEntry, in namespace: DurableNamespace) {
        self[namespace].rows[new.key] = new
        if new.wake != old.wake { written.note(new.wake, in: namespace) }
    }

    mutating func noteInterruption(in namespace: DurableNamespace) { written.noteInterruption(in: namespace) }

    /// Removes and returns what was written, for the store's wake-up signal.
    mutating func takeWritten() -> WrittenWakes {
        defer { written = WrittenWakes() }
        return written
    }

    mutating func delete(_ entry: DurableEntry, in namespace: DurableNamespace) {
        self[namespace].rows[entry.key] = nil
        keysByHandle[entry.handle] = nil
    }

    mutating func earliest(in namespace: DurableNamespace, through now: CoreInstant, limit: Int) -> [DurableEntry] {
        let due = self[namespace].rows.values.filter { $0.wake <= now }
        return Array(due.sorted { ($0.wake, $0.handle) < ($1.wake, $1.handle) }.prefix(limit))
    }

    mutating func nextWake(in namespace: DurableNamespace) -> CoreInstant? {
        self[namespace].rows.values.map { $0.wake }.min()
    }

    mutating func held(by owner: Int64, in namespace: DurableNamespace) -> [DurableEntry] {
        self[namespace].entries { entry in
            entry.row.run.map { !$0.isInBackoff && $0.owner == owner } ?? false
        }
    }

    mutating func handles(in namespace: DurableNamespace) -> [Int64] {
        self[namespace].entries { _ in true }.map { $0.handle }
    }

    mutating func entry(of handle: Int64, in namespace: DurableNamespace) -> DurableEntry? {
        guard let place = keysByHandle[handle], place.namespace == namespace.id else { return nil }
        return self[namespace].rows[place.key]
    }

    mutating func keys(submittedBy submitter: Int64, in namespace: DurableNamespace) -> [[UInt8]] {
        self[namespace].entries { entry in
            entry.row.pending?.submitter == .one(submitter) || entry.row.pending?.submitter == .several
        }.map { $0.key }
    }

    mutating func values(ofRunIn entry: DurableEntry, in namespace: DurableNamespace) -> [[UInt8]] {
        entry.row.run.map { $0.value.batch.values.map { $0.bytesInMemory } } ?? []
    }

    mutating func arrival(in namespace: DurableNamespace) -> CoreInstant { self[namespace].arrival }

    mutating func setArrival(_ arrival: CoreInstant, in namespace: DurableNamespace) {
        self[namespace].arrival = arrival
    }

    mutating func leases(in namespace: DurableNamespace) -> [(handle: Int64, until: CoreInstant)] {
        self[namespace].entries { $0.row.run.map { !$0.isInBackoff } ?? false }.map {
            ($0.handle, $0.row.run?.state.end ?? .farPast)
        }
    }

    mutating func count(_ totals: DurableTotals, in namespace: DurableNamespace) { self[namespace].totals += totals }

    mutating func generation(
        ofValue index: Int, in ready: DurableRow.Ready, of key: [UInt8], in namespace: DurableNamespace
    ) -> Int64? { nil }

    mutating func dropValues(
        of submits: ClosedRange<Int64>, of key: [UInt8], in namespace: DurableNamespace
    ) {}

    // MARK: - Ends

    mutating func record(
        _ ending: DurableEnding, of entry: DurableEntry, at now: CoreInstant, in namespace: DurableNamespace
    ) {
        if ending.how == .dead, let run = ending.run {
            self[namespace].dead[run.id] = Dead(key: entry.key, run: run, at: now)
            return
        }
        self[namespace].endLog.append(entry.key, at: now)
        if ending.how == .absorbed, let last = self[namespace].ends[entry.key]?.last, last.how == .absorbed,
            last.submits.upperBound + 1 == ending.submits.lowerBound
        {
            self[namespace].ends[entry.key]?.removeLast()
            let submits = last.submits.lowerBound...ending.submits.upperBound
            self[namespace].ends[entry.key]?.append(End(submits: submits, how: .absorbed, at: now))
            return
        }
        self[namespace].ends[entry.key, default: []].append(
            End(submits: ending.submits, how: ending.how, run: ending.run?.id, error: ending.run?.errorText, at: now))
    }

    mutating func end(ofRun run: Int64, of key: [UInt8], in namespace: DurableNamespace) -> DurableOutcome? {
        if let dead = self[namespace].dead[run], dead.key == key { return .dead }
        return self[namespace].ends[key]?.first { $0.run == run }?.how
    }

    mutating func end(
        ofSubmit generation: Int64, of key: [UInt8], in namespace: DurableNamespace
    ) -> (how: DurableOutcome, error: String?)? {
        if let end = self[namespace].ends[key]?.first(where: { $0.submits.contains(generation) }) {
            return (end.how, end.error)
        }
        return self[namespace].dead.values.first { $0.key == key && $0.run.value.submits.contains(generation) }
            .map { (.dead, $0.run.errorText) }
    }

    mutating func newestEnd(of key: [UInt8], in namespace: DurableNamespace) -> Int64? {
        let ended = self[namespace].ends[key]?.map { $0.submits.upperBound } ?? []
        return (ended + self[namespace].dead.values.filter { $0.key == key }.map { $0.run.value.submits.upperBound })
            .max()
    }

    mutating func findDead(
        _ run: Int64, in namespace: DurableNamespace
    ) -> (key: [UInt8], run: DurableRow.Run)? {
        self[namespace].dead[run].map { ($0.key, $0.run) }
    }

    mutating func takeDead(_ run: Int64, withValues: Bool, in namespace: DurableNamespace) -> Bool {
        guard let dead = self[namespace].dead.removeValue(forKey: run) else { return false }
        self[namespace].endLog.append(dead.key, at: dead.at)
        return true
    }

    // MARK: - Tokens and retention

    mutating func answer(to token: String, in namespace: DurableNamespace) -> DurableReceipt? {
        self[namespace].tokens[Array(token.utf8)]
    }

    mutating func remember(
        _ receipt: DurableReceipt, for token: String, at now: CoreInstant, in namespace: DurableNamespace
    ) {
        let token = Array(token.utf8)
        self[namespace].tokens[token] = receipt
        self[namespace].tokenLog.append(token, at: now)
    }

    mutating func forget(
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

extension MemoryTable {
    /// Records that a worker is there.
    mutating func announce(_ worker: DurableWorker.Identity, in namespace: DurableNamespace, at now: CoreInstant) {
        self[namespace].workers = self[namespace].workers.filter {
            $0.value.at.duration(to: now) <= DurableWorker.memory
        }
        self[namespace].workers[worker.id] = (worker, now)
    }

    /// Returns the workers to be listed.
    func workers(of namespace: DurableNamespace, at now: CoreInstant) -> [DurableWorker] {
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

    /// Deletes all of a namespace. Later numbers are above those that it has had.
    mutating func forget(_ namespace: DurableNamespace) {
        for entry in self[namespace].rows.values {
            base = max(base, entry.row.generation)
            keysByHandle[entry.handle] = nil
        }
        contents[namespace.id] = nil
    }
}

// MARK: - Inspection

extension MemoryTable {
    func status(of namespace: DurableNamespace, at now: CoreInstant) -> DurableStatus {
        var status = DurableStatus(namespace: namespace.name, rules: namespace.rules)
        status.pause = namespace.pause
        for entry in self[namespace].rows.values { status.add(entry.row, at: now) }
        status.dead = self[namespace].dead.count
        status.add(self[namespace].totals)
        status.noteStarts(after: self[namespace].arrival, at: now)
        return status
    }

    func list(
        prefix: [UInt8], from start: [UInt8], limit: Int, in namespace: DurableNamespace, at now: CoreInstant
    ) -> [DurableListing<[UInt8]>] {
        self[namespace].rows.values
            .filter {
                $0.key.starts(with: prefix) && !$0.key.lexicographicallyPrecedes(start)
                    && $0.row.isListed(at: now, by: namespace.rules)
            }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }.prefix(max(0, limit))
            .map { DurableListing(key: $0.key, row: $0.row, rules: namespace.rules, at: now) }
    }

    mutating func upcoming(
        limit: Int, in namespace: DurableNamespace, at now: CoreInstant
    ) -> [DurableListing<[UInt8]>] {
        earliest(in: namespace, through: .farFuture, limit: DurableListing<[UInt8]>.mostRows(for: limit))
            .map { DurableListing(key: $0.key, row: $0.row, rules: namespace.rules, at: now) }
            .filter { $0.hasWork }.prefix(max(0, limit)).sortedByChange()
    }

    func ended(
        of key: [UInt8]?, limit: Int, in namespace: DurableNamespace, at now: CoreInstant
    ) -> [DurableEnd<[UInt8]>] {
        var all: [(key: [UInt8], end: End)] = []
        for (other, ends) in self[namespace].ends where key == nil || key == other {
            all += ends.map { (other, $0) }
        }
        for dead in self[namespace].dead.values where key == nil || key == dead.key {
            let run = dead.run
            let end = End(submits: run.value.submits, how: .dead, run: run.id, error: run.errorText, at: dead.at)
            all.append((dead.key, end))
        }
        all.sort { ($0.end.at, $0.end.submits.upperBound) > ($1.end.at, $1.end.submits.upperBound) }
        return all.prefix(max(0, limit)).map { key, end in
            DurableEnd(
                key: key, submits: end.submits, how: end.how, run: end.run, error: end.error,
                age: DurableNamespace.time(from: end.at, to: now))
        }
    }

    /// Returns the dead runs of a selection, the oldest first.
    func deadRuns(
        matching selection: DurableSelection, in namespace: DurableNamespace, at now: CoreInstant
    ) -> [Dead] {
        self[namespace].dead.values.sorted { ($0.at, $0.run.id) < ($1.at, $1.run.id) }
            .filter { selection.includes(deadRunOf: $0.key, $0.run.error, diedAt: $0.at, at: now) }
    }

    func deadRun(_ run: Int64, in namespace: DurableNamespace) -> Dead? { self[namespace].dead[run] }
}

extension MemoryTable.Dead {
    /// Returns the record of the run.
    func described(withValues: Bool, at now: CoreInstant) -> DurableDeadRun<[UInt8]> {
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
