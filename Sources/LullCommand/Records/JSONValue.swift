internal import Lull
internal import LullCore

/// A JSON value to write. An object keeps the order of its members.
enum JSONValue: ExpressibleByDictionaryLiteral {
    case null
    case integer(Int64)
    /// A share from 0 to 1.
    case share(Double)
    case bool(Bool)
    /// A string, or an object if the bytes are not UTF-8.
    case bytes([UInt8])
    /// Nanoseconds, written in seconds.
    case seconds(Int64)
    /// Text that is JSON already.
    case json([UInt8])
    case array([JSONValue])
    case object([(String, JSONValue)])

    init(dictionaryLiteral members: (String, JSONValue)...) { self = .object(members) }

    static func number(_ number: some BinaryInteger) -> JSONValue { .integer(Int64(number)) }
    static func number(_ number: (some BinaryInteger)?) -> JSONValue { number.map { .integer(Int64($0)) } ?? .null }
    static func text(_ text: String?) -> JSONValue { text.map { .bytes(Array($0.utf8)) } ?? .null }
    static func seconds(_ duration: Duration?) -> JSONValue {
        duration.map { .seconds(CoreDuration($0).nanoseconds) } ?? .null
    }

    func append(to text: inout [UInt8]) {
        switch self {
        case .null: text.append("null")
        case .integer(let number): text.append(string: "\(number)")
        case .share(let share): text.append(string: "\(share)")
        case .bool(let bool): text.append(string: "\(bool)")
        case .bytes(let bytes): JSONText.append(bytes, to: &text)
        case .seconds(let nanoseconds): DecimalSeconds.append(nanoseconds, to: &text)
        case .json(let json): text += json
        case .array(let elements):
            text.append("[")
            for (index, element) in elements.enumerated() {
                if index > 0 { text.append(",") }
                element.append(to: &text)
            }
            text.append("]")
        case .object(let members):
            text.append("{")
            for (index, member) in members.enumerated() {
                text.append(string: "\(index > 0 ? "," : "")\"\(member.0)\":")
                member.1.append(to: &text)
            }
            text.append("}")
        }
    }

    func appendLine(to text: inout [UInt8]) {
        append(to: &text)
        text.append("\n")
    }
}
