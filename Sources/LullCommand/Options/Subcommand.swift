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
    case touch
    case flush
    case cancel
    case dead
    case workers
    case pause
    case resume
    case forget
    case compact
    case schema
    case adopt
    case serve
    case top
}

extension Subcommand {
    /// Those to which a policy is given.
    static let withPolicy: [Subcommand] = [.filter, .run, .simulate, .submit, .work]
    /// Those of them for which executions take time.
    static let withRuns = withPolicy.filter { $0 != .filter }
    /// Those that work on a store.
    static let withStore = allCases.filter { ![.simulate, .tune, .top].contains($0) }

    /// Whether it works without a store, too.
    var canDoWithoutStore: Bool { [.filter, .run, .simulate, .tune, .top].contains(self) }

    var options: [Option] { Option.all.filter { $0.belongs(to: self) } }

    var operands: Option.Completion {
        switch self {
        case .simulate, .tune, .top: .file
        case .run, .work: .command
        case .dead: .choice(["list", "retry", "discard"])
        default: .none
        }
    }

    /// Returns whether a word is one of the subcommand's keywords, as `retry` is one of `dead`.
    func takes(keyword word: String) -> Bool {
        if case .choice(let keywords) = operands { keywords.contains(word) } else { false }
    }

    /// Whether it takes arguments that are no options.
    var takesOperands: Bool { operands != .none || takesKey }

    /// Whether an operand may be a key, which may begin with a dash.
    var takesKey: Bool { [.submit, .list, .touch, .flush, .cancel].contains(self) }
}
