/// A page about a command, from which its help, its page of the manual and the lists of commands are made.
struct HelpPage {
    let name: String
    /// What follows the name in a list of commands.
    let synopsis: String
    /// A few words, for a list of commands.
    let summary: String
    let blocks: [Block]

    enum Block: Equatable {
        /// The ways to call the command.
        case usage([String])
        case paragraph(String)
        /// Stands above what follows.
        case heading(String)
        /// An option with its value, or several, and what it does.
        case option(term: String, text: String)
        /// Another word, and what it means.
        case term(String, text: String)
        /// Lines that stay as they are, such as examples.
        case literal([String])
    }

    /// Blocks that belong together.
    enum Part: ExpressibleByStringLiteral {
        case text(String)
        case group([Part])
        case heading(String)
        /// The options of some groups that the subcommand has, in the order of the groups.
        case options([Option.Group])
        /// The options of a group that the subcommand has, with one sentence for all of them.
        case likewise(Option.Group, String)
        case terms([(String, String)])
        case literal([String])
        case examples([String])

        init(stringLiteral text: String) { self = .text(text) }
    }

    init(_ name: String, _ synopsis: String, _ summary: String, usage: [String] = [], _ parts: [Part]) {
        self.name = name
        self.synopsis = synopsis
        self.summary = summary
        blocks = (usage.isEmpty ? [] : [.usage(usage)]) + parts.flatMap { Self.blocks($0, Subcommand(rawValue: name)) }
    }

    private static func blocks(_ part: Part, _ subcommand: Subcommand?) -> [Block] {
        func options(of group: Option.Group) -> [Option] {
            Option.all.filter { $0.group == group && subcommand.map($0.belongs) ?? false }
        }
        return switch part {
        case .text(let text): [.paragraph(text)]
        case .group(let parts): parts.flatMap { blocks($0, subcommand) }
        case .heading(let heading): [.heading(heading)]
        case .literal(let lines): [.literal(lines)]
        case .examples(let lines): [.heading(lines.count == 1 ? "Example" : "Examples"), .literal(lines)]
        case .terms(let terms): terms.map { .term($0.0, text: $0.1) }
        case .options(let groups):
            groups.flatMap(options).map { option in
                .option(term: option.term, text: subcommand.map(option.explanation) ?? "")
            }
        case .likewise(let group, let text):
            [.option(term: options(of: group).map(\.term).joined(separator: ", "), text: text)]
        }
    }

    /// The line about it in a list of commands: how it is called, and the summary.
    var line: String {
        let call = "lull \(name.padded(to: 8)) \(synopsis)"
        return "\(call.padded(to: 40)) \(summary)"
    }
}

// MARK: - As text

extension HelpPage {
    /// The width of the text, and the column at which the explanations of options begin.
    private static let (width, column) = (80, 25)

    func text(_ style: Terminal.Style = .plain) -> String { Self.text(of: blocks, style: style) }

    static func text(of blocks: [Block], style: Terminal.Style) -> String {
        var text = ""
        for (index, block) in blocks.enumerated() {
            let next = index + 1 < blocks.count ? blocks[index + 1] : nil
            switch block {
            case .usage(let lines):
                text += lines.enumerated().map { ($0 == 0 ? "Usage: " : "       ") + $1 + "\n" }.joined()
            case .paragraph(let sentences):
                text += Terminal.wrap(sentences, to: width).map { "\($0)\n" }.joined()
            case .heading(let heading):
                text += style.bold(heading + ":") + "\n"
                continue
            case .option(let term, let explanation), .term(let term, let explanation):
                text += lines(term, explanation)
                if next?.isTerm == true { continue }
            case .literal(let lines):
                text += lines.map { $0.isEmpty ? "\n" : "  \($0)\n" }.joined()
            }
            // A sentence that ends with a colon stands directly above what it introduces.
            if text.hasSuffix(":\n"), next?.isIndented == true { continue }
            text += "\n"
        }
        return text
    }

    private static func lines(_ term: String, _ explanation: String) -> String {
        let indentation = String(repeating: " ", count: column)
        let lines = Terminal.wrap(explanation, to: width - column)
        let label = "  \(term)"
        // Two blanks at least separate the two.
        let isLong = Terminal.columns(of: label) > column - 2
        let labels = isLong ? Terminal.wrap(term, to: width - 2).map { "  \($0)" } : [label]
        let first = isLong ? labels + [indentation + lines[0]] : [label.padded(to: column) + lines[0]]
        return (first + lines.dropFirst().map { indentation + $0 }).map { "\($0)\n" }.joined()
    }
}

extension HelpPage.Block {
    fileprivate var isTerm: Bool {
        switch self {
        case .option, .term: true
        default: false
        }
    }

    fileprivate var isIndented: Bool {
        if case .literal = self { return true }
        return isTerm
    }
}
