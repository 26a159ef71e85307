/// The end of what a command wrote on standard error, for messages.
struct StandardErrorTail {
    /// The number of bytes that are kept.
    static let limit = 1024

    /// The last bytes, up to twice as many as are kept.
    private var end: [UInt8] = []
    private var isCut = false

    var isLineOpen: Bool { end.last.map { $0 != UInt8(ascii: "\n") } ?? false }

    mutating func append(_ bytes: some BidirectionalCollection<UInt8>) {
        let last = bytes.suffix(Self.limit)
        if last.count < bytes.count { isCut = true }
        end += last
        guard end.count > 2 * Self.limit else { return }
        end.removeFirst(end.count - Self.limit)
        isCut = true
    }

    /// The last lines, without empty ones and without control characters.
    var lines: [String] {
        var kept = end.suffix(Self.limit)
        let isCut = isCut || kept.count < end.count
        // Drop a line, or a character, that lacks its beginning.
        if isCut, let newline = kept.dropLast().firstIndex(of: UInt8(ascii: "\n")) {
            kept = kept[(newline + 1)...]
        } else if isCut {
            kept = kept.drop { $0 & 0xC0 == 0x80 }
        }
        return kept.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }.compactMap { line in
            let text = Terminal.plain(String(decoding: line, as: UTF8.self))
            return text.allSatisfy(\.isWhitespace) ? nil : text
        }
    }
}
