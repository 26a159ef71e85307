internal import LullCore
internal import LullDurable

// How a row lies in its columns.

extension Statement {
    /// Whether the row that the statement is at has more than what is pending.
    var hasMore: Bool { !isNull(11) || !isNull(12) }

    /// Reads the row that the statement is at; its columns are those of ``Query``, or the first of them if it has no more than
    /// what is pending.
    ///
    /// The values stay where they are.
    ///
    /// - Parameter key: The key, if it is known.
    func entry(key: [UInt8]? = nil) throws(DurableError) -> DurableEntry {
        var row = DurableRow(base: try number(2))
        row.generation = try number(3)
        row.taken = try number(4)
        row.gate.isOpen = integer(5) != 0
        row.gate.quiet = instant(6)
        row.gate.anchor = instant(7)
        row.span = CoreDuration(nanoseconds: try number(8, through: .max))
        row.gate.count = Int(try number(9, through: row.generation))
        if row.gate.count > 0 {
            row.pending = .init(
                batch: Batch(.stored(.pending)), last: instant(10), submitter: .init(integerOrNull(13)))
        }
        if !isNull(11) {
            var ready = try value(in: .ready, submits: try range(11, 14), from: 15)
            if !isNull(32) { ready.since = instant(32) }
            row.ready = ready
        }
        if !isNull(12) {
            let value = try value(in: .run, submits: try range(19, 20), from: 21)
            let state: DurableRow.Run.State =
                isNull(28) ? .backoff(until: instant(25)) : .claimed(until: instant(25))
            row.run = DurableRow.Run(
                value: value, id: try number(12), fence: try number(26), owner: integer(27),
                attempt: Int(try number(29)), state: state, error: isNull(30) ? nil : blob(30))
        }
        // What does not fit together would be noticed in the middle of a step, and stop the program.
        if let rule = row.checkInvariants().first { throw connection.damage("a key that breaks a rule: \(rule)") }
        return DurableEntry(handle: integer(0), key: key ?? blob(31), row: row, wake: instant(1))
    }

    /// Reads `count`, `first`, `due` and `edge` of a value.
    func value(
        in place: DurablePayload.Place, submits: ClosedRange<Int64>, from column: Int32
    ) throws(DurableError) -> DurableRow.Ready {
        DurableRow.Ready(
            batch: Batch(.stored(place)), submits: submits, count: Int(try number(column)), first: instant(column + 1),
            due: instant(column + 2), edge: try edge(column + 3))
    }

    /// A number that is counted up from 0, and that can be counted on.
    func number(_ column: Int32, through most: Int64 = 1 << 62) throws(DurableError) -> Int64 {
        let number = integer(column)
        guard 0...most ~= number else { throw connection.damage("the number \(number)") }
        return number
    }

    func instant(_ column: Int32) -> CoreInstant { CoreInstant(nanoseconds: integer(column)) }

    /// A range of submits.
    func range(_ first: Int32, _ last: Int32) throws(DurableError) -> ClosedRange<Int64> {
        let (first, last) = (try number(first), try number(last))
        guard first <= last else { throw connection.damage("a range of submits from \(first) to \(last)") }
        return first...last
    }

    func edge(_ column: Int32) throws(DurableError) -> Edge {
        let name = text(column)
        guard let edge = Edge(name) else { throw connection.damage("the edge '\(name)'") }
        return edge
    }

    // MARK: - Writing

    /// Binds what a row has in some groups of columns, in the order of ``Change``.
    func bind(_ row: DurableRow, wake: CoreInstant, _ groups: Change.Groups) {
        if groups.contains(.gate) {
            bind(1, row.generation)
            bind(2, row.gate.isOpen ? 1 : 0)
            bind(3, row.gate.quiet)
            bind(4, row.gate.anchor)
            bind(5, row.span.nanoseconds)
            bind(6, row.gate.count)
            bind(7, row.pending?.last.nanoseconds)
        }
        if groups.contains(.taken) { bind(8, row.taken) }
        if groups.contains(.ready) {
            bind(row.ready, from: 9)
            bind(15, row.ready?.since?.nanoseconds)
        }
        if groups.contains(.run) {
            bind(16, row.run?.id)
            bind(row.run?.value, from: 17)
            bind(23, row.run?.state.end.nanoseconds)
            bind(24, row.run?.fence)
            bind(25, row.run?.owner)
            bind(26, row.run.flatMap { $0.isInBackoff ? nil : $0.owner })
            bind(27, row.run.map { Int64($0.attempt) })
            bind(28, text: row.run?.errorText)
        }
        if groups.contains(.wake) { bind(29, wake) }
        if groups.contains(.submitter) { bind(30, row.pending?.submitter.number) }
    }

    /// Binds `from`, `to`, `count`, `first`, `due` and `edge`.
    private func bind(_ value: DurableRow.Ready?, from index: Int32) {
        bind(index, value?.submits.lowerBound)
        bind(index + 1, value?.submits.upperBound)
        bind(index + 2, value.map { Int64($0.count) })
        bind(index + 3, value?.first.nanoseconds)
        bind(index + 4, value?.due.nanoseconds)
        bind(index + 5, text: value.map { "\($0.edge.name)" })
    }

    func bind(_ index: Int32, _ instant: CoreInstant) { bind(index, instant.nanoseconds) }
}

extension Edge {
    /// The edge of that name.
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

extension DurableEnding.How {
    /// The end of that name.
    init?(_ name: String) {
        guard let how = Self.allCases.first(where: { "\($0.name)" == name }) else { return nil }
        self = how
    }
}
