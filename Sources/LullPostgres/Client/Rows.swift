/// The rows of an answer, in the binary form of the protocol.
struct Rows: Sendable {
    private(set) var rows: [Row] = []

    init() {}

    mutating func append(_ row: Row) { rows.append(row) }

    var first: Row? { rows.first }
}

/// A row of an answer. A value that is not of the expected type reads as null: the statement and its reading are
/// written together.
struct Row: Sendable {
    let values: [[UInt8]?]

    func isNull(_ column: Int) -> Bool { values[column] == nil }
    func bigint(_ column: Int) -> Int64? { values[column].flatMap { Int64(bigEndian: $0) } }
    func int(_ column: Int) -> Int32? { values[column].flatMap { Int32(bigEndian: $0) } }
    func bool(_ column: Int) -> Bool { values[column] == [1] }
    func text(_ column: Int) -> String? { values[column].map { String(decoding: $0, as: UTF8.self) } }
    func bytes(_ column: Int) -> [UInt8]? { values[column] }

    func bigints(_ column: Int) -> [Int64?] { elements(column).map { $0.flatMap { Int64(bigEndian: $0) } } }
    func smallints(_ column: Int) -> [Int16?] { elements(column).map { $0.flatMap { Int16(bigEndian: $0) } } }
    func byteStrings(_ column: Int) -> [[UInt8]] { elements(column).map { Array($0 ?? []) } }

    /// The elements of an array: see ``Statement``.
    private func elements(_ column: Int) -> [ArraySlice<UInt8>?] {
        guard var rest = values[column]?[...], rest.takeNumber() == 1 else { return [] }
        _ = rest.takeNumber()
        _ = rest.takeNumber()
        let count = rest.takeNumber() ?? 0
        _ = rest.takeNumber()
        var elements: [ArraySlice<UInt8>?] = []
        for _ in 0..<count {
            guard let length = rest.takeNumber(), length >= 0, rest.count >= length else {
                elements.append(nil)
                continue
            }
            elements.append(rest.prefix(Int(length)))
            rest = rest.dropFirst(Int(length))
        }
        return elements
    }
}

extension ArraySlice<UInt8> {
    fileprivate mutating func takeNumber() -> Int32? {
        guard count >= 4 else { return nil }
        defer { self = dropFirst(4) }
        return Int32(bigEndian: prefix(4))
    }
}

/// A statement with its parameters, in the binary form of the protocol.
struct Statement: Sendable {
    /// The text, with `$1`, `$2` and so on for the parameters.
    let text: String
    private(set) var values: [[UInt8]?] = []
    private(set) var types: [UInt32] = []
    /// Over which connection it is sent, so that one kind of call does not wait for another.
    var role = Role.questions

    enum Role: Sendable {
        /// The calls of workers.
        case work
        /// All calls but submits and those of workers.
        case questions
    }

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

    /// An array: the number of dimensions, whether there are nulls, the type; size and first index of the dimension;
    /// the elements, each after its length.
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
