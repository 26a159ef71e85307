internal import LullCore

/// The report of `lull tune`: a table for each kind of policy, and the suggested waits.
struct TuneReport {
    /// One kind of policy: its name, its option, its outcomes, and the suggested one if the trace allows a suggestion and that is
    /// worthwhile.
    typealias PolicyTable = (name: String, option: String, range: Range<Int>, suggestion: Suggestion?)

    let submits: Int
    let keys: Int
    /// From the first line to the last.
    let span: Int64
    let outcomes: [Outcome]
    let tables: [PolicyTable]
    /// Why nothing is suggested; nil if something is.
    let insufficiency: Insufficiency?
    /// Nil if not asked for.
    let outlierKeys: [OutlierKey]?

    /// Why a trace allows no suggestion.
    enum Insufficiency {
        case fewSubmits
        case oneInstant

        var explanation: String {
            switch self {
            case .fewSubmits: "at least \(OutlierKey.leastSubmits) submits are needed for one"
            case .oneInstant: "all submits came at one instant"
            }
        }
    }

    /// Whether the policies have a spacing, which is the same for all.
    var hasSpacing: Bool { outcomes.contains { $0.policy.spacing > .zero } }

    /// The size of the trace.
    var counts: String { "\(counted(submits, "submit")) of \(counted(keys, "key"))" }

    // MARK: - As an object

    /// An object, with durations in seconds and shares from 0 to 1.
    var json: JSONValue {
        var members: [(String, JSONValue)] = [
            ("submits", .number(submits)), ("keys", .number(keys)), ("span", .seconds(span)),
        ]
        members += tables.map { table in
            let suggested = table.suggestion.map { suggestion -> JSONValue in
                let wait = outcomes[suggestion.index].policy.wait.nanoseconds
                return ["wait": .seconds(wait), "because": .text("\(suggestion.reason)")]
            }
            return (
                table.name, ["waits": .array(outcomes[table.range].map(\.json)), "suggested": suggested ?? .null]
            )
        }
        if let outlierKeys { members.append(("keysOfTheirOwn", .array(outlierKeys.map(\.json)))) }
        return .object(members)
    }
}

extension Outcome {
    fileprivate var json: JSONValue {
        func json(_ delays: [Int64]?) -> JSONValue {
            delays.map { .object(zip(Self.percentages, $0).map { ("p\($0)", .seconds($1)) }) } ?? .null
        }
        return [
            "wait": .seconds(policy.wait.nanoseconds), "executions": .number(executions), "saved": .share(saved),
            "delayFromLast": json(delayFromLast), "delayFromFirst": json(delayFromFirst),
            "premature": .number(premature), "longest": starvation.map { .seconds($0) } ?? .null,
            "efficient": .bool(isEfficient),
        ]
    }
}

extension OutlierKey {
    fileprivate var json: JSONValue {
        [
            "key": .json(name), "submits": .number(submits), "wait": .seconds(wait.nanoseconds),
            "saved": .share(saved), "savedWithCommon": .share(savedWithCommon),
        ]
    }
}
