/// The rows of an answer, in the binary form of the protocol.
struct Rows: Sendable {
    private(set) var rows: [Row] = []

    init() {}

    mutating func append(_ row: Row) { rows.append(row) }

    var first: Row? { rows.first }
}

/// A row of an answer. A value that is not of the expected type reads as null: the statement and its reading are written together.
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
