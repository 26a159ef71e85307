/// Bytes of others, keys above all, as a line on a terminal shows them.
enum ShownText {
    /// Text of at most so many columns, with nothing in it that a terminal would take for more than text.
    static func of(_ bytes: [UInt8], atMost length: Int = 60) -> String {
        Terminal.shown(bytes, upTo: length)
    }

    static func of(_ text: String, atMost length: Int = 60) -> String {
        of(Array(text.utf8), atMost: length)
    }

    /// The end of text of several lines: where what a command says last tells most.
    static func end(of text: String, atMost length: Int = 60) -> String {
        let last = text.split(whereSeparator: \.isNewline).last.map(String.init) ?? ""
        return of(last.count > length ? "…" + last.suffix(length - 1) : last, atMost: length)
    }
}
