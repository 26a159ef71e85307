package import LullCore

/// What a store has of a dead run.
package struct StoredDead: Hashable, Sendable {
    package var key: [UInt8]
    package var run: DurableRow.Run
    package var at: CoreInstant
    /// The number of its first value, where a store keeps rows as bytes.
    package var place: Int64

    package init(key: [UInt8], run: DurableRow.Run, at: CoreInstant, place: Int64) {
        (self.key, self.run, self.at, self.place) = (key, run, at, place)
    }

    package var bytes: [UInt8] {
        var (writer, copy) = (RowBytesWriter(), self)
        writer.byte(StoredRow.version)
        writer.bytes(key)
        copy.run.code(with: &writer)
        writer.bytes(run.error)
        writer.instant("at", &copy.at)
        writer.number("place", &copy.place)
        return writer.result
    }

    package init(_ bytes: [UInt8]) throws(DurableError) {
        var reader = RowBytesReader(bytes)
        try reader.version(StoredRow.version)
        key = try reader.bytes() ?? []
        run = DurableRow.Run(value: DurableRow.Ready(storedIn: .run))
        try run.code(with: &reader)
        run.error = try reader.bytes()
        (at, place) = (.origin, 0)
        try reader.instant("at", &at)
        try reader.number("place", &place)
    }
}
