/// Bytes of others, keys above all, as a line on a terminal shows them.
enum ShownText {
    /// Text of at most so many characters, with nothing in it that a terminal would take for more than text.
    static func of(_ bytes: [UInt8], atMost length: Int = 60) -> String {
        // Four bytes a character, and some for what belongs to one: nobody needs the rest of a megabyte.
        let isCut = bytes.count > length * 8
        var text = ""
        for scalar in String(decoding: isCut ? bytes[..<(length * 8)] : bytes[...], as: UTF8.self).unicodeScalars {
            text.unicodeScalars.append(isHarmless(scalar) ? scalar : "?")
        }
        return isCut || text.count > length ? String(text.prefix(length - 1)) + "…" : text
    }

    static func of(_ text: String, atMost length: Int = 60) -> String {
        of(Array(text.utf8), atMost: length)
    }

    /// The end of text of several lines: where what a command says last tells most.
    static func end(of text: String, atMost length: Int = 60) -> String {
        let last = text.split(whereSeparator: \.isNewline).last.map(String.init) ?? ""
        return of(last.count > length ? "…" + last.suffix(length - 1) : last, atMost: length)
    }

    /// Neither a control character nor one that ends a line or turns the direction of what follows.
    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case ..<0x20, 0x7F..<0xA0, 0x2028...0x202E, 0x2066...0x2069: false
        default: true
        }
    }
}
