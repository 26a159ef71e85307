/// Recognises files that are mistaken for traces, and tells how to convert them.
enum ForeignFormat {
    /// The number of bytes at the start of a file that are enough to recognise it.
    static let length = 256

    /// Returns what a file with this start is, and how to make a trace of it; nil if it is not recognised.
    ///
    /// - Parameter name: The name of the file, for the hint; nil for standard input.
    static func hint(_ head: [UInt8], file name: String?) -> String? {
        // A long name would leave no room for the hint.
        let file = name.flatMap { Terminal.columns(of: $0) <= 30 ? $0 : nil } ?? "FILE"
        func compressed(_ what: String, _ tool: String) -> String {
            "it is compressed with \(what): \(tool) \(file) | lull … -"
        }
        switch head {
        case _ where head.starts(with: [0x1F, 0x8B]): return compressed("gzip", "gzip -dc")
        case _ where head.starts(with: [0x28, 0xB5, 0x2F, 0xFD]): return compressed("zstd", "zstd -dc")
        case _ where head.starts(with: [0xFD, 0x37, 0x7A, 0x58, 0x5A]): return compressed("xz", "xz -dc")
        case _ where head.starts(with: Array("BZh".utf8)): return compressed("bzip2", "bzip2 -dc")
        case _ where head.starts(with: Array("PK\u{3}\u{4}".utf8)): return compressed("zip", "unzip -p")
        case _ where head.starts(with: [0xEF, 0xBB, 0xBF]):
            return "it begins with a byte order mark: tail -c +4 \(file) | lull … -"
        case _ where isUTF16(head): return "it is UTF-16: iconv -f UTF-16 -t UTF-8 \(file) | lull … -"
        case _ where head.first { !JSONText.isBlank($0) } == UInt8(ascii: "["):
            return "it is a JSON array, but a trace has an object on each line: jq -c '.[]' \(file) | lull … -"
        case _ where looksLikeColumns(head):
            return "it looks like CSV, but a trace has a JSON object on each line, such as "
                + #"{"at":12.5,"key":"lamp"}"#
        default: return nil
        }
    }

    /// Returns whether text is UTF-16: it has a byte order mark, or every other byte is zero.
    private static func isUTF16(_ head: [UInt8]) -> Bool {
        if head.starts(with: [0xFF, 0xFE]) || head.starts(with: [0xFE, 0xFF]) { return true }
        guard head.count >= 4 else { return false }
        return (head[0] == 0) != (head[1] == 0) && (head[0] == 0) == (head[2] == 0) && (head[1] == 0) == (head[3] == 0)
    }

    /// Returns whether all lines have the same number of fields, and look like neither JSON nor a program.
    private static func looksLikeColumns(_ head: [UInt8]) -> Bool {
        var lines = head.split(separator: UInt8(ascii: "\n")).map { $0.filter { $0 != UInt8(ascii: "\r") } }
        // The last line may continue beyond these bytes.
        if head.count >= length, lines.count > 1 { lines.removeLast() }
        guard let first = lines.first, first.first != UInt8(ascii: "{") else { return false }
        return "\t,;".utf8.contains { separator in
            let counts = lines.map { line in line.count { $0 == separator } }
            let fields = first.split(separator: separator, omittingEmptySubsequences: false)
            return counts[0] > 0 && counts.allSatisfy { $0 == counts[0] } && fields.allSatisfy(isField)
        }
    }

    /// Returns whether text may be a field: unlike a part of a sentence or program, it has no leading blank and no
    /// brackets.
    private static func isField(_ field: ArraySlice<UInt8>) -> Bool {
        if field.first == UInt8(ascii: "\"") { return true }
        return field.first != UInt8(ascii: " ") && !field.contains { "(){}[]=".utf8.contains($0) }
    }
}
