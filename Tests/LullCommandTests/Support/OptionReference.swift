@testable import LullCommand

/// The table of all options in docs/command.md, which a test compares.
enum OptionReference {
    static var table: String {
        let rows = Option.all.filter { $0.group != .help }.flatMap { option in
            // One row for each thing that it does.
            var explanations: [(text: String, subcommands: [Subcommand])] = []
            for subcommand in Subcommand.allCases where option.belongs(to: subcommand) {
                let text = option.explanation(for: subcommand)
                if let index = explanations.firstIndex(where: { $0.text == text }) {
                    explanations[index].subcommands.append(subcommand)
                } else {
                    explanations.append((text, [subcommand]))
                }
            }
            return explanations.map { text, subcommands in
                let names = subcommands.map { "`\($0.rawValue)`" }.joined(separator: ", ")
                return "| `\(cell(option.term))` | \(names) | \(cell(text)) |\n"
            }
        }
        return "| option | commands | |\n|---|---|---|\n" + rows.joined()
    }

    /// A bar would end a cell.
    private static func cell(_ text: String) -> String { text.replacing("|", with: "\\|") }
}
