package import LullCore
package import LullDurable

/// A transaction of a file: the table on which the steps of ``DurableTable`` work, and the calls of a store by the names of
/// namespaces.
package struct SQLiteTransaction: DurableTable {
    let connection: Connection
    let limits: DurableLimits
    /// The numbers and the time of the file as they will be after the transaction.
    private(set) var meta: Meta
    /// The present instant: that of the transaction, read after other processes could no longer write, or of the calls that came
    /// while it was open.
    package internal(set) var now: CoreInstant {
        didSet { if now != oldValue { submitMark = nil } }
    }
    /// The row that was written last, if a submit of the present instant has left something pending in it. It then shows that the
    /// transaction was committed, and its instant, so that ``Meta`` need not.
    var submitMark: CommitMark?
    /// What was written that concerns workers.
    private var written = WrittenWakes()
    /// What this transaction has changed in the counts, and not written yet.
    var tallies: [TallyPlace: Tally] = [:]
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
    }

    /// See ``DurableTable/sequence``.
    package var sequence: Int64 {
        get { meta.sequence }
        set { meta.sequence = newValue }
    }

    /// See ``DurableTable/base``.
    package var base: Int64 {
        get { meta.base }
        set { meta.base = newValue }
    }

    /// Advances the present instant for calls that came while the transaction was open.
    mutating func advance(to reading: StoreTime.Reading) {
        now = meta.time.now(reading)
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

    /// Creates a namespace, or changes its rules.
    mutating func write(_ rules: DurableRules, of name: String, isNew: Bool) throws(DurableError) {
        try connection.write(rules, of: name, isNew: isNew)
        forgetCachedNamespaces()
    }

    /// Reads namespaces again from now on: one of them has changed.
    mutating func forgetCachedNamespaces() {
        latestNamespace = nil
        connection.clearNamespaceCache()
    }

    // MARK: - Wake-ups

    /// Removes and returns what was written, for the store's wake signal.
    mutating func takeWritten() -> WrittenWakes {
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
    mutating func forgetOnce(in namespace: DurableNamespace) throws(DurableError) {
        if hasForgotten { return }
        hasForgotten = true
        try forget(beyond: limits, in: namespace, at: now)
    }

    /// Deletes values that have ended, twice as many rows as the transaction has written, so that they never pile up, however busy the
    /// store is.
    func deleteReleasedValues(afterWriting rows: Int32) throws(DurableError) {
        if collects, rows > 0 { try deleteReleasedValues(atMost: max(Self.mostDeleted, 2 * Int(rows))) }
    }
}
