/// A text of `--help` taken apart, so that the manual and the completions say the same.
struct HelpPage {
    /// A piece of the page, in order.
    enum Block: Equatable {
        /// The lines after "Usage:", each a way to call the command.
        case usage([String])
        case paragraph(String)
        /// What ends in a colon and has something indented below it.
        case heading(String)
        /// An option or several with their values, and what is said of them.
        case option(term: String, text: String)
        /// Indented lines that stand as they are: examples.
        case literal([String])
    }

    private(set) var blocks: [Block] = []

    init(_ text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var place = 0
        while place < lines.count {
            let line = lines[place]
            if line.isEmpty {
                place += 1
            } else if line.hasPrefix("Usage: ") {
                var usage = [line.dropFirst("Usage:".count)]
                place += 1
                while place < lines.count, lines[place].hasPrefix(" ") {
                    usage.append(lines[place][...])
                    place += 1
                }
                blocks.append(.usage(usage.map(Self.trimmed).filter { !$0.isEmpty }))
            } else if line.hasPrefix("  --") {
                blocks.append(Self.option(lines, &place))
            } else if line.hasPrefix("  ") {
                var literal: [String] = []
                while place < lines.count, lines[place].hasPrefix("  "), !lines[place].hasPrefix("  --") {
                    literal.append(String(lines[place].dropFirst(2)))
                    place += 1
                }
                blocks.append(.literal(literal))
            } else {
                appendParagraph(lines, &place)
            }
        }
    }

    /// An option has its explanation beside it, from the second of two blanks on, and below it, far to the right.
    private static func option(_ lines: [String], _ place: inout Int) -> Block {
        let line = lines[place].dropFirst(2)
        place += 1
        var term = line
        var text: [Substring] = []
        if let gap = line.indices.first(where: { line[$0...].hasPrefix("  ") }) {
            term = line[..<gap]
            text = line[gap...].split(separator: " ")
        }
        while place < lines.count, lines[place].hasPrefix("      ") {
            text += lines[place].split(separator: " ")
            place += 1
        }
        return .option(term: String(term), text: text.joined(separator: " "))
    }

    private mutating func appendParagraph(_ lines: [String], _ place: inout Int) {
        var words: [Substring] = []
        while place < lines.count, !lines[place].isEmpty, !lines[place].hasPrefix("  ") {
            words += lines[place].split(separator: " ")
            place += 1
        }
        let text = words.joined(separator: " ")
        let isHeading = text.hasSuffix(":") && place < lines.count && lines[place].hasPrefix("  ")
        // A sentence that leads to an example is no heading.
        blocks.append(isHeading && !text.contains(". ") ? .heading(String(text.dropLast())) : .paragraph(text))
    }

    private static func trimmed(_ line: Substring) -> String {
        line.split(separator: " ").joined(separator: " ")
    }

    // MARK: - What others need of it

    /// What is said of an option, without its dashes; nil if it is not explained by itself.
    func explanation(of option: String) -> String? {
        for case .option(let term, let text) in blocks {
            let names = term.split(separator: ",").compactMap { $0.split(separator: " ").first }
            if names.contains(where: { $0 == "--\(option)" }) { return text }
        }
        return nil
    }

    /// What the overview says of a subcommand, in a few words.
    static func summary(of subcommand: String) -> String {
        for line in Help.overview.split(separator: "\n") where line.hasPrefix("  lull \(subcommand) ") {
            let rest = line.dropFirst(2)
            if let gap = rest.indices.last(where: { rest[$0...].hasPrefix("  ") }) {
                return trimmed(rest[gap...])
            }
        }
        return ""
    }
}
