/// A value as the scripts store it: what `cmsgpack` writes, as far as the scripts use it.
enum Packed: Hashable, Sendable {
    case none
    case bool(Bool)
    case number(Int64)
    case bytes([UInt8])
    case list([Packed])
    case map([String: Packed])

    /// Reads a value; nil if the bytes are none.
    init?(_ bytes: [UInt8]?) {
        guard let bytes else { return nil }
        var reader = Reader(rest: bytes[...])
        guard let value = reader.value() else { return nil }
        self = value
    }

    var number: Int64? { if case .number(let number) = self { number } else { nil } }
    var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
    var text: String? { bytes.map { String(decoding: $0, as: UTF8.self) } }
    var list: [Packed]? { if case .list(let list) = self { list } else { nil } }
    var isTrue: Bool { self == .bool(true) }
    /// Whether there is a map.
    var isMap: Bool { if case .map = self { true } else { false } }

    subscript(index: Int) -> Packed { if let list, list.indices.contains(index) { list[index] } else { .none } }
    subscript(name: String) -> Packed { if case .map(let map) = self { map[name] ?? .none } else { .none } }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func value() -> Packed? {
            guard let type = rest.popFirst() else { return nil }
            switch type {
            case 0x00...0x7F: return .number(Int64(type))
            case 0xE0...0xFF: return .number(Int64(Int8(bitPattern: type)))
            case 0x80...0x8F: return map(Int(type & 0x0F))
            case 0x90...0x9F: return list(Int(type & 0x0F))
            case 0xA0...0xBF: return bytes(Int(type & 0x1F))
            case 0xC0: return Packed.none
            case 0xC2, 0xC3: return .bool(type == 0xC3)
            // Bytes and text; integers without and with a sign; lists; maps: of growing sizes.
            case 0xC4, 0xD9: return size(1).flatMap { bytes($0) }
            case 0xC5, 0xDA: return size(2).flatMap { bytes($0) }
            case 0xC6, 0xDB: return size(4).flatMap { bytes($0) }
            case 0xCC...0xCF: return integer(1 << (type - 0xCC)).map { .number(Int64(truncatingIfNeeded: $0)) }
            case 0xD0: return integer(1).map { .number(Int64(Int8(truncatingIfNeeded: $0))) }
            case 0xD1: return integer(2).map { .number(Int64(Int16(truncatingIfNeeded: $0))) }
            case 0xD2: return integer(4).map { .number(Int64(Int32(truncatingIfNeeded: $0))) }
            case 0xD3: return integer(8).map { .number(Int64(truncatingIfNeeded: $0)) }
            case 0xDC: return size(2).flatMap { list($0) }
            case 0xDD: return size(4).flatMap { list($0) }
            case 0xDE: return size(2).flatMap { map($0) }
            case 0xDF: return size(4).flatMap { map($0) }
            default: return nil
            }
        }

        private mutating func integer(_ size: Int) -> UInt64? {
            guard rest.count >= size else { return nil }
            defer { rest = rest.dropFirst(size) }
            return rest.prefix(size).reduce(0) { $0 << 8 | UInt64($1) }
        }

        private mutating func size(_ size: Int) -> Int? { integer(size).flatMap { Int(exactly: $0) } }

        private mutating func bytes(_ count: Int) -> Packed? {
            guard rest.count >= count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return .bytes(Array(rest.prefix(count)))
        }

        private mutating func list(_ count: Int) -> Packed? {
            var list: [Packed] = []
            for _ in 0..<count {
                guard let value = value() else { return nil }
                list.append(value)
            }
            return .list(list)
        }

        private mutating func map(_ count: Int) -> Packed? {
            var map: [String: Packed] = [:]
            for _ in 0..<count {
                guard let key = value()?.text, let value = value() else { return nil }
                map[key] = value
            }
            return .map(map)
        }
    }
}
