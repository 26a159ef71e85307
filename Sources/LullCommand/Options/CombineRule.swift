internal import LullCore
internal import LullDurable

/// What an execution gets of the records of a burst: the values of `--combine`.
enum CombineRule: String, CaseIterable {
    case latest
    case first
    case collect
    /// All of them, which are JSON, folded into one.
    case mergeJSON = "merge-json"

    /// The rule of a namespace.
    init(_ rules: DurableRules) {
        self =
            switch rules.combination {
            case .latest: .latest
            case .first: .first
            case .collect: rules.isMerging ? .mergeJSON : .collect
            }
    }

    /// How the engine or a store combines the records, before they are folded.
    var combination: CombinationRule {
        switch self {
        case .latest: .latest
        case .first: .first
        case .collect, .mergeJSON: .collect
        }
    }
}
