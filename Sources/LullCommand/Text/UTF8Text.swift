/// What is UTF-8 and what is not.
enum UTF8Text {
    /// Whether the bytes are well-formed UTF-8.
    static func isValid(_ text: ByteSlice) -> Bool {
        var position = 0
        while position < text.count {
            if text[position] < 0x80 {
                position += 1
            } else {
                let length = sequenceLength(in: text, at: position)
                if length == 0 { return false }
                position += length
            }
        }
        return true
    }

    /// The length of the well-formed sequence that begins at a byte of 0x80 or more; 0 if none does.
    static func sequenceLength(in text: ByteSlice, at position: Int) -> Int {
        func follows(_ offset: Int, _ range: ClosedRange<UInt8> = 0x80...0xBF) -> Bool {
            position + offset < text.count && range.contains(text[position + offset])
        }
        switch text[position] {
        case 0xC2...0xDF: return follows(1) ? 2 : 0
        // The narrower ranges exclude what is written longer than needed, surrogates, and what lies beyond Unicode.
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
