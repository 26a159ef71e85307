internal import LullCore
internal import LullDurable

/// The rows of a file, as a step in a transaction sees them.
struct SQLiteTable: DurableTable {
    let connection: Connection
    /// The instant of the transaction.
    let now: CoreInstant
    var sequence: Int64
    var base: Int64
    /// The earliest `wake` that was written in each namespace since it was last asked.
    private var touched: [String: CoreInstant] = [:]

    init(_ connection: Connection, at now: CoreInstant, sequence: Int64, base: Int64) {
        self.connection = connection
        self.now = now
        self.sequence = sequence
        self.base = base
    }

    /// For the bell of the store.
    mutating func takeTouched() -> [String: CoreInstant] {
        defer { if !touched.isEmpty { touched = [:] } }
        return touched
    }

    private mutating func touch(_ wake: CoreInstant, in namespace: DurableNamespace) {
        touched[namespace.name] = min(wake, touched[namespace.name] ?? .farFuture)
    }

    // MARK: - One row

    mutating func find(_ key: [UInt8], in namespace: DurableNamespace) throws(DurableError) -> DurableEntry? {
        let pending = try connection[.pendingByKey]
        defer { pending.reset() }
        pending.bind(1, namespace.id)
        pending.bind(2, blob: key)
        guard try pending.next() else { return nil }
        if !pending.hasMore { return try pending.entry(key: key) }
        let whole = try connection[.rowByID]
        defer { whole.reset() }
        whole.bind(1, pending.integer(0))
        return try whole.next() ? try whole.entry(key: key) : nil
    }

    mutating func insert(
        _ row: DurableRow, wake: CoreInstant, of key: [UInt8], in namespace: DurableNamespace
    ) throws(DurableError) {
        let statement = try connection[.insertRow]
        statement.bind(row, wake: wake, [.gate, .taken, .ready, .run, .wake, .submitter])
        statement.bind(40, blob: row.pending.map { bytes(of: $0.batch.values, in: namespace) })
        statement.bind(41, blob: row.ready.map { bytes(of: $0.batch.values, in: namespace) })
        statement.bind(42, blob: row.run.map { bytes(of: $0.value.batch.values, in: namespace) })
        statement.bind(43, row.born)
        statement.bind(44, namespace.id)
        statement.bind(45, blob: key)
        try statement.run()
        touch(wake, in: namespace)
    }

    mutating func update(
        _ new: DurableEntry, from old: DurableEntry, in namespace: DurableNamespace
    ) throws(DurableError) {
        let (row, before) = (new.row, old.row)
        var change = Change()
        var added: [DurablePayload] = []
        if row.generation != before.generation || row.gate != before.gate || row.span != before.span
            || row.pending?.last != before.pending?.last
        {
            change.groups.insert(.gate)
        }
        if row.taken != before.taken { change.groups.insert(.taken) }
        if row.ready != before.ready { change.groups.insert(.ready) }
        if row.run != before.run { change.groups.insert(.run) }
        if row.pending?.submitter.number != before.pending?.submitter.number { change.groups.insert(.submitter) }
        if new.wake != old.wake { change.groups.insert(.wake) }
        change.pending = sources(row.pending?.batch, if: before.pending?.batch, &added)
        change.ready = sources(row.ready?.batch, if: before.ready?.batch, &added)
        change.run = sources(row.run?.value.batch, if: before.run?.value.batch, &added)
        let statement = try connection[change]
        statement.bind(row, wake: new.wake, change.groups)
        if !added.isEmpty { statement.bind(Change.bytes, blob: bytes(of: added, in: namespace)) }
        if case .firstReady(let count)? = row.run?.value.batch.value {
            statement.bind(Change.cut, try size(ofFirst: count, readyIn: old))
        }
        statement.bind(Change.id, new.handle)
        try statement.run()
        if change.groups.contains(.wake) { touch(new.wake, in: namespace) }
    }

    mutating func delete(_ entry: DurableEntry, in namespace: DurableNamespace) throws(DurableError) {
        let statement = try connection[.deleteRow]
        statement.bind(1, entry.handle)
        try statement.run()
    }

    // MARK: - Values

