/// A JSON value to write. An object keeps the order of its members.
package enum JSONValue: ExpressibleByDictionaryLiteral {
    case null
    case integer(Int64)
    /// A share from 0 to 1.
    case share(Double)
    case bool(Bool)
    case string(String)
    /// Text that is JSON already.
    case json([UInt8])
    case array([JSONValue])
    case object([(String, JSONValue)])

    package init(dictionaryLiteral members: (String, JSONValue)...) { self = .object(members) }

    package static func number(_ number: some BinaryInteger) -> JSONValue { .integer(Int64(number)) }

    package func append(to text: inout [UInt8]) {
        switch self {
        case .null: text += "null".utf8
        case .integer(let number): text += "\(number)".utf8
        case .share(let share): text += "\(share)".utf8
        case .bool(let bool): text += "\(bool)".utf8
        case .string(let string):
            text.append(UInt8(ascii: "\""))
            for byte in string.utf8 { text.append(escaped: byte) }
            text.append(UInt8(ascii: "\""))
        case .json(let json): text += json
        case .array(let elements):
            text.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                element.append(to: &text)
            }
            text.append(UInt8(ascii: "]"))
        case .object(let members):
            text.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                text += "\(index > 0 ? "," : "")\"\(member.0)\":".utf8
                member.1.append(to: &text)
            }
            text.append(UInt8(ascii: "}"))
        }
    }

    package func appendLine(to text: inout [UInt8]) {
        append(to: &text)
        text.append(UInt8(ascii: "\n"))
    }

    package var text: [UInt8] {
        var text: [UInt8] = []
        append(to: &text)
        return text
    }

    /// The text with a newline.
    package var line: [UInt8] {
        var line: [UInt8] = []
        appendLine(to: &line)
        return line
    }
}

extension [UInt8] {
    /// Appends a byte of a string in UTF-8, escaped if it has to be.
    package mutating func append(escaped byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): self += [UInt8(ascii: "\\"), byte]
        case 0x08: self += "\\b".utf8
        case 0x0C: self += "\\f".utf8
        case 0x0A: self += "\\n".utf8
        case 0x0D: self += "\\r".utf8
        case 0x09: self += "\\t".utf8
        case ..<0x20: self += "\\u00\(byte < 0x10 ? "0" : "")\(String(byte, radix: 16))".utf8
        default: append(byte)
        }
    }
}
