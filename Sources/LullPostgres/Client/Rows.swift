internal import LullCore
internal import LullDurable

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
    func ints(_ column: Int) -> [Int] {
        elements(column).map { $0.flatMap { Int32(bigEndian: $0) }.map { Int($0) } ?? 0 }
    }
    func texts(_ column: Int) -> [String?] { elements(column).map { $0.map { String(decoding: $0, as: UTF8.self) } } }
    func byteStrings(_ column: Int) -> [[UInt8]?] { elements(column).map { $0.map { Array($0) } } }

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

/// Reads the columns of a row, one after the other.
struct RowReader {
    private let row: Row
    private var column = -1

    init(_ row: Row) { self.row = row }

    private mutating func next() -> Int {
        column += 1
        return column
    }

    mutating func int() -> Int32? { row.int(next()) }
    mutating func bigint() -> Int64? { row.bigint(next()) }
    mutating func bool() -> Bool { row.bool(next()) }
    mutating func text() -> String? { row.text(next()) }
    mutating func ints() -> [Int] { row.ints(next()) }
    mutating func bigints() -> [Int64?] { row.bigints(next()) }
    mutating func texts() -> [String?] { row.texts(next()) }
    mutating func byteStrings() -> [[UInt8]?] { row.byteStrings(next()) }

    /// Reads ends of submits: the columns first, last, how, run, error and at, each an array.
    mutating func ends() -> [StoredEnd] {
        let (firsts, lasts, hows, runs) = (bigints(), bigints(), texts(), bigints())
        let (errors, ats) = (texts(), bigints())
        return firsts.indices.compactMap { index in
            StoredEnd(
                first: firsts[index], last: lasts[index], how: hows[index], run: runs[index], error: errors[index],
                at: ats[index])
        }
    }
}

extension StoredEnd {
    /// Reads an end; nil for one that this version does not know.
    init?(first: Int64?, last: Int64?, how: String?, run: Int64?, error: String?, at: Int64?) {
        guard let first, let last, let how = how.flatMap({ EndKind($0) }), let at else { return nil }
        self.init(
            submits: first...max(first, last), how: how, at: CoreInstant(microseconds: at), run: run,
            error: error.map { Array($0.utf8) })
    }
}

/// Statements that are sent together; at most one of them has rows. Repeating them does no harm.
struct Statements: Sendable {
    var list: [Statement]

    init(_ list: Statement...) { self.list = list }
}

/// A statement with its parameters, in the binary form of the protocol.
struct Statement: Sendable {
    /// The text, with `$1`, `$2` and so on for the parameters.
    let text: String
    private(set) var values: [[UInt8]?] = []
    private(set) var types: [UInt32] = []

    init(_ text: String) { self.text = text }

    /// Begins a statement with the parameters of a function.
    init(calling function: String, of schema: String, _ count: Int, selecting columns: String = "*") {
        let parameters = (1...count).map { "$\($0)" }.joined(separator: ", ")
        self.init("SELECT \(columns) FROM \(schema).\(function)(\(parameters))")
    }

    /// The types of parameters, by the numbers that they have in every database.
    private enum TypeID {
        static let bool: UInt32 = 16
        static let bytes: UInt32 = 17
        static let bigint: UInt32 = 20
        static let int: UInt32 = 23
        static let text: UInt32 = 25
        static let interval: UInt32 = 1186
        static let arrayOfBool: UInt32 = 1000
        static let arrayOfBytes: UInt32 = 1001
        static let arrayOfInt: UInt32 = 1007
        static let arrayOfText: UInt32 = 1009
        static let arrayOfBigint: UInt32 = 1016
    }

    private mutating func add(_ bytes: [UInt8]?, _ type: UInt32) {
        values.append(bytes)
        types.append(type)
    }

    mutating func add(_ value: Bool) { add([value ? 1 : 0], TypeID.bool) }
    mutating func add(_ value: Int64?) { add(value.map { $0.bigEndianBytes }, TypeID.bigint) }
    /// Adds an interval of so many microseconds, without days and months.
    mutating func add(interval value: Int64?) {
        add(value.map { $0.bigEndianBytes + [UInt8](repeating: 0, count: 8) }, TypeID.interval)
    }
    mutating func add(int value: Int32?) { add(value.map { $0.bigEndianBytes }, TypeID.int) }
    mutating func add(_ value: String?) { add(value.map { Array($0.utf8) }, TypeID.text) }
    mutating func add(_ value: [UInt8]?) { add(value, TypeID.bytes) }

    // An array that is empty is sent as null.

    mutating func add(_ array: [Int64?]) { add(array.map { $0?.bigEndianBytes }, TypeID.bigint, TypeID.arrayOfBigint) }
    mutating func add(ints array: [Int]) {
        add(array.map { Int32(clamping: $0).bigEndianBytes }, TypeID.int, TypeID.arrayOfInt)
    }
    mutating func add(_ array: [Bool]) { add(array.map { [$0 ? 1 : 0] }, TypeID.bool, TypeID.arrayOfBool) }
    mutating func add(_ array: [String?]) {
        add(array.map { $0.map { Array($0.utf8) } }, TypeID.text, TypeID.arrayOfText)
    }
    mutating func add(_ array: [[UInt8]?]) { add(array, TypeID.bytes, TypeID.arrayOfBytes) }

    private mutating func add(_ elements: [[UInt8]?], _ type: UInt32, _ array: UInt32) {
        add(elements.isEmpty ? nil : Self.array(of: elements, type), array)
    }

    /// An array: the number of dimensions, whether there are nulls, the type; size and first index of the dimension;
    /// the elements, each after its length.
    private static func array(of elements: [[UInt8]?], _ type: UInt32) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(20 + elements.reduce(0) { $0 + 4 + ($1?.count ?? 0) })
        bytes += Int32(1).bigEndianBytes
        bytes += Int32(elements.contains { $0 == nil } ? 1 : 0).bigEndianBytes
        bytes += type.bigEndianBytes
        bytes += Int32(elements.count).bigEndianBytes
        bytes += Int32(1).bigEndianBytes
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
