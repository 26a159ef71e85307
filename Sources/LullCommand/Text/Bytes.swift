internal import CLullCommand

/// Bytes that belong to somebody else: a record in the read buffer, a member of a trace's line.
///
/// The tool works on bytes, not on strings: what passes through needs no decoding, and need not even be text.
typealias ByteSlice = UnsafeBufferPointer<UInt8>

extension ByteSlice {
    /// The bytes of a part.
    func part(_ range: Range<Int>) -> ByteSlice {
        ByteSlice(rebasing: self[range])
    }

    /// Whether the bytes are those of `text`.
    func isEqual(to text: StaticString) -> Bool {
        isEqual(to: ByteSlice(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Whether the bytes are the same.
    func isEqual(to other: ByteSlice) -> Bool {
        guard count == other.count else { return false }
        guard let left = baseAddress, let right = other.baseAddress else { return true }
        return memcmp(left, right, count) == 0
    }
}

extension [UInt8] {
    /// Appends the text.
    mutating func append(_ text: StaticString) {
        append(contentsOf: ByteSlice(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends the text. (Labelled, so that a literal is not taken for a `String`, which costs more.)
    mutating func append(string text: String) {
        append(contentsOf: text.utf8)
    }
}
