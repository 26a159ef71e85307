internal import LullCore

/// The report of `lull tune`: a table for each kind of policy, and the suggested waits.
struct TuneReport {
    /// One kind of policy: its name, its option, its outcomes, and the suggested one if the trace allows a suggestion.
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
    var counts: String {
        "\(submits) \(submits == 1 ? "submit" : "submits") of \(keys) \(keys == 1 ? "key" : "keys")"
    }

    // MARK: - As an object

    /// Appends one JSON object, with durations in seconds and shares from 0 to 1.
    func appendJSON(to text: inout [UInt8]) {
        text.append(string: "{\"submits\":\(submits),\"keys\":\(keys),\"span\":")
        DecimalSeconds.append(span, to: &text)
        for table in tables {
            text.append(string: ",\"\(table.name)\":{\"waits\":[")
            for index in table.range {
                if index > table.range.lowerBound { text.append(",") }
                append(outcomes[index], to: &text)
            }
            text.append("],\"suggested\":")
            if let suggestion = table.suggestion {
                text.append("{\"wait\":")
                DecimalSeconds.append(outcomes[suggestion.index].policy.wait.nanoseconds, to: &text)
                text.append(string: ",\"because\":\"\(suggestion.reason)\"}")
            } else {
                text.append("null")
            }
            text.append("}")
        }
        if let outlierKeys {
            text.append(",\"keysOfTheirOwn\":[")
            for (index, key) in outlierKeys.enumerated() {
                if index > 0 { text.append(",") }
                text.append("{\"key\":")
                text.append(contentsOf: key.name)
                text.append(string: ",\"submits\":\(key.submits),\"wait\":")
                DecimalSeconds.append(key.wait.nanoseconds, to: &text)
                text.append(string: ",\"saved\":\(key.saved),\"savedWithCommon\":\(key.savedWithCommon)}")
            }
            text.append("]")
        }
        text.append("}\n")
    }

    private func append(_ outcome: Outcome, to text: inout [UInt8]) {
        text.append("{\"wait\":")
        DecimalSeconds.append(outcome.policy.wait.nanoseconds, to: &text)
        text.append(string: ",\"executions\":\(outcome.executions),\"saved\":\(outcome.saved)")
        for (name, delays) in [("delayFromLast", outcome.delayFromLast), ("delayFromFirst", outcome.delayFromFirst)] {
            text.append(string: ",\"\(name)\":")
            guard let delays else {
                text.append("null")
                continue
            }
            for (index, delay) in delays.enumerated() {
                text.append(string: "\(index > 0 ? "," : "{")\"p\(Outcome.percentages[index])\":")
                DecimalSeconds.append(delay, to: &text)
            }
            text.append("}")
        }
        text.append(string: ",\"premature\":\(outcome.premature),\"longest\":")
        if let longest = outcome.starvation { DecimalSeconds.append(longest, to: &text) } else { text.append("null") }
        text.append(string: ",\"efficient\":\(outcome.isEfficient)}")
    }
}
