package import LullCore
package import LullDurable

// The rows of `work`.

extension SQLiteTransaction {
    // MARK: - One row

    package mutating func find(_ key: [UInt8], in namespace: DurableNamespace) throws(DurableError) -> DurableEntry? {
        let pending = try connection[.pendingByKey]
        defer { pending.reset() }
        pending.bind(":namespace", namespace.id)
        pending.bind(":key", blob: key)
        guard try pending.next() else { return nil }
        let hasReadyOrRun = !pending.isNull(WorkColumn.read.count + RowColumn.ofPending.count)
        if !hasReadyOrRun { return try pending.entry(key: key, isWhole: false) }
        let whole = try connection[.rowByID]
        defer { whole.reset() }
        whole.bind(":id", pending.integer(WorkColumn.id))
        return try whole.next() ? try whole.entry(key: key) : nil
    }

    package mutating func insert(
        _ row: DurableRow, wake: CoreInstant, of key: [UInt8], in namespace: DurableNamespace
    ) throws(DurableError) {
        // Most new rows have something pending and nothing else.
        let isPending = row.ready == nil && row.run == nil
        let statement = try connection[isPending ? .insertPending : .insertRow]
        statement.bind(row, wake: wake, isPending ? [.row, .pending, .wake] : .all)
        let batches = isPending ? [row.pending?.batch] : [row.pending?.batch, row.ready?.batch, row.run?.value.batch]
        for (column, batch) in zip([WorkColumn.pending, .ready, .run], batches) {
            statement.bind(column, blob: namespace.collects ? nil : bytes(of: batch))
        }
        statement.bind(.namespace, namespace.id)
        statement.bind(.key, blob: key)
        try statement.run()
        setSubmitMark(row, connection.lastInsertedRow, isSubmit: true)
        note(
            DurableEntry(handle: connection.lastInsertedRow, key: key, row: row, wake: wake), insteadOf: nil,
            in: namespace)
        if namespace.collects { for batch in batches { try insertValues(batch, of: key, in: namespace) } }
        recordWake(wake, in: namespace)
    }

    /// Sets ``submitMark`` after a row was written.
    private mutating func setSubmitMark(_ row: DurableRow, _ handle: Int64, isSubmit: Bool) {
        let isMark = isSubmit && row.pending?.last == now
        submitMark = isMark ? .submit(row: handle, generation: row.generation) : nil
    }

    package mutating func update(
        _ new: DurableEntry, from old: DurableEntry, in namespace: DurableNamespace
    ) throws(DurableError) {
        let (row, before) = (new.row, old.row)
        var change = RowUpdate(new, from: old)
        // A step has at most one value from the caller: that of its submit, or that of a dead run which is retried.
        var added: [UInt8]?
        if namespace.collects {
            try insertValues(row.pending?.batch, of: old.key, in: namespace)
            try insertValues(row.ready?.batch, of: old.key, in: namespace)
        } else {
            change.pending = source(row.pending?.batch, if: before.pending?.batch, &added)
            change.ready = source(row.ready?.batch, if: before.ready?.batch, &added)
            change.run = source(row.run?.value.batch, if: before.run?.value.batch, &added)
        }
        let statement = try connection[change]
        statement.bind(row, wake: new.wake, change.groups)
        if let added { statement.bind(RowUpdate.bytes, blob: added) }
        statement.bind(.id, new.handle)
        try statement.run()
        setSubmitMark(row, old.handle, isSubmit: row.generation != before.generation)
        note(new, insteadOf: old, in: namespace)
        if change.groups.contains(.wake) { recordWake(new.wake, in: namespace) }
    }

    package mutating func delete(_ entry: DurableEntry, in namespace: DurableNamespace) throws(DurableError) {
        let statement = try connection[.deleteRow]
        statement.bind(":id", entry.handle)
        try statement.run()
        submitMark = nil
        note(nil, insteadOf: entry, in: namespace)
    }

    // MARK: - Values

    /// Returns the source of a column's new value, and adds the value if the caller provides it; nil if it stays as it
    /// is.
    private func source(
        _ batch: Batch<DurablePayload>?, if old: Batch<DurablePayload>?, _ added: inout [UInt8]?
    ) -> RowUpdate.Source? {
        if batch == old { return nil }
        switch batch?.value {
        case nil: return .nothing
        case .stored(.pending): return .pending
        case .stored(.ready): return .ready
        case .stored(.run): return .run
        case .bytes(let bytes, _):
            added = bytes
            return .bytes
        }
    }

