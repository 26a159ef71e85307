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
