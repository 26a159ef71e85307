/// The commands of `lull` that work on records, traces and stores.
enum Subcommand: String, CaseIterable {
    case filter
    case run
    case simulate
    case tune
    case submit
    case work
    case status
    case list
    case flush
    case cancel
    case dead
    case workers
    case forget
    case compact
    case schema
    case adopt
}

extension Subcommand {
    /// The kind of a subcommand's operands, for completion in a shell.
    enum Operands: Equatable {
        case none
        case file
        /// A command with its arguments, after `--`.
        case command
        case keywords([String])
    }

    var operands: Operands {
        switch self {
        case .simulate, .tune: .file
        case .run, .work: .command
        case .dead: .keywords(["list", "retry", "discard"])
        default: .none
        }
    }

    /// Returns whether a word is one of the subcommand's keywords, as `retry` is one of `dead`.
    func takes(keyword word: String) -> Bool {
        guard case .keywords(let keywords) = operands else { return false }
        return keywords.contains(word)
    }

    /// Whether an operand may be a key, which may begin with a dash.
    var takesKey: Bool { [.submit, .list, .flush, .cancel].contains(self) }
}