    /// Returns the value of a batch in a new row.
    private func bytes(of batch: Batch<DurablePayload>?) -> [UInt8]? {
        guard let batch else { return nil }
        guard case .bytes(let bytes, _) = batch.value else { preconditionFailure("a new row has nothing stored") }
        return bytes
    }

    package mutating func values(
        ofRunIn entry: DurableEntry, in namespace: DurableNamespace
    ) throws(DurableError) -> [[UInt8]] {
        if namespace.collects, let run = entry.row.run {
            return try values(of: run.value, of: entry.key, in: namespace)
        }
        let statement = try connection[.runValue]
        defer { statement.reset() }
        statement.bind(":id", entry.handle)
        guard try statement.next() else { throw connection.damage("a run without a row") }
        return [statement.blob(0)]
    }

    // MARK: - Many rows

    package mutating func earliest(
        in namespace: DurableNamespace, through now: CoreInstant, limit: Int
    ) throws(DurableError) -> [DurableEntry] {
        let statement = try connection[.earliestRows]
        statement.bind(":namespace", namespace.id)
        statement.bind(":now", now)
        statement.bind(":limit", limit)
        return try entries(statement)
    }

    package mutating func nextWake(
        in namespace: DurableNamespace, besides claim: DurableClaim?
    ) throws(DurableError) -> CoreInstant? {
        if let claim, !claim.hanging.isEmpty {
            let first = try earliest(in: namespace, through: .farFuture, limit: claim.hanging.count + 1)
            return first.first { !claim.isHanging($0.row.run) }?.wake
        }
        let statement = try connection[.nextWake]
        defer { statement.reset() }
        statement.bind(":namespace", namespace.id)
        guard try statement.next() else { return nil }
        return statement.integerOrNull(0).map(CoreInstant.init(nanoseconds:))
    }

    package mutating func held(by owner: Int64, in namespace: DurableNamespace) throws(DurableError) -> [DurableEntry] {
        let statement = try connection[.rowsOfWorker]
        statement.bind(":worker", owner)
        statement.bind(":namespace", namespace.id)
        return try entries(statement)
    }

    package func arrival(in namespace: DurableNamespace) throws(DurableError) -> CoreInstant {
        let statement = try connection[.arrival]
        defer { statement.reset() }
        statement.bind(":namespace", namespace.id)
        guard try statement.next(), let arrival = statement.integerOrNull(0) else { return .farPast }
        return CoreInstant(nanoseconds: arrival)
    }

    package mutating func setArrival(
        _ arrival: CoreInstant, in namespace: DurableNamespace
    ) throws(DurableError) {
        let statement = try connection[.setArrival]
        statement.bind(":namespace", namespace.id)
        statement.bind(":arrival", arrival.nanoseconds)
        try statement.run()
    }

    package mutating func leases(
        in namespace: DurableNamespace
    ) throws(DurableError) -> [(place: Int64, until: CoreInstant)] {
        let statement = try connection[.leases]
        defer { statement.reset() }
        statement.bind(":namespace", namespace.id)
        var leases: [(place: Int64, until: CoreInstant)] = []
        while try statement.next() {
            leases.append((statement.integer(0), CoreInstant(nanoseconds: statement.integer(1))))
        }
        return leases
    }

    package mutating func places(
        matching selection: DurableSelection, in namespace: DurableNamespace
    ) throws(DurableError) -> [Int64] {
        let statement = try connection[.allRows]
        defer { statement.reset() }
        statement.bind(":namespace", namespace.id)
        var places: [Int64] = []
        while try statement.next() { places.append(statement.integer(0)) }
        return places
    }

    package mutating func entry(
        at place: Int64, in namespace: DurableNamespace
    ) throws(DurableError) -> DurableEntry? {
        let statement = try connection[.rowOfNamespace]
        defer { statement.reset() }
        statement.bind(":id", place)
        statement.bind(":namespace", namespace.id)
        return try statement.next() ? try statement.entry() : nil
    }

    package mutating func keys(
        submittedBy submitter: Int64, in namespace: DurableNamespace
    ) throws(DurableError) -> [[UInt8]] {
        let statement = try connection[.keysOfSubmitter]
        defer { statement.reset() }
        statement.bind(":submitter", submitter)
        statement.bind(":namespace", namespace.id)
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
