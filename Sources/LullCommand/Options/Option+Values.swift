internal import LullCore

/// The values that some options choose from, with what they mean.
enum Choices {
    static let edges: [(name: String, choice: Edges)] = [
        ("leading", .leading), ("trailing", .trailing), ("both", [.leading, .trailing]),
    ]
    static let delayRules: [(name: String, choice: DelayRule)] = [("restart", .restart), ("extend", .extend)]
    static let combinations: [(name: String, choice: Combination)] = [
        ("latest", .latest), ("first", .first), ("collect", .collect),
    ]
    static let whileRunning: [(name: String, choice: WhileRunning)] = [
        ("queue", .queue), ("cancel", .cancelRunning), ("concurrent", .concurrent), ("skip", .skip),
    ]
}

extension Option {
    /// What the value of an option is, as far as a shell can help with it.
    enum Value: Equatable {
        /// It takes none.
        case none
        /// One of these.
        case choice([String])
        case file
        /// `sqlite:` and a file.
        case store
        /// Anything else.
        case text
    }

    /// What a subcommand takes as the value of an option.
    func value(for subcommand: Subcommand) -> Value {
        switch self {
        case .edges: .choice(Choices.edges.map(\.name))
        case .delayRule: .choice(Choices.delayRules.map(\.name))
        case .combine: .choice(Choices.combinations.map(\.name))
        case .whileRunning: .choice(Choices.whileRunning.map(\.name))
        case .format: .choice(Settings.Format.known(to: subcommand).map(\.rawValue))
        case .atEnd: .choice(Settings.AtEnd.known(to: subcommand).map(\.rawValue))
        case .svg, .record: .file
        case .store: .store
        default: takesValue ? .text : .none
        }
    }
}

extension Subcommand {
    /// What comes after the options, as far as a shell can help with it.
    enum Operands: Equatable {
        case none
        case file
        /// A command with its arguments, after `--`.
        case command
        case words([String])
    }

    var operands: Operands {
        switch self {
        case .simulate, .tune: .file
        case .run, .work: .command
        case .dead: .words(["list", "retry", "discard"])
        default: .none
        }
    }

    /// Whether a word is one of those that may stand behind the name, as `retry` behind `dead`.
    func takes(_ word: String) -> Bool {
        guard case .words(let words) = operands else { return false }
        return words.contains(word)
    }

    /// Whether an operand may be a key, which may begin with a dash.
    var takesKey: Bool { [.submit, .flush, .cancel].contains(self) }
}
