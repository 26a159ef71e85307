internal import CLullCommand

/// Borrowed bytes: a record in the read buffer, or a member of a trace's line.
///
/// The command works on bytes, not strings: they need no decoding, and need not even be text.
typealias ByteSlice = UnsafeBufferPointer<UInt8>

extension ByteSlice {
    func part(_ range: Range<Int>) -> ByteSlice {
        ByteSlice(rebasing: self[range])
    }

    func isEqual(to text: StaticString) -> Bool {
        isEqual(to: ByteSlice(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    func isEqual(to other: ByteSlice) -> Bool {
        guard count == other.count else { return false }
        guard let left = baseAddress, let right = other.baseAddress else { return true }
        return memcmp(left, right, count) == 0
    }

    /// The bytes for a message, cut to a readable length.
    var shown: String {
        let limit = 60
        return String(decoding: prefix(limit), as: UTF8.self) + (count > limit ? "…" : "")
    }
}

extension [UInt8] {
    /// The bytes as a string for the C library.
    var cString: [CChar] { map { CChar(bitPattern: $0) } + [0] }

    mutating func append(_ text: StaticString) {
        append(contentsOf: ByteSlice(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends the text. The label keeps literals out, because making a `String` of one costs more.
    mutating func append(string text: String) {
        append(contentsOf: text.utf8)
    }
}
