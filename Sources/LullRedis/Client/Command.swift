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
