/// A reply of a server.
enum Reply: Sendable, Hashable {
    case none
    case number(Int64)
    case bytes([UInt8])
    case list([Reply])
    case error(String)

    var list: [Reply]? { if case .list(let list) = self { list } else { nil } }
    var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
    var text: String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

    /// A number, which a script may write as digits.
    var number: Int64? {
        switch self {
        case .number(let number): number
        case .bytes: text.flatMap { Int64($0) }
        default: nil
        }
    }

    /// An element of a list; none if there is no such element.
    subscript(index: Int) -> Reply {
        if let list, list.indices.contains(index) { list[index] } else { .none }
    }
}

/// A command: its name and its arguments.
struct Command: Sendable, Hashable {
    private(set) var parts: [[UInt8]]

    init(_ parts: String...) { self.parts = parts.map { Array($0.utf8) } }
    init(_ parts: [String]) { self.parts = parts.map { Array($0.utf8) } }

    mutating func add(_ text: String) { parts.append(Array(text.utf8)) }
    mutating func add(_ bytes: [UInt8]) { parts.append(bytes) }
    mutating func add(_ number: Int64) { add(String(number)) }
    /// Adds a number; nothing of it, an empty text, if it is nil.
    mutating func add(_ number: Int64?) { add(number.map { String($0) } ?? "") }
    mutating func add(_ isTrue: Bool) { add(isTrue ? "1" : "0") }
}
