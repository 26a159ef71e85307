/// Checks bytes for well-formed UTF-8.
enum UTF8Text {
    /// Returns whether the bytes are well-formed UTF-8.
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

    /// Returns the end of the ASCII characters that need no escape in a JSON string: the position of the next quotation mark,
    /// backslash, control character or byte from 0x80 on, or the end of the text.
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
            // A subtraction sets the highest bit of a byte that was too small, and may set those of bytes after it; the first one
            // set is right.
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
        func follows(_ offset: Int, _ range: ClosedRange<UInt8> = 0x80...0xBF) -> Bool {
            position + offset < text.count && range.contains(text[position + offset])
        }
        switch text[position] {
        case 0xC2...0xDF: return follows(1) ? 2 : 0
        // The narrower ranges exclude overlong encodings, surrogates, and values beyond Unicode.
        case 0xE0: return follows(1, 0xA0...0xBF) && follows(2) ? 3 : 0
        case 0xED: return follows(1, 0x80...0x9F) && follows(2) ? 3 : 0
        case 0xE1...0xEF: return follows(1) && follows(2) ? 3 : 0
        case 0xF0: return follows(1, 0x90...0xBF) && follows(2) && follows(3) ? 4 : 0
        case 0xF1...0xF3: return follows(1) && follows(2) && follows(3) ? 4 : 0
        case 0xF4: return follows(1, 0x80...0x8F) && follows(2) && follows(3) ? 4 : 0
        default: return 0
        }
    }
}
