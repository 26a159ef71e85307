/// Checks bytes for well-formed UTF-8.
enum UTF8Text {
    static func isValid(_ text: ByteSlice) -> Bool {
        var position = 0
        while position < text.count {
            if text[position] < 0x80 {
                position = max(endOfPlain(in: text, from: position), position + 1)
            } else {
                let length = sequenceLength(in: text, at: position)
                if length == 0 { return false }
                position += length
            }
        }
        return true
    }

    /// Returns the end of the ASCII characters that need no escape in a JSON string: the position of the next quotation
    /// mark, backslash, control character or byte from 0x80 on, or the end of the text.
    ///
    /// It tests eight bytes at a time for the benchmark rows "lull simulate", which scan each byte of a trace.
    static func endOfPlain(in text: ByteSlice, from start: Int) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        var position = start
        let bytes = UnsafeRawBufferPointer(text)
        while position + 8 <= bytes.count {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
            let quotes = word ^ (ones &* 0x22)
            let backslashes = word ^ (ones &* 0x5C)
            // A subtraction sets the highest bit of a byte that was too small, and may set those of bytes after it; the
            // first one set is right.
            let found =
                word | (word &- ones &* 0x20) | ((quotes &- ones) & ~quotes) | ((backslashes &- ones) & ~backslashes)
            let marks = found & (ones &* 0x80)
            if marks != 0 { return position + marks.trailingZeroBitCount / 8 }
            position += 8
        }
        while position < bytes.count {
            let byte = bytes[position]
            if byte < 0x20 || byte >= 0x80 || byte == 0x22 || byte == 0x5C { break }
            position += 1
        }
        return position
    }

    /// Returns the length of the well-formed sequence that starts at a byte from 0x80 on; 0 if there is none.
    static func sequenceLength(in text: ByteSlice, at position: Int) -> Int {
        var bytes = text[position...].makeIterator()
        var parser = Unicode.UTF8.ForwardParser()
        if case .valid(let scalar) = parser.parseScalar(from: &bytes) { return scalar.count }
        return 0
    }
}
