/// The arguments of COMMAND with the placeholders `{key}`, `{value}`, `{count}` and `{edge}`; `{{key}}` is a literal
/// `{key}`.
///
/// Inserted values are not searched for placeholders, and other braces stay as they are.
struct CommandTemplate {
    /// A placeholder.
    enum Detail: String, CaseIterable {
        case key
        case value
        case count
        case cause = "edge"
    }

    private enum Piece {
        case text([UInt8])
        case detail(Detail)
    }

    private let arguments: [[Piece]]

    init(_ arguments: [[UInt8]]) {
        let placeholders = Detail.allCases.map { (detail: $0, name: Array("{\($0.rawValue)}".utf8)) }
        let literals = Detail.allCases.map { Array("{{\($0.rawValue)}}".utf8) }
        self.arguments = arguments.map { argument in
            var pieces: [Piece] = []
            var text: [UInt8] = []
            var rest = argument[...]
            while let byte = rest.first {
                if let literal = literals.first(where: { rest.starts(with: $0) }) {
                    text += literal[1..<literal.count - 1]
                    rest = rest.dropFirst(literal.count)
                } else if let placeholder = placeholders.first(where: { rest.starts(with: $0.name) }) {
                    pieces += [.text(text), .detail(placeholder.detail)]
                    text = []
                    rest = rest.dropFirst(placeholder.name.count)
                } else {
                    text.append(byte)
                    rest = rest.dropFirst()
                }
            }
            return pieces + [.text(text)]
        }
    }

    func details(in argument: Int) -> [Detail] {
        arguments[argument].compactMap { if case .detail(let detail) = $0 { detail } else { nil } }
    }

    func filled(_ details: (Detail) -> [UInt8]) -> [[UInt8]] {
        arguments.map { pieces in
            pieces.reduce(into: []) { argument, piece in
                switch piece {
                case .text(let text): argument += text
                case .detail(let detail): argument += details(detail)
                }
            }
        }
    }
}

/// Finds the arguments of a command that a shell parses, as `sh -c` does: a key or a value that is inserted there would
/// be executed.
///
/// It knows the programs that are common, wherever they are in the command: after `env`, `sudo` or `xargs`, too.
enum ShellText {
    /// Shells. With the option `-c`, the first argument that is no option is a program.
    private static let shells: Set = [
        "sh", "ash", "bash", "csh", "dash", "fish", "ksh", "ksh93", "mksh", "oksh", "pdksh", "rbash", "rksh", "tcsh",
        "yash", "zsh",
    ]
    /// Programs that pass the value of their option `-c` to a shell.
    private static let starters: Set = ["su", "runuser", "flock"]
    /// Programs that pass all their arguments to a shell.
    private static let forwarders: Set = ["ssh", "eval"]

    /// Throws if `{key}` or `{value}` is in an argument that a shell parses.
    ///
    /// - Parameter command: COMMAND and its arguments.
    static func check(_ command: [[UInt8]], _ subcommand: Subcommand) throws(Failure) {
        let template = CommandTemplate(command)
        let words = command.map { String(decoding: $0, as: UTF8.self) }
        for (index, word) in words.enumerated() {
            let name = String(word[(word.lastIndex(of: "/").map { word.index(after: $0) } ?? word.startIndex)...])
            let parsed =
                if shells.contains(name) {
                    program(of: words, after: index)
                } else if starters.contains(name) {
                    value(of: words, after: index)
                } else if forwarders.contains(name), !isValue(index, of: words) {
                    index + 1..<words.count
                } else {
                    0..<0
                }
            for argument in parsed {
                guard let detail = template.details(in: argument).first(where: { [.key, .value].contains($0) }) else {
                    continue
                }
                let remedy =
                    switch detail {
                    case _ where forwarders.contains(name): "give the \(detail) on standard input"
                    case .key: #"write "$LULL_KEY" there, with the quotation marks"#
                    default: #"write "$1" there, with the quotation marks, and add two arguments: sh {value}"#
                    }
                let text = Terminal.shown(command[argument], upTo: 40)
                throw .usage(
                    "\(name) parses '\(text)', and would execute what the \(detail) contains: \(remedy)", subcommand)
            }
        }
    }

    /// Returns whether a word is the value of an option -e, as in `rsync -ae ssh`, which itself says what `ssh` gets.
    private static func isValue(_ index: Int, of words: [String]) -> Bool {
        guard index > 0 else { return false }
        let before = words[index - 1]
        return before.hasPrefix("-") && !before.hasPrefix("--") && before.hasSuffix("e")
    }

    /// Returns the place of a shell's program; empty if it is in no argument.
    private static func program(of words: [String], after shell: Int) -> Range<Int> {
        var isProgram = false
        var index = shell + 1
        while index < words.count, words[index] != "--", words[index].count > 1, "-+".contains(words[index].prefix(1)) {
            let option = words[index]
            if option.hasPrefix("--command=") { return index..<index + 1 }
            index += 1
            switch option {
            case "--command": isProgram = true
            case "--rcfile", "--init-file": index += 1
            case _ where option.hasPrefix("--"): break
            default:
                if option.hasPrefix("-"), option.contains("c") { isProgram = true }
                // -o and -O have a value.
                if option.contains("o") || option.contains("O") { index += 1 }
            }
        }
        if index < words.count, ["-", "--"].contains(words[index]) { index += 1 }
        return isProgram && index < words.count ? index..<index + 1 : 0..<0
    }

    /// Returns the place of the value of `-c`, also `-lc VALUE`, `-cVALUE` and `--command VALUE`; empty if there is
    /// none.
    private static func value(of words: [String], after starter: Int) -> Range<Int> {
        for index in starter + 1..<words.count {
            let (word, next) = (words[index], min(index + 1, words.count)..<min(index + 2, words.count))
            switch word {
            case "--command", "--session-command": return next
            case _ where word.hasPrefix("--command=") || word.hasPrefix("--session-command="): return index..<index + 1
            case _ where word.hasPrefix("-") && !word.hasPrefix("--") && word.contains("c"):
                return word.hasSuffix("c") ? next : index..<index + 1
            default: break
            }
        }
        return 0..<0
    }
}
