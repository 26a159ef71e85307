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

/// A dead run as a store has it that keeps rows as bytes.
package struct StoredDead: Hashable, Sendable {
    package var key: [UInt8]
    package var run: DurableRow.Run
    package var at: CoreInstant
    /// The number of its first value.
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

/// The end of a range as a store has it that keeps rows as bytes.
package struct StoredEnd: Hashable, Sendable {
    package var submits: ClosedRange<Int64>
    package var how: DurableOutcome
    package var at: CoreInstant
    package var run: Int64?
    package var error: [UInt8]?

    package init(_ ending: DurableEnding, at: CoreInstant) {
        (submits, how, self.at) = (ending.submits, ending.how, at)
        (run, error) = (ending.run?.id, ending.run?.error)
    }

    package init(submits: ClosedRange<Int64>, how: DurableOutcome, at: CoreInstant, run: Int64?, error: [UInt8]?) {
        (self.submits, self.how, self.at, self.run, self.error) = (submits, how, at, run, error)
    }

    package var errorText: String? { error.map { String(decoding: $0, as: UTF8.self) } }

    package var bytes: [UInt8] {
        var (writer, copy) = (RowBytesWriter(), self)
        writer.byte(StoredRow.version)
        copy.code(with: &writer)
        writer.bytes(error)
        return writer.result
    }

    package init(_ bytes: [UInt8]) throws(DurableError) {
        var reader = RowBytesReader(bytes)
        try reader.version(StoredRow.version)
        (submits, how, at) = (0...0, .completed, .origin)
        try code(with: &reader)
        error = try reader.bytes()
    }

    private mutating func code<Coder: RowCoder>(with coder: inout Coder) throws(Coder.Failure) {
        try coder.submits(&submits)
        try coder.word("how", &how)
        try coder.instant("at", &at)
        try coder.optional("run", &run)
    }
}

extension DurableOutcome: RowWord {
    package static let all: [Self] = [.completed, .failed, .cancelled, .absorbed, .dead]
}

/// Writes parts as bytes.
package struct RowBytesWriter: RowCoder {
    package typealias Failure = Never

    package private(set) var result: [UInt8] = []
    private var latest = LatestNumbers()

    package init() { result.reserveCapacity(64) }

    package mutating func byte(_ byte: UInt8) { result.append(byte) }

    package mutating func number(
        _ name: StaticString, _ number: inout Int64, in range: ClosedRange<Int64>, usually usual: Int64?
    ) {
        if number == usual { byte(0) } else { write(number) }
    }

    package mutating func optional(_ name: StaticString, _ number: inout Int64?) {
        if let number { write(number) } else { byte(0) }
    }

    package mutating func word<Word: RowWord>(_ name: StaticString, _ word: inout Word) {
        byte(UInt8(clamping: Word.all.firstIndex(of: word) ?? 0))
    }

    package mutating func begin(_ slot: DurablePayload.Slot, if isThere: Bool) -> Bool {
        byte(isThere ? 1 : 0)
        return isThere
    }

    package mutating func end() {}
    package func require(_ condition: Bool, _ rule: StaticString) {}

    /// Bytes that may be missing, after their length.
    package mutating func bytes(_ bytes: [UInt8]?) {
        write(unsigned: UInt64(bytes.map { $0.count + 1 } ?? 0))
        if let bytes { result += bytes }
    }

    /// How the number is written, which is never 0, and its difference.
    private mutating func write(_ number: Int64) {
        let (kind, difference) = latest.code(number)
        byte(kind)
        write(unsigned: UInt64(bitPattern: difference << 1 ^ difference >> 63))
    }

    private mutating func write(unsigned number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            byte(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        byte(UInt8(rest))
    }
}

/// Reads parts from bytes.
package struct RowBytesReader: RowCoder {
    package typealias Failure = DurableError

    private let source: [UInt8]
    private var place = 0
    private var latest = LatestNumbers()

    package init(_ source: [UInt8]) { self.source = source }

    /// Checks the version of the format.
    package mutating func version(_ newest: UInt8) throws(DurableError) {
        let version = try byte()
        guard version > 0 else { throw damage("the version 0") }
        guard version <= newest else { throw .unusable("the store has rows of a newer version of Lull") }
    }

    package mutating func number(
        _ name: StaticString, _ number: inout Int64, in range: ClosedRange<Int64>, usually usual: Int64?
    ) throws(DurableError) {
        guard let found = try read() ?? usual else { throw damage("no \(name)") }
        number = found
        guard range.contains(number) else { throw damage("the \(name) \(number)") }
    }

    package mutating func optional(_ name: StaticString, _ number: inout Int64?) throws(DurableError) {
        number = try read()
    }

    package mutating func word<Word: RowWord>(_ name: StaticString, _ word: inout Word) throws(DurableError) {
        let index = Int(try byte())
        guard Word.all.indices.contains(index) else { throw damage("the \(name) \(index)") }
        word = Word.all[index]
    }

    package mutating func begin(_ slot: DurablePayload.Slot, if isThere: Bool) throws(DurableError) -> Bool {
        try byte() != 0
    }

    package mutating func end() {}

    package func require(_ condition: Bool, _ rule: StaticString) throws(DurableError) {
        if !condition { throw damage("\(rule)") }
    }

    package mutating func bytes() throws(DurableError) -> [UInt8]? {
        let length = try unsigned()
        if length == 0 { return nil }
        guard length - 1 <= UInt64(source.count - place) else { throw damage("a length of \(length - 1)") }
        defer { place += Int(length - 1) }
        return Array(source[place..<place + Int(length - 1)])
    }

    private mutating func byte() throws(DurableError) -> UInt8 {
        guard place < source.count else { throw damage("too few bytes") }
        defer { place += 1 }
        return source[place]
    }

    private mutating func read() throws(DurableError) -> Int64? {
        let kind = try byte()
        if kind == 0 { return nil }
        let coded = try unsigned()
        let difference = Int64(bitPattern: coded >> 1) ^ -Int64(bitPattern: coded & 1)
        guard let number = latest.number(kind, difference) else { throw damage("a number of the kind \(kind)") }
        return number
    }

    private mutating func unsigned() throws(DurableError) -> UInt64 {
        var (number, shift) = (UInt64(0), UInt64(0))
        while true {
            let next = try byte()
            guard shift < 63 || next <= 1 else { throw damage("a number of more than 64 bits") }
            number |= UInt64(next & 0x7F) << shift
            if next < 0x80 { return number }
            shift += 7
        }
    }

    private func damage(_ what: String) -> DurableError {
        .unusable("a row in the store is damaged: it has \(what)")
    }
}

/// The numbers before, from which the next ones are counted: of those of submits and runs (microseconds since 1970, and
/// more), and of instants (nanoseconds, years from their origin). Small numbers are as they are.
private struct LatestNumbers {
    private var submit: Int64 = 0
    private var instant: Int64 = 0

    /// Returns how a number is written, from 1, and what is written.
    mutating func code(_ number: Int64) -> (kind: UInt8, difference: Int64) {
        switch number.magnitude {
        case ..<(1 << 44): return (1, number)
        case ..<(1 << 56):
            defer { submit = number }
            return (2, number &- submit)
        default:
            defer { instant = number }
            return (3, number &- instant)
        }
    }

    /// Returns the number that was written in this way; nil if there is no such way.
    mutating func number(_ kind: UInt8, _ difference: Int64) -> Int64? {
        switch kind {
        case 1: return difference
        case 2:
            submit = submit &+ difference
            return submit
        case 3:
            instant = instant &+ difference
            return instant
        default: return nil
        }
    }
}
