internal import LullDurable

/// A command: its name and its arguments, one after the other in one buffer.
struct Command: Sendable, Hashable {
    private(set) var bytes: [UInt8] = []
    /// Where each part ends.
    private(set) var ends: [Int] = []

    init(_ parts: String...) { self.init(parts) }
    init(_ parts: [String]) { for part in parts { add(part) } }

    var count: Int { ends.count }

    /// A part.
    subscript(index: Int) -> ArraySlice<UInt8> { bytes[(index == 0 ? 0 : ends[index - 1])..<ends[index]] }

    mutating func add(_ text: String) {
        bytes.append(contentsOf: text.utf8)
        ends.append(bytes.count)
    }

    mutating func add(_ part: [UInt8]) {
        bytes.append(contentsOf: part)
        ends.append(bytes.count)
    }

    mutating func add(_ number: Int64) { add(String(number)) }
    /// Adds a number; nothing of it, an empty text, if it is nil.
    mutating func add(_ number: Int64?) { add(number.map { String($0) } ?? "") }

    /// Adds all parts of another one.
    mutating func add(_ other: Command) {
        let start = bytes.count
        bytes.append(contentsOf: other.bytes)
        ends.append(contentsOf: other.ends.lazy.map { start + $0 })
    }
}

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
    var error: String? { if case .error(let error) = self { error } else { nil } }

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

/// The slots of a cluster: each key is in one of them, and each slot on one master.
enum Slot {
    static let count = 16384

    /// Returns the slot of a key: of the part in its first braces, if there is one.
    static func of(_ key: String) -> Int {
        let bytes = Array(key.utf8)
        guard let open = bytes.firstIndex(of: UInt8(ascii: "{")),
            let close = bytes[(open + 1)...].firstIndex(of: UInt8(ascii: "}")), close > open + 1
        else { return crc(bytes[...]) % count }
        return crc(bytes[(open + 1)..<close]) % count
    }

    /// CRC-16/XMODEM.
    private static func crc(_ bytes: ArraySlice<UInt8>) -> Int {
        var crc: UInt16 = 0
        for byte in bytes {
            crc ^= UInt16(byte) << 8
            for _ in 0..<8 { crc = crc & 0x8000 != 0 ? crc << 1 ^ 0x1021 : crc << 1 }
        }
        return Int(crc)
    }
}

/// The shards of a namespace: each key is in one of them.
enum Shard {
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { crc, _ in crc & 1 != 0 ? 0xEDB8_8320 ^ (crc >> 1) : crc >> 1 }
    }

    /// Returns the shard of a key: its CRC-32, as that of zlib, modulo the number of shards.
    static func of(_ key: [UInt8], among count: Int) -> Int {
        if count == 1 { return 0 }
        let crc = ~key.reduce(~UInt32(0)) { crc, byte in table[Int(UInt8(truncatingIfNeeded: crc) ^ byte)] ^ (crc >> 8)
        }
        return Int(crc) % count
    }
}

/// An error that the server answers with.
struct ServerError: ServerFault {
    let text: String

    init(_ text: String) { self.text = text }

    func durable(in namespace: String) -> DurableError {
        switch text.prefix(while: { $0 != " " }) {
        case "NOPOLICY": .noPolicy(namespace: namespace)
        case "SHARDS":
            .unusable(
                """
                the namespace \(namespace) was created with \(text.dropFirst(7)) shards, and a maxRunning needs one of \
                a single shard: open it under another name, or forget it first
                """)
        case "VERSION": .unusable(Self.otherVersion(Int64(text.dropFirst(8)) ?? 0, of: namespace))
        case "WRONGPASS", "NOAUTH", "NOPERM": .unusable("the server says: \(text)")
        case "WRONGTYPE": .unusable("the keys of Lull in the database hold something else: \(text)")
        case "OOM": .full("the memory of the server is full (maxmemory)")
        case "MISCONF", "NOREPLICAS", "EXECABORT": .refused("the server says: \(text)")
        // A script that ends with an error of its own has written nothing; a fault in one is another matter.
        case _ where text.contains("user_script"): .unknown("the server says: \(text)")
        default: .refused("the server says: \(text)")
        }
    }

    /// Why a namespace cannot be used whose structures have another version.
    static func otherVersion(_ version: Int64, of namespace: String) -> String {
        if version > Scripts.version { return "the namespace \(namespace) was made by a newer version of Lull" }
        return """
            the namespace \(namespace) was made by an older version of Lull: let that version finish what it holds, \
            and then delete its keys, which begin with {lull:\(namespace):
            """
    }
}
