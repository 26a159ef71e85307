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
