internal import CLullCommand

/// The terminal: its width, and the characters that it shows rather than obeys.
enum Terminal {
    /// The width for tables and diagrams: COLUMNS, else the terminal's width, else 80.
    static var width: Int {
        let given = getenv("COLUMNS").flatMap { Int(String(cString: $0)) } ?? 0
        let columns = given > 0 ? given : Int(lull_columns(STDOUT_FILENO))
        return columns > 0 ? min(max(columns, 20), 1000) : 80
    }

    /// The width for tables that other programs may read: unlimited unless there is a terminal or COLUMNS is set.
    static var tableWidth: Int {
        isatty(STDOUT_FILENO) != 0 || getenv("COLUMNS") != nil ? width : .max
    }

    /// LINES, else the number of lines of the terminal; nil if standard output is none.
    static var lines: Int? {
        let given = getenv("LINES").flatMap { Int(String(cString: $0)) } ?? 0
        let lines = given > 0 ? given : isatty(STDOUT_FILENO) != 0 ? Int(lull_lines(STDOUT_FILENO)) : 0
        return lines > 0 ? lines : nil
    }

    /// Whether text stands out.
    struct Style {
        let isPlain: Bool
        static let plain = Style(isPlain: true)

        func bold(_ text: String) -> String { isPlain ? text : "\u{1B}[1m\(text)\u{1B}[0m" }
        func chosen(_ text: String) -> String { isPlain ? text : "\u{1B}[1;32m\(text)\u{1B}[0m" }
        func notable(_ text: String) -> String { isPlain ? text : "\u{1B}[1;33m\(text)\u{1B}[0m" }
        func alarming(_ text: String) -> String { isPlain ? text : "\u{1B}[1;31m\(text)\u{1B}[0m" }
    }

    /// When text stands out: the values of `--color`.
    enum Colour: String, CaseIterable {
        case auto
        case always
        case never

        /// By default on a terminal that can show it, unless `NO_COLOR` says not to (see no-color.org).
        var style: Style {
            switch self {
            case .always: return Style(isPlain: false)
            case .never: return .plain
            case .auto:
                func variable(_ name: String) -> String { getenv(name).map { String(cString: $0) } ?? "" }
                let isMeant = isatty(STDOUT_FILENO) != 0 && variable("NO_COLOR").isEmpty && variable("TERM") != "dumb"
                return Style(isPlain: !isMeant)
            }
        }

        /// Takes `--color WHEN` out of the words of a command that prints help, which is no command with options.
        static func take(from words: inout [String]) -> Colour {
            for (index, word) in words.enumerated() {
                let isApart = word == "--color" && index + 1 < words.count
                let name = isApart ? words[index + 1] : word.hasPrefix("--color=") ? String(word.dropFirst(8)) : ""
                guard let colour = Colour(rawValue: name) else { continue }
                words.removeSubrange(index...(isApart ? index + 1 : index))
                return colour
            }
            return .auto
        }
    }

    /// Replaces characters that a terminal would obey rather than show: control characters, including those beyond
    /// ASCII, line separators, and marks that change the writing direction.
    static func plain(_ text: some StringProtocol) -> String {
        guard text.unicodeScalars.contains(where: isObeyed) else { return String(text) }
        var plain = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { plain.append(isObeyed(scalar) ? "?" : scalar) }
        return String(plain)
    }

    private static func isObeyed(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F }
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: return true
        // Some languages need the joiners.
        case .format: return scalar.value != 0x200C && scalar.value != 0x200D
        default: return false
        }
    }

    /// Cuts a text to a width: an ellipsis replaces the end.
    static func cut(_ text: String, to limit: Int) -> String {
        guard columns(of: text) > limit else { return text }
        return String(beginning(of: text, limit - 1)) + "…"
    }

    /// Cuts a text whose end matters as much as its start: an ellipsis replaces the middle.
    static func cutInTheMiddle(_ text: String, to limit: Int) -> String {
        guard columns(of: text) > limit else { return text }
        let end = ending(of: text, (limit - 1) / 2)
        return beginning(of: text, limit - 1 - columns(of: end)) + "…" + end
    }

    /// Cuts a text whose end matters most: an ellipsis replaces the start.
    static func end(of text: String, upTo limit: Int) -> String {
        guard columns(of: text) > limit else { return text }
        return "…" + ending(of: text, limit - 1)
    }

    private static func beginning(of text: String, _ limit: Int) -> Substring {
        var left = limit
        return text.prefix { character in
            left -= columns(of: character)
            return left >= 0
        }
    }

    private static func ending(of text: String, _ limit: Int) -> String {
        String(beginning(of: String(text.reversed()), limit).reversed())
    }

    /// Returns the width of a text in columns.
    static func columns(of text: String) -> Int {
        let isPlain = text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
        return isPlain ? text.utf8.count : text.reduce(0) { $0 + columns(of: $1) }
    }

    /// East Asian characters and emoji take two columns. (The C library knows that too, but not in every locale.)
    private static func columns(of character: Character) -> Int {
        let isWide = character.unicodeScalars.contains { scalar in
            switch scalar.value {
            case ..<0x1100: false
            case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
                0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD:
                true
            default: scalar.properties.isEmojiPresentation || scalar.value == 0xFE0F
            }
        }
        return isWide ? 2 : 1
    }

    /// Returns foreign bytes, such as a key, for a message.
    static func shown(_ bytes: some Collection<UInt8>, upTo limit: Int = 40) -> String {
        // A character has at most four bytes, combining marks aside.
        cut(plain(String(decoding: bytes.prefix(16 * limit), as: UTF8.self)), to: limit)
    }

    static func shown(_ text: String, upTo limit: Int = 40) -> String { cut(plain(text), to: limit) }

    /// Breaks a text into lines between words.
    static func wrap(_ text: String, to limit: Int) -> [String] {
        guard columns(of: text) > limit else { return [text] }
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, columns(of: last) + 1 + columns(of: String(word)) <= limit {
                lines[lines.count - 1] += " \(word)"
            } else {
                lines.append(cut(String(word), to: limit))
            }
        }
        return lines
    }
}

extension [UInt8] {
    /// Appends a text as lines, broken between words.
    mutating func append(wrapped text: String, to width: Int = Terminal.width) {
        for line in Terminal.wrap(text, to: width) { append(string: line + "\n") }
    }
}

extension String {
    /// The text with blanks up to a width, behind it or in front of it.
    func padded(to width: Int, isRight: Bool = false) -> String {
        let blanks = String(repeating: " ", count: max(0, width - Terminal.columns(of: self)))
        return isRight ? blanks + self : self + blanks
    }
}
