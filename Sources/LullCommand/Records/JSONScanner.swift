/// Scans JSON text (RFC 8259) without building a tree: it returns the ranges of values, and throws where the text is no
/// JSON.
///
/// It is our own for exact values: Foundation's parsers keep neither all digits of a number nor the text of a value as
/// it stands. The benchmark rows "lull simulate" measure it.
struct JSONScanner {
    /// A syntax error and its position.
    struct Fault: Error, Equatable, CustomStringConvertible {
        /// In bytes, from 1.
        let column: Int
        let reason: Reason

        var description: String { "\(reason.rawValue) at column \(column)" }
    }

    /// The reason of a fault: the part of the syntax that is missing or wrong.
    enum Reason: String {
        case expectedValue = "a value is missing"
        case expectedObject = "an object is missing"
        case expectedName = "the name of a member is missing"
        case expectedColon = "a colon is missing"
        case expectedComma = "a comma or the closing bracket is missing"
        case expectedEnd = "there is more text after the value"
        case unfinishedString = "a string is not closed"
        case controlCharacter = "a string has an unescaped control character"
        case wrongEscape = "a string has an unknown escape"
        case notUTF8 = "a string is not UTF-8"
        case wrongNumber = "a number is incomplete"
        case tooDeep = "arrays and objects are nested deeper than 512"
    }

    /// A string: its content between the quotation marks.
    struct Text: Equatable {
        let content: Range<Int>
        let hasEscapes: Bool
    }

    /// The greatest nesting depth of arrays and objects, which ``Reason/tooDeep`` names.
    static let deepest = 512

    let text: ByteSlice
    private(set) var position = 0
    /// Whether strings may contain bytes that are not UTF-8.
    private let takesAnyBytes: Bool

    init(_ text: ByteSlice, takesAnyBytes: Bool = false) {
        self.text = text
        self.takesAnyBytes = takesAnyBytes
    }

    /// Checks that a text is one value, and returns its range without the blanks around it. Strings may contain any
    /// bytes.
    static func whole(_ text: ByteSlice) throws(Fault) -> Range<Int> {
        var scanner = JSONScanner(text, takesAnyBytes: true)
        let range = try scanner.value()
        try scanner.end()
        return range
    }

    // MARK: - Steps

    /// The next byte, or 0 at the end, since no JSON begins with a NUL byte.
    var next: UInt8 { position < text.count ? text[position] : 0 }

    mutating func skipBlanks() {
        // The first comparison is enough where there are no blanks.
        while position < text.count, text[position] <= 0x20, JSONText.isBlank(text[position]) { position += 1 }
    }

    /// Enters an array or an object.
    mutating func open(_ bracket: Unicode.Scalar, orThrow reason: Reason) throws(Fault) {
        skipBlanks()
        guard take(bracket) else { throw fault(reason) }
    }

    /// Advances to the value of the next member of an object, and returns its name; nil at the end of the object.
    mutating func nextMember(_ isFirst: inout Bool) throws(Fault) -> Text? {
        guard try advance(before: "}", &isFirst) else { return nil }
        guard next == UInt8(ascii: "\"") else { throw fault(.expectedName) }
        let name = try string()
        skipBlanks()
        guard take(":") else { throw fault(.expectedColon) }
        skipBlanks()
        return name
    }

    /// Advances to the next element of an array; returns false at the end of the array.
    mutating func nextElement(_ isFirst: inout Bool) throws(Fault) -> Bool { try advance(before: "]", &isFirst) }

    private mutating func advance(before bracket: Unicode.Scalar, _ isFirst: inout Bool) throws(Fault) -> Bool {
        skipBlanks()
        if take(bracket) { return false }
        if !isFirst {
            guard take(",") else { throw fault(.expectedComma) }
            skipBlanks()
        }
        isFirst = false
        return true
    }

    /// Skips a value, and returns its range without the blanks around it.
    mutating func value() throws(Fault) -> Range<Int> {
        skipBlanks()
        let start = position
        try skipValue(depth: 0)
        return start..<position
    }

    /// Checks that nothing but blanks is left.
    mutating func end() throws(Fault) {
        skipBlanks()
        guard position == text.count else { throw fault(.expectedEnd) }
    }

    // MARK: - Values

    private mutating func skipValue(depth: Int) throws(Fault) {
        switch next {
        case UInt8(ascii: "\""): _ = try string()
        case UInt8(ascii: "{"):
            guard depth < Self.deepest else { throw fault(.tooDeep) }
            position += 1
            var isFirst = true
            while try nextMember(&isFirst) != nil { try skipValue(depth: depth + 1) }
        case UInt8(ascii: "["):
            guard depth < Self.deepest else { throw fault(.tooDeep) }
            position += 1
            var isFirst = true
            while try nextElement(&isFirst) { try skipValue(depth: depth + 1) }
        case UInt8(ascii: "t"): try skipLiteral("true")
        case UInt8(ascii: "f"): try skipLiteral("false")
        case UInt8(ascii: "n"): try skipLiteral("null")
        default: try skipNumber()
        }
    }

    private mutating func skipLiteral(_ literal: StaticString) throws(Fault) {
        let end = position + literal.utf8CodeUnitCount
        guard end <= text.count, text.part(position..<end).isEqual(to: literal) else { throw fault(.expectedValue) }
        position = end
    }

    private mutating func skipNumber() throws(Fault) {
        let hasSign = take("-")
        if !take("0") {
            guard skipDigits() else { throw fault(hasSign ? .wrongNumber : .expectedValue) }
        }
        if take(".") {
            guard skipDigits() else { throw fault(.wrongNumber) }
        }
        if next | 0x20 == UInt8(ascii: "e") {
            position += 1
            if !take("+") { _ = take("-") }
            guard skipDigits() else { throw fault(.wrongNumber) }
        }
    }

    private mutating func skipDigits() -> Bool {
        var end = position
        while end < text.count, text[end] &- UInt8(ascii: "0") < 10 { end += 1 }
        defer { position = end }
        return end > position
    }

    /// Skips a string, starting at its opening quotation mark.
    mutating func string() throws(Fault) -> Text {
        position += 1
        let start = position
        var hasEscapes = false
        while true {
            position = UTF8Text.endOfPlain(in: text, from: position)
            guard position < text.count else { break }
            let byte = text[position]
            if byte >= 0x80 {
                let length = takesAnyBytes ? 1 : UTF8Text.sequenceLength(in: text, at: position)
                if length == 0 { throw fault(.notUTF8) }
                position += length
            } else if byte == UInt8(ascii: "\"") {
                position += 1
                return Text(content: start..<position - 1, hasEscapes: hasEscapes)
            } else if byte == UInt8(ascii: "\\") {
                hasEscapes = true
                guard let length = JSONText.escapeLength(in: text, at: position) else { throw fault(.wrongEscape) }
                position += length
            } else {
                throw fault(.controlCharacter)
            }
        }
        throw fault(.unfinishedString)
    }

    private mutating func take(_ byte: Unicode.Scalar) -> Bool {
        guard position < text.count, text[position] == UInt8(ascii: byte) else { return false }
        position += 1
        return true
    }

    private func fault(_ reason: Reason) -> Fault { Fault(column: position + 1, reason: reason) }
}
