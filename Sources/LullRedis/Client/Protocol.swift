/// A command: its name and its arguments, as the protocol has them, one after the other in one buffer.
struct Command: Sendable, Hashable {
    private(set) var bytes: [UInt8] = []
    private(set) var count = 0
    /// Where the first argument is, which is mostly a key.
    private var first: Range<Int> = 0..<0

    init(_ parts: String...) { self.init(parts) }
    init(_ parts: [String]) { for part in parts { add(part) } }

    /// The first argument, if there is one.
    var firstArgument: ArraySlice<UInt8>? { count > 1 ? bytes[first] : nil }

    mutating func reserveCapacity(_ count: Int) { bytes.reserveCapacity(count) }

    /// Removes all parts, and keeps the buffer.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        (count, first) = (0, 0..<0)
    }

    mutating func add(_ text: String) {
        var text = text
        text.withUTF8 { add($0) }
    }

    mutating func add(_ part: [UInt8]) { part.withUnsafeBufferPointer { add($0) } }

    private mutating func add(_ part: UnsafeBufferPointer<UInt8>) {
        begin(part.count)
        bytes.append(contentsOf: part)
        end()
    }

    mutating func add(_ number: Int64) {
        begin(Self.digits(number))
        write(number)
        end()
    }

    /// Adds a number; nothing of it, an empty text, if it is nil.
    mutating func add(_ number: Int64?) { if let number { add(number) } else { add("") } }

    /// Adds a number and what follows it, as one part.
    mutating func add(_ number: Int64, _ separator: Unicode.Scalar, _ rest: [UInt8]) {
        begin(Self.digits(number) + 1 + rest.count)
        write(number)
        bytes.append(UInt8(ascii: separator))
        bytes.append(contentsOf: rest)
        end()
    }

    /// Adds all parts of another one, not as the first ones.
    mutating func add(_ other: Command) {
        bytes.append(contentsOf: other.bytes)
        count += other.count
    }

    /// Begins a part of a length.
    private mutating func begin(_ length: Int) {
        bytes.append(UInt8(ascii: "$"))
        write(Int64(length))
        newLine()
        if count == 1 { first = bytes.count..<bytes.count + length }
    }

    private mutating func end() {
        newLine()
        count += 1
    }

    private mutating func newLine() {
        bytes.append(UInt8(ascii: "\r"))
        bytes.append(UInt8(ascii: "\n"))
    }

    private static func digits(_ number: Int64) -> Int {
        var (count, rest) = (number < 0 ? 2 : 1, number.magnitude / 10)
        while rest > 0 { (count, rest) = (count + 1, rest / 10) }
        return count
    }

    private mutating func write(_ number: Int64) {
        let count = Self.digits(number)
        let start = bytes.count
        bytes.append(contentsOf: repeatElement(UInt8(ascii: "-"), count: count))
        var (place, rest) = (start + count, number.magnitude)
        repeat {
            place -= 1
            bytes[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
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
