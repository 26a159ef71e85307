internal import LullCore
internal import LullDurable

// How a row lies in its columns.

extension Statement {
    /// Reads the row that the statement is at; its columns are those of ``Query``.
    ///
    /// The values stay where they are.
    ///
    /// - Parameter key: The key, if it is known.
    func entry(key: [UInt8]? = nil) throws(DurableError) -> DurableEntry {
        var row = DurableRow(base: integer(3))
        row.generation = integer(4)
        row.taken = integer(5)
        row.gate.isOpen = integer(6) != 0
        row.gate.quiet = instant(7)
        row.gate.anchor = instant(8)
        row.span = CoreDuration(nanoseconds: integer(9))
        row.gate.count = Int(integer(10))
        if row.gate.count > 0 { row.pending = .init(batch: Batch(.stored(.pending)), last: instant(11)) }
        if !isNull(12) { row.ready = try value(from: 12, in: .ready) }
        if !isNull(18) {
            let value = try value(from: 19, in: .run)
            let state: DurableRow.Run.State =
                isNull(28) ? .backoff(until: instant(25)) : .claimed(until: instant(25))
            row.run = DurableRow.Run(
                value: value, id: integer(18), fence: integer(26), owner: integer(27), attempt: Int(integer(29)),
                state: state, error: isNull(30) ? nil : blob(30))
        }
        return DurableEntry(handle: integer(0), key: key ?? blob(1), row: row, wake: instant(2))
    }

    /// Reads `from`, `to`, `count`, `first`, `due` and `edge`.
    func value(from column: Int32, in place: DurablePayload.Place) throws(DurableError) -> DurableRow.Ready {
        DurableRow.Ready(
            batch: Batch(.stored(place)), submits: try range(column, column + 1), count: Int(integer(column + 2)),
            first: instant(column + 3), due: instant(column + 4), edge: try edge(column + 5))
    }

    func instant(_ column: Int32) -> CoreInstant { CoreInstant(nanoseconds: integer(column)) }

    /// A range of submits.
    func range(_ first: Int32, _ last: Int32) throws(DurableError) -> ClosedRange<Int64> {
        let (first, last) = (integer(first), integer(last))
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
        if groups.contains(.ready) { bind(row.ready, from: 9) }
        if groups.contains(.run) {
            bind(15, row.run?.id)
            bind(row.run?.value, from: 16)
            bind(22, row.run?.state.end.nanoseconds)
            bind(23, row.run?.fence)
            bind(24, row.run?.owner)
            bind(25, row.run.flatMap { $0.isInBackoff ? nil : $0.owner })
            bind(26, row.run.map { Int64($0.attempt) })
            bind(27, text: row.run?.errorText)
        }
        if groups.contains(.wake) { bind(28, wake) }
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
