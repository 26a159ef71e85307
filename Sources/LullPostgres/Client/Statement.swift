/// A statement with its parameters, in the binary form of the protocol.
struct Statement: Sendable {
    /// The text, with `$1`, `$2` and so on for the parameters.
    let text: String
    private(set) var values: [[UInt8]?] = []
    private(set) var types: [UInt32] = []

    init(_ text: String) { self.text = text }

    /// The types of parameters, by the numbers that they have in every database.
    private enum TypeID {
        static let bool: UInt32 = 16
        static let bytes: UInt32 = 17
        static let bigint: UInt32 = 20
        static let int: UInt32 = 23
        static let text: UInt32 = 25
        static let arrayOfBytes: UInt32 = 1001
        static let arrayOfText: UInt32 = 1009
        static let arrayOfBigint: UInt32 = 1016
    }

    private mutating func add(_ bytes: [UInt8]?, _ type: UInt32) {
        values.append(bytes)
        types.append(type)
    }

    mutating func add(_ value: Bool) { add([value ? 1 : 0], TypeID.bool) }
    mutating func add(_ value: Int64?) { add(value.map { $0.bigEndianBytes }, TypeID.bigint) }
    mutating func add(int value: Int32?) { add(value.map { $0.bigEndianBytes }, TypeID.int) }
    mutating func add(_ value: String?) { add(value.map { Array($0.utf8) }, TypeID.text) }
    mutating func add(_ value: [UInt8]?) { add(value, TypeID.bytes) }

    /// Adds a name that the server converts to the type that it expects, such as that of an enumeration.
    mutating func add(name: String) { add(Array(name.utf8), 0) }

    mutating func add(_ array: [Int64?]) {
        add(Self.array(of: array.map { $0?.bigEndianBytes }, TypeID.bigint), TypeID.arrayOfBigint)
    }

    mutating func add(_ array: [String?]) {
        add(Self.array(of: array.map { $0.map { Array($0.utf8) } }, TypeID.text), TypeID.arrayOfText)
    }

    mutating func addNull(arrayOf type: Int64.Type) { add(nil, TypeID.arrayOfBigint) }

    mutating func add(_ array: [[UInt8]]) { add(Self.array(of: array, TypeID.bytes), TypeID.arrayOfBytes) }

    /// An array: the number of dimensions, whether there are nulls, the type; size and first index of the dimension; the elements,
    /// each after its length.
    private static func array(of elements: [[UInt8]?], _ type: UInt32) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(20 + elements.reduce(0) { $0 + 4 + ($1?.count ?? 0) })
        bytes += Int32(elements.isEmpty ? 0 : 1).bigEndianBytes
        bytes += Int32(elements.contains { $0 == nil } ? 1 : 0).bigEndianBytes
        bytes += type.bigEndianBytes
        if !elements.isEmpty {
            bytes += Int32(elements.count).bigEndianBytes
            bytes += Int32(1).bigEndianBytes
        }
        for element in elements {
            bytes += Int32(element?.count ?? -1).bigEndianBytes
            bytes += element ?? []
        }
        return bytes
    }
}

extension FixedWidthInteger {
    /// The bytes in the order of the protocol.
    var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }

    /// Creates a number from its bytes in the order of the protocol.
    init?(bigEndian bytes: some Collection<UInt8>) {
        guard bytes.count == Self.bitWidth / 8 else { return nil }
        self = bytes.reduce(0) { $0 << 8 | Self(truncatingIfNeeded: $1) }
    }
}
