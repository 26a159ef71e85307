/// A parsed text of `--help`, from which the manual and the completions are made.
struct HelpPage {
    /// A part of the page, in order.
    enum Block: Equatable {
        /// The lines after "Usage:", one for each way to call the command.
        case usage([String])
        case paragraph(String)
        /// A line that ends with a colon, above indented lines.
        case heading(String)
        /// One or several options with their values, and the explanation.
        case option(term: String, text: String)
        /// Indented lines that stay as they are, such as examples.
        case literal([String])
    }

    private(set) var blocks: [Block] = []

    init(_ text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var index = 0
        while index < lines.count {
            let line = lines[index]
            if line.isEmpty {
                index += 1
            } else if line.hasPrefix("Usage: ") {
                var usage = [line.dropFirst("Usage:".count)]
                index += 1
                while index < lines.count, lines[index].hasPrefix(" ") {
                    usage.append(lines[index][...])
                    index += 1
                }
                blocks.append(.usage(usage.map(Self.trimmed).filter { !$0.isEmpty }))
            } else if line.hasPrefix("  --") {
                blocks.append(Self.option(lines, &index))
            } else if line.hasPrefix("  ") {
                var literal: [String] = []
                while index < lines.count, lines[index].hasPrefix("  "), !lines[index].hasPrefix("  --") {
                    literal.append(String(lines[index].dropFirst(2)))
                    index += 1
                }
                blocks.append(.literal(literal))
            } else {
                appendParagraph(lines, &index)
            }
        }
    }

    /// Parses an option. Its explanation starts beside it, after two blanks, and continues below, indented further.
    private static func option(_ lines: [String], _ index: inout Int) -> Block {
        let line = lines[index].dropFirst(2)
        index += 1
        var term = line
        var text: [Substring] = []
        if let gap = line.indices.first(where: { line[$0...].hasPrefix("  ") }) {
            term = line[..<gap]
            text = line[gap...].split(separator: " ")
        }
        while index < lines.count, lines[index].hasPrefix("      ") {
            text += lines[index].split(separator: " ")
            index += 1
        }
        return .option(term: String(term), text: text.joined(separator: " "))
    }

    private mutating func appendParagraph(_ lines: [String], _ index: inout Int) {
        var words: [Substring] = []
        while index < lines.count, !lines[index].isEmpty, !lines[index].hasPrefix("  ") {
            words += lines[index].split(separator: " ")
            index += 1
        }
        let text = words.joined(separator: " ")
        let isHeading = text.hasSuffix(":") && index < lines.count && lines[index].hasPrefix("  ")
        // A sentence that introduces an example is no heading.
        blocks.append(isHeading && !text.contains(". ") ? .heading(String(text.dropLast())) : .paragraph(text))
    }

    private static func trimmed(_ line: Substring) -> String {
        line.split(separator: " ").joined(separator: " ")
    }

    // MARK: - For the manual and completions

    /// Returns the explanation of an option, named without dashes; nil if the page has none.
    func explanation(of option: String) -> String? {
        for case .option(let term, let text) in blocks {
            let names = term.split(separator: ",").compactMap { $0.split(separator: " ").first }
            if names.contains(where: { $0 == "--\(option)" }) { return text }
        }
        return nil
    }

    /// Returns the overview's few words about a subcommand.
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