    /// Where a place gets its new values from; nil if they stay as they are.
    ///
    /// - Parameter added: Collects the bytes that come from outside. A step has at most one series of them: the value of its
    ///   submit, or what a dead run brings back.
    private func sources(
        _ batch: Batch<DurablePayload>?, if old: Batch<DurablePayload>?, _ added: inout [DurablePayload]
    ) -> Change.Sources? {
        if batch == old { return nil }
        var sources = Change.Sources()
        guard let batch else { return sources }
        for value in batch.values {
            switch value {
            case .stored(.pending): sources.append(.pending)
            case .stored(.ready): sources.append(.ready)
            case .stored(.run): sources.append(.run)
            case .firstReady: sources.append(.firstReady)
            case .readyAfter: sources.append(.readyAfter)
            case .bytes:
                if sources.last != .bytes { sources.append(.bytes) }
                added.append(value)
            }
        }
        return sources
    }

    /// Values that come from outside, as a column holds them.
    private func bytes(of values: [DurablePayload], in namespace: DurableNamespace) -> [UInt8] {
        var bytes: [UInt8] = []
        for value in values {
            guard case .bytes(let value) = value else { preconditionFailure("a new row has nothing stored") }
            if namespace.rules.combination != .collect { return value }
            bytes += Framing.frame(value)
        }
        return bytes
    }

    /// How many bytes the first values take of what is ready.
    private func size(ofFirst count: Int, readyIn entry: DurableEntry) throws(DurableError) -> Int {
        let statement = try connection[.readyValue]
        defer { statement.reset() }
        statement.bind(1, entry.handle)
        guard try statement.next(), let size = Framing.size(ofFirst: count, in: statement.blob(0)) else {
            throw connection.damage("a list of values that cannot be read")
        }
        return size
    }

    /// What a column holds.
    func values(_ bytes: [UInt8], in namespace: DurableNamespace) throws(DurableError) -> [[UInt8]] {
        guard namespace.rules.combination == .collect else { return [bytes] }
        guard let values = Framing.values(in: bytes), !values.isEmpty else {
            throw connection.damage("a list of values that cannot be read")
        }
        return values
    }

    mutating func values(
        ofRunIn entry: DurableEntry, in namespace: DurableNamespace
    ) throws(DurableError) -> [[UInt8]] {
        let statement = try connection[.runValue]
        defer { statement.reset() }
        statement.bind(1, entry.handle)
        guard try statement.next() else { throw connection.damage("a run without a row") }
        return try values(statement.blob(0), in: namespace)
    }

    // MARK: - Many rows

    mutating func earliest(
        in namespace: DurableNamespace, through now: CoreInstant, limit: Int
    ) throws(DurableError) -> [DurableEntry] {
        let statement = try connection[.earliestRows]
        statement.bind(1, namespace.id)
        statement.bind(2, now)
        statement.bind(3, limit)
        return try entries(statement)
    }

    mutating func nextWake(in namespace: DurableNamespace) throws(DurableError) -> CoreInstant? {
        let statement = try connection[.nextWake]
        defer { statement.reset() }
        statement.bind(1, namespace.id)
        guard try statement.next() else { return nil }
        return statement.integerOrNull(0).map(CoreInstant.init(nanoseconds:))
    }

    mutating func held(by owner: Int64, in namespace: DurableNamespace) throws(DurableError) -> [DurableEntry] {
        let statement = try connection[.rowsOfWorker]
        statement.bind(1, owner)
        statement.bind(2, namespace.id)
        return try entries(statement)
    }

    mutating func keys(in namespace: DurableNamespace) throws(DurableError) -> [[UInt8]] {
        try keys(try connection[.allKeys], in: namespace)
    }

    mutating func keys(
        submittedBy submitter: Int64, in namespace: DurableNamespace
    ) throws(DurableError) -> [[UInt8]] {
        let statement = try connection[.keysOfSubmitter]
        statement.bind(2, submitter)
        return try keys(statement, in: namespace)
    }

    private func keys(_ statement: Statement, in namespace: DurableNamespace) throws(DurableError) -> [[UInt8]] {
        defer { statement.reset() }
        statement.bind(1, namespace.id)
        var keys: [[UInt8]] = []
        while try statement.next() { keys.append(statement.blob(0)) }
        return keys
    }

    func entries(_ statement: Statement) throws(DurableError) -> [DurableEntry] {
        defer { statement.reset() }
        var entries: [DurableEntry] = []
        while try statement.next() { entries.append(try statement.entry()) }
        return entries
    }
}
