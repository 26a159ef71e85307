internal import LullCore

/// The values of options that take one of a few, with their meanings.
enum OptionValues {
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
    /// The kind of an option's value, for completion in a shell.
    enum Value: Equatable {
        /// The option takes no value.
        case none
        /// One of these.
        case choice([String])
        case file
        /// `sqlite:` and a file.
        case store
        /// Anything else.
        case text
    }

    /// Returns the kind of value that this option takes with a subcommand.
    func value(for subcommand: Subcommand) -> Value {
        switch self {
        case .edges: .choice(OptionValues.edges.map(\.name))
        case .delayRule: .choice(OptionValues.delayRules.map(\.name))
        case .combine: .choice(OptionValues.combinations.map(\.name))
        case .whileRunning: .choice(OptionValues.whileRunning.map(\.name))
        case .format: .choice(CommandOptions.Format.known(to: subcommand).map(\.rawValue))
        case .atEnd: .choice(CommandOptions.AtEnd.known(to: subcommand).map(\.rawValue))
        case .svg, .record: .file
        case .store: .store
        default: takesValue ? .text : .none
        }
    }
}
