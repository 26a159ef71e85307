/// Base64 of RFC 4648, for bytes that are no text.
enum Base64 {
    static func append(_ bytes: ByteSlice, to text: inout [UInt8]) {
        var position = 0
        while position < bytes.count {
            let size = Swift.min(3, bytes.count - position)
            var group: UInt32 = 0
            for offset in 0..<3 { group = group << 8 | (offset < size ? UInt32(bytes[position + offset]) : 0) }
            for place in 0..<4 {
                let digit = UInt8(truncatingIfNeeded: group >> UInt32(18 - 6 * place)) & 63
                text.append(place <= size ? character(digit) : UInt8(ascii: "="))
            }
            position += 3
        }
    }

    private static func character(_ digit: UInt8) -> UInt8 {
        switch digit {
        case 0..<26: UInt8(ascii: "A") + digit
        case 26..<52: UInt8(ascii: "a") + digit - 26
        case 52..<62: UInt8(ascii: "0") + digit - 52
        case 62: UInt8(ascii: "+")
        default: UInt8(ascii: "/")
        }
    }
}
