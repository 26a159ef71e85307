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

        fileprivate var explanation: String {
            switch self {
            case .fewSubmits: "at least \(OutlierKey.leastSubmits) submits are needed for one"
            case .oneInstant: "all submits came at one instant"
            }
        }
    }

    /// Whether the policies have a spacing, which is the same for all.
    private var hasSpacing: Bool { outcomes.contains { $0.policy.spacing > .zero } }

    /// The size of the trace.
    var counts: String {
        "\(submits) \(submits == 1 ? "submit" : "submits") of \(keys) \(keys == 1 ? "key" : "keys")"
    }

    // MARK: - For reading

    /// How much of a table is shown: a narrow terminal gets fewer percentiles, then fewer columns.
    private struct Detail {
        let percentages: [Int]
        var hasDelayFromFirst = true
        var hasAll = true

        static let levels = [
            Detail(percentages: [50, 90, 99]), Detail(percentages: [50, 90]), Detail(percentages: [90]),
            Detail(percentages: [90], hasDelayFromFirst: false),
            Detail(percentages: [90], hasDelayFromFirst: false, hasAll: false),
        ]
    }

    func appendText(to text: inout [UInt8]) {
        let shown = tables.filter { !$0.range.isEmpty }
        let fitting = Detail.levels.first { detail in
            shown.allSatisfy { Table.fits(rows(of: $0, detail), marks: 1) }
        }
        let detail = fitting ?? Detail.levels[Detail.levels.count - 1]
        let delays = detail.percentages.map { "p\($0)" }.joined(separator: "/")
        let span = DurationText.rounded(span)
        guard submits > 0 else {
            return append("\(counts): nothing was submitted, so there is nothing to compare.", to: &text)
        }
        // A reader who looks for a wait must learn first that there is no suggestion.
        if let insufficiency {
            append("\(counts) in \(span).", to: &text)
            append("No suggestion: \(insufficiency.explanation).", to: &text)
            append("Delays are the percentiles \(delays).", to: &text)
        } else {
            append("\(counts) in \(span). Delays are the percentiles \(delays).", to: &text)
        }
        for table in shown {
            text.append("\n")
            Table.append(rows(of: table, detail), marks: 1, to: &text)
        }
        text.append("\n")
        append("* efficient: no other wait of the table saves as much with less delay", to: &text)
        if insufficiency == nil { append("< suggested", to: &text) }
        let (others, first) = detail.hasDelayFromFirst ? (", after first", " (first)") : ("", "")
        append("after last\(others): the delay to an execution from the last\(first) submit behind it", to: &text)
        if detail.hasAll {
            let spacing = hasSpacing ? " or the spacing" : ""
            append("premature: the burst went on within the same wait\(spacing), so the value did not last", to: &text)
            append("longest: the longest time that submits went on without an execution", to: &text)
        }
        guard insufficiency == nil else { return }
        text.append("\n")
        for table in tables { appendSuggestion(table, to: &text) }
        if let outlierKeys { append(outlierKeys, to: &text) }
    }

    /// Appends a sentence, wrapped to the terminal.
    private func append(_ sentence: String, to text: inout [UInt8]) {
        for line in Terminal.wrap(sentence, to: Terminal.width) { text.append(string: line + "\n") }
    }

    private func rows(of table: PolicyTable, _ detail: Detail) -> [[String]] {
        func columns(_ all: [(isShown: Bool, text: String)]) -> [String] { all.filter(\.isShown).map(\.text) }
        let head = columns([
            (true, table.name), (true, ""), (true, "executions"), (true, "saved"), (true, "after last"),
            (detail.hasDelayFromFirst, "after first"), (detail.hasAll, "premature"), (detail.hasAll, "longest"),
        ])
        func shown(_ delays: [Int64]?) -> String {
            guard let delays else { return "-" }
            return zip(Outcome.percentages, delays).filter { detail.percentages.contains($0.0) }
                .map { DurationText.rounded($0.1) }.joined(separator: "/")
        }
        return [head]
            + table.range.map { index in
                let outcome = outcomes[index]
                let mark = "\(outcome.isEfficient ? "*" : " ")\(table.suggestion?.index == index ? "<" : " ")"
                return columns([
                    (true, DurationText.exact(outcome.policy.wait)), (true, mark), (true, "\(outcome.executions)"),
                    (true, Percent.shown(outcome.saved)), (true, shown(outcome.delayFromLast)),
                    (detail.hasDelayFromFirst, shown(outcome.delayFromFirst)),
                    (detail.hasAll, "\(outcome.premature)"),
                    (detail.hasAll, outcome.starvation.map { DurationText.rounded($0) } ?? "-"),
                ])
            }
    }

    private func appendSuggestion(_ table: PolicyTable, to text: inout [UInt8]) {
        guard let suggestion = table.suggestion else { return }
        let outcome = outcomes[suggestion.index]
        let spacing = outcome.policy.spacing
        let option =
            "\(table.option) \(DurationText.exact(outcome.policy.wait))"
            + (spacing > .zero ? " --spacing \(DurationText.option(spacing))" : "")
        let delay = DurationText.rounded(outcome.delay.nanoseconds)
        let gain = "\(option): saves \(Percent.shown(outcome.saved)), nine of ten within \(delay)"
        switch suggestion.reason {
        case .target: append("\(gain), which meets the target", to: &text)
        case .nearest:
            let rest = gain.dropFirst(option.count + 2)
            append("no \(table.name) of the table meets the target; \(option) comes nearest: \(rest)", to: &text)
        case .knee, .most:
            if outcomes[table.range].allSatisfy({ $0.saved == 0 }) {
                append("no \(table.name) of the table saves anything", to: &text)
            } else if table.range.count == 1 {
                append(gain, to: &text)
            } else if outcomes.isFlat(table.range) {
                append("\(gain); the other waits of the table save the same", to: &text)
            } else if suggestion.reason == .knee {
                append("\(gain); more waiting saves little (the knee)", to: &text)
            } else {
                append("\(gain); saving grows with the delay all along", to: &text)
            }
        }
    }

    private func append(_ outliers: [OutlierKey], to text: inout [UInt8]) {
        text.append("\n")
        guard !outliers.isEmpty else { return append("No key needs a wait of its own.", to: &text) }
        append("Keys that would need a wait of their own, the busiest first:", to: &text)
        for key in outliers {
            let rest =
                ": --wait \(DurationText.exact(key.wait)) saves \(Percent.shown(key.saved)) of \(key.submits) submits, "
                + "the common one \(Percent.shown(key.savedWithCommon))"
            let line = "  \(Terminal.shown(key.name, upTo: max(12, Terminal.width - rest.count - 2)))\(rest)"
            append(line, to: &text)
        }
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
