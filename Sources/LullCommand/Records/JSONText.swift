internal import Foundation
internal import Lull
internal import LullCore
internal import LullInspection

/// Reads and writes JSON strings as bytes, and brings keys into the canonical form in which they are compared.
enum JSONText {
    static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    // MARK: - Reading

    /// Returns the length of the escape that begins at a backslash, or nil if it is none.
    static func escapeLength(in text: ByteSlice, at position: Int) -> Int? {
        guard position + 1 < text.count else { return nil }
        switch text[position + 1] {
        case UInt8(ascii: "u"): return unit(in: text, at: position) == nil ? nil : 6
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return 2
        default: return nil
        }
    }

    /// Returns the UTF-16 code unit of an escape such as `\u0041`.
    private static func unit(in text: ByteSlice, at position: Int) -> UInt16? {
        guard position + 6 <= text.count, text[position] == UInt8(ascii: "\\"), text[position + 1] == UInt8(ascii: "u")
        else { return nil }
        var unit: UInt16 = 0
        for byte in text[position + 2..<position + 6] {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): unit = unit << 4 | UInt16(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): unit = unit << 4 | UInt16(byte - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): unit = unit << 4 | UInt16(byte - UInt8(ascii: "A") + 10)
            default: return nil
            }
        }
        return unit
    }

    /// A part of a string's content.
    private enum Piece {
        /// Unescaped bytes.
        case bytes(ByteSlice)
        /// An escaped character.
        case scalar(Unicode.Scalar)
        /// A lone surrogate, which JSON allows and UTF-8 cannot encode.
        case surrogate(UInt16)
    }

    /// Splits the content of a valid string into its parts.
    private static func forEachPiece(of content: ByteSlice, _ body: (Piece) -> Void) {
        var position = 0
        var start = 0
        while position < content.count {
            guard content[position] == UInt8(ascii: "\\") else {
                position += 1
                continue
            }
            if start < position { body(.bytes(content.part(start..<position))) }
            switch content[position + 1] {
            case UInt8(ascii: "b"): body(.scalar("\u{8}"))
            case UInt8(ascii: "f"): body(.scalar("\u{C}"))
            case UInt8(ascii: "n"): body(.scalar("\n"))
            case UInt8(ascii: "r"): body(.scalar("\r"))
            case UInt8(ascii: "t"): body(.scalar("\t"))
            case UInt8(ascii: "u"):
                let high = unit(in: content, at: position) ?? 0
                if let scalar = Unicode.Scalar(high) {
                    body(.scalar(scalar))
                } else if UTF16.isLeadSurrogate(high), let low = unit(in: content, at: position + 6),
                    UTF16.isTrailSurrogate(low)
                {
                    body(.scalar(UTF16.decode(UTF16.EncodedScalar([high, low]))))
                    position += 6
                } else {
                    body(.surrogate(high))
                }
                position += 4
            case let byte: body(.scalar(Unicode.Scalar(byte)))
            }
            position += 2
            start = position
        }
        if start < content.count { body(.bytes(content.part(start..<content.count))) }
    }

    /// Returns the content of a valid string in UTF-8, with the replacement character for lone surrogates.
    static func content(_ content: ByteSlice) -> [UInt8] {
        var bytes: [UInt8] = []
        forEachPiece(of: content) { piece in
            switch piece {
            case .bytes(let slice): bytes.append(contentsOf: slice)
            case .scalar(let scalar): bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            case .surrogate: bytes.append(contentsOf: UTF8.encodedReplacementCharacter)
            }
        }
        return bytes
    }

    /// Returns the content of a value that is a string; nil for any other.
    static func string(_ value: ByteSlice) -> String? {
        guard value.first == UInt8(ascii: "\"") else { return nil }
        return String(decoding: content(value.part(1..<value.count - 1)), as: UTF8.self)
    }

    /// Returns the canonical form of a value: no blanks outside strings, and each string written in one way.
    static func canonical(_ value: ByteSlice) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(value.count)
        var position = 0
        while position < value.count {
            let byte = value[position]
            if byte == UInt8(ascii: "\"") {
                let start = position + 1
                position = start
                var hasEscapes = false
                while position < value.count, value[position] != UInt8(ascii: "\"") {
                    if value[position] == UInt8(ascii: "\\") {
                        hasEscapes = true
                        position += 1
                    }
                    position += 1
                }
                let content = value.part(start..<min(position, value.count))
                text.append(UInt8(ascii: "\""))
                if hasEscapes { appendCanonical(content, to: &text) } else { text.append(contentsOf: content) }
                text.append(UInt8(ascii: "\""))
            } else if !isBlank(byte) {
                text.append(byte)
            }
            position += 1
        }
        return text
    }

    private static func appendCanonical(_ content: ByteSlice, to text: inout [UInt8]) {
        forEachPiece(of: content) { piece in
            switch piece {
            case .bytes(let slice): text.append(contentsOf: slice)
            case .scalar(let scalar) where scalar.isASCII: text.append(escaped: UInt8(ascii: scalar))
            case .scalar(let scalar):
                text.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            case .surrogate(let unit): appendUnit(unit, to: &text)
            }
        }
    }

    // MARK: - Writing

    /// Appends a string; bytes that are not UTF-8 as `{"base64":"…"}`.
    static func append(_ bytes: [UInt8], to text: inout [UInt8]) {
        bytes.withUnsafeBufferPointer { bytes in
            guard UTF8Text.isValid(bytes) else {
                text.append("{\"base64\":\"")
                text += Data(bytes).base64EncodedData()
                text.append("\"}")
                return
            }
            text.append(UInt8(ascii: "\""))
            var position = 0
            while position < bytes.count {
                let end = endOfUnescaped(in: bytes, from: position)
                text.append(contentsOf: bytes.part(position..<end))
                if end < bytes.count { text.append(escaped: bytes[end]) }
                position = end + 1
            }
            text.append(UInt8(ascii: "\""))
        }
    }

    /// Appends a value in canonical form; one that is not UTF-8 as ``append(_:to:)`` does.
    static func append(json value: ByteSlice, to text: inout [UInt8]) {
        if UTF8Text.isValid(value) { text += canonical(value) } else { append(Array(value), to: &text) }
    }

    /// Returns the end of the bytes that need no escape in a string.
    private static func endOfUnescaped(in text: ByteSlice, from start: Int) -> Int {
        var end = UTF8Text.endOfPlain(in: text, from: start)
        while end < text.count, text[end] >= 0x80 {
            repeat { end += 1 } while end < text.count && text[end] >= 0x80
            end = UTF8Text.endOfPlain(in: text, from: end)
        }
        return end
    }

    /// Returns a string as JSON.
    static func json(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        append(bytes, to: &text)
        return text
    }

    private static func appendUnit(_ unit: UInt16, to text: inout [UInt8]) {
        text.append("\\u")
        for shift in [12, 8, 4, 0] {
            let digit = UInt8(truncatingIfNeeded: unit >> shift) & 15
            text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }
}

extension JSONValue {
    static func number(_ number: (some BinaryInteger)?) -> JSONValue { number.map { .number($0) } ?? .null }
    static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }

    /// A string, or an object if the bytes are not UTF-8.
    static func bytes(_ bytes: [UInt8]) -> JSONValue { .json(JSONText.json(bytes)) }

    /// Nanoseconds, written in seconds.
    static func seconds(_ nanoseconds: Int64) -> JSONValue {
        var text: [UInt8] = []
        DecimalSeconds.append(nanoseconds, to: &text)
        return .json(text)
    }

    static func seconds(_ duration: Duration?) -> JSONValue {
        duration.map { .seconds(CoreDuration($0).nanoseconds) } ?? .null
    }
}
