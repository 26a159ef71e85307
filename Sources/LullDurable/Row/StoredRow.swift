package import LullCore

// A row as bytes: the version of the format, and then its parts, in the order of ``DurableRow/code(with:)``. Numbers of
// submits are differences from the one before, and so are instants, since most are close to it: a row with a pending
// value has about 45 bytes.

/// A row as a store has it that keeps rows as bytes.
package struct StoredRow: Hashable, Sendable {
    /// The row; its values are in the slots of the store.
    package var row: DurableRow
    /// The instant by which the row is found: see ``DurableEntry/wake``.
    package var wake: CoreInstant
    /// The latest instant at which the row was stepped.
    package var latest: CoreInstant
    /// The numbers of the values: see ``ValuePlaces``.
    package var places: ValuePlaces

    package init(row: DurableRow, wake: CoreInstant, latest: CoreInstant, places: ValuePlaces) {
        self.row = row
        self.wake = wake
        self.latest = latest
        self.places = places
    }
}

/// Where a store has the values of a row: under numbers, each used once in the life of a key, so that no value moves.
/// Values that are collected are next to each other.
package struct ValuePlaces: Hashable, Sendable {
    /// The number of the next value.
    package var next: Int64
    /// The first number of each part of the row.
    package var pending: Int64 = 0
    package var ready: Int64 = 0
    package var run: Int64 = 0

    package init(next: Int64) { self.next = next }

    /// The first number of a part.
    package subscript(slot: DurablePayload.Slot) -> Int64 {
        get {
            switch slot {
            case .pending: pending
            case .ready: ready
            case .run: run
            }
        }
        set {
            switch slot {
            case .pending: pending = newValue
            case .ready: ready = newValue
            case .run: run = newValue
            }
        }
    }
}

extension StoredRow {
    /// The version of the format that this program writes.
    static let version: UInt8 = 1

    /// The row as bytes.
    package var bytes: [UInt8] {
        var (writer, row) = (RowBytesWriter(), row)
        writer.byte(Self.version)
        row.code(with: &writer)
        if let run = row.run { writer.bytes(run.error) }
        var copy = self
        copy.codeRest(with: &writer)
        return writer.result
    }

    /// Reads a row.
    package init(_ bytes: [UInt8]) throws(DurableError) {
        var reader = RowBytesReader(bytes)
        try reader.version(Self.version)
        row = DurableRow(base: 0)
        try row.code(with: &reader)
        if row.run != nil { row.run?.error = try reader.bytes() }
        (wake, latest, places) = (.origin, .origin, ValuePlaces(next: 0))
        try codeRest(with: &reader)
    }

    private mutating func codeRest<Coder: RowCoder>(with coder: inout Coder) throws(Coder.Failure) {
        try coder.instant("wake", &wake, usually: .farFuture)
        try coder.instant("latest", &latest)
        try coder.counter("next", &places.next)
        // One of an entry that could not be folded is below 0.
        if row.pending != nil { try coder.number("pending place", &places.pending) }
        if row.ready != nil { try coder.number("ready place", &places.ready) }
        if row.run != nil { try coder.number("run place", &places.run) }
    }
}
