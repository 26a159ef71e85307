internal import LullCore
internal import LullDurable

// A row of `work` in its columns.

extension Statement {
    /// Whether the current row has something ready or a run.
    var hasReadyOrRun: Bool { !isNull(WorkColumn.readyFrom) || !isNull(WorkColumn.runID) }

    /// Reads the current row: ``WorkColumn/ofRow``, or only ``WorkColumn/ofPending`` if nothing is ready and there is no run.
    ///
    /// It leaves the values in the file.
    ///
    /// - Parameter key: The key, if it is known.
    func entry(key: [UInt8]? = nil) throws(DurableError) -> DurableEntry {
        typealias Work = WorkColumn
        var row = DurableRow(base: try number(Work.born))
        row.generation = try number(Work.generation)
        row.taken = try number(Work.taken)
        row.gate.phase = try phase(Work.phase)
        row.gate.quiet = instant(Work.quiet)
        row.gate.latest = isNull(Work.latest) ? .farPast : instant(Work.latest)
        row.span = CoreDuration(nanoseconds: try number(Work.span, through: .max))
        row.spacing = CoreDuration(nanoseconds: try number(Work.spacing, through: .max))
        row.gate.count = Int(try number(Work.pendingCount, through: row.generation))
        if row.gate.count > 0 {
            row.gate.first = instant(Work.pendingFirst)
            row.pending = .init(
                batch: Batch(.stored(.pending)), last: instant(Work.pendingLast),
                submitter: .init(integerOrNull(Work.pendingBy)))
        }
        if !isNull(Work.readyFrom) {
            var ready = try value(in: .ready, ValueColumns<WorkColumn>.ready)
            if !isNull(Work.readySince) { ready.since = instant(Work.readySince) }
            row.ready = ready
        }
        if !isNull(Work.runID) {
            let end = instant(Work.runUntil)
            row.run = DurableRow.Run(
                value: try value(in: .run, ValueColumns<WorkColumn>.run), id: try number(Work.runID),
                fence: try number(Work.fence), owner: integer(Work.owner), attempt: Int(try number(Work.attempt)),
                state: isNull(Work.claimedBy) ? .backoff(until: end) : .claimed(until: end),
                error: isNull(Work.error) ? nil : blob(Work.error))
        }
        // An inconsistent row would be noticed in the middle of a step, and stop the program.
        if let rule = row.checkInvariants().first { throw connection.damage("a key that breaks a rule: \(rule)") }
        return DurableEntry(
            handle: integer(Work.id), key: key ?? blob(Work.key), row: row, wake: instant(Work.wake))
    }

    /// Reads a value that is ready or in a run.
    func value(
        in place: DurablePayload.Slot, _ columns: ValueColumns<some Column>
    ) throws(DurableError) -> DurableRow.Ready {
        DurableRow.Ready(
            batch: Batch(.stored(place)), submits: try range(columns.from, columns.to),
            count: Int(try number(columns.count)), first: instant(columns.first), due: instant(columns.due),
            edge: try edge(columns.edge))
    }

    /// Reads a counter: a number from 0 on that can still be incremented.
    func number(_ column: some Column, through most: Int64 = 1 << 62) throws(DurableError) -> Int64 {
        let number = integer(column)
        guard 0...most ~= number else { throw connection.damage("the number \(number)") }
        return number
    }

    /// Reads a range of submits.
    func range(
        _ first: some Column, _ last: some Column
    ) throws(DurableError) -> ClosedRange<Int64> {
        let (first, last) = (try number(first), try number(last))
        guard first <= last else { throw connection.damage("a range of submits from \(first) to \(last)") }
        return first...last
    }

    private func phase(_ column: some Column) throws(DurableError) -> Gate.Phase {
        let name = text(column)
        guard let phase = Gate.Phase(name) else { throw connection.damage("the phase '\(name)'") }
        return phase
    }

    private func edge(_ column: some Column) throws(DurableError) -> Edge {
        let name = text(column)
        guard let edge = Edge(name) else { throw connection.damage("the edge '\(name)'") }
        return edge
    }

    // MARK: - Writing

    /// Binds some groups of a row's columns.
    func bind(_ row: DurableRow, wake: CoreInstant, _ groups: Change.Groups) {
        if groups.contains(.gate) {
            bind(.generation, row.generation)
            bind(WorkColumn.phase.parameter, text: row.gate.phase.name)
            bind(.quiet, row.gate.quiet.nanoseconds)
            bind(.latest, row.gate.latest == .farPast ? nil : row.gate.latest.nanoseconds)
            bind(.span, row.span.nanoseconds)
            bind(.spacing, row.spacing.nanoseconds)
            bind(.pendingCount, Int64(row.gate.count))
            bind(.pendingFirst, row.gate.count > 0 ? row.gate.first.nanoseconds : nil)
            bind(.pendingLast, row.pending?.last.nanoseconds)
        }
        if groups.contains(.taken) { bind(.taken, row.taken) }
        if groups.contains(.ready) {
            bind(row.ready, .ready)
            bind(.readySince, row.ready?.since?.nanoseconds)
        }
        if groups.contains(.run) {
            bind(row.run?.value, .run)
            bind(.runID, row.run?.id)
            bind(.runUntil, row.run?.state.end.nanoseconds)
            bind(.fence, row.run?.fence)
            bind(.owner, row.run?.owner)
            bind(.claimedBy, row.run.flatMap { $0.isInBackoff ? nil : $0.owner })
            bind(.attempt, row.run.map { Int64($0.attempt) })
            bind(WorkColumn.error.parameter, text: row.run?.errorText)
        }
        if groups.contains(.wake) { bind(.wake, wake.nanoseconds) }
        if groups.contains(.submitter) { bind(.pendingBy, row.pending?.submitter.number) }
    }

    private func bind(_ value: DurableRow.Ready?, _ columns: ValueColumns<WorkColumn>) {
        bind(columns.from, value?.submits.lowerBound)
        bind(columns.to, value?.submits.upperBound)
        bind(columns.count, value.map { Int64($0.count) })
        bind(columns.first, value?.first.nanoseconds)
        bind(columns.due, value?.due.nanoseconds)
        bind(columns.edge.parameter, text: value.map { "\($0.edge.name)" })
    }

    func bind(_ column: WorkColumn, _ value: Int64?) { bind(column.parameter, value) }

    func bind(_ column: WorkColumn, blob bytes: [UInt8]?) { bind(column.parameter, blob: bytes) }
}

extension Gate.Phase {
    /// The name, as the file has it.
    fileprivate var name: String {
        switch self {
        case .idle: "idle"
        case .resting: "resting"
        case .open: "open"
        case .full: "full"
        }
    }

    /// The phase of a name; nil if there is none.
    fileprivate init?(_ name: String) {
        switch name {
        case "idle": self = .idle
        case "resting": self = .resting
        case "open": self = .open
        case "full": self = .full
        default: return nil
        }
    }
}

extension Edge {
    /// The edge of a name; nil if there is none.
    init?(_ name: String) {
        switch name {
        case "leading": self = .leading
        case "trailing": self = .trailing
        case "maxWait": self = .maxWait
        case "maxCount": self = .maxCount
        case "flush": self = .flush
        default: return nil
        }
    }
}
