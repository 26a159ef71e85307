internal import LullCore

/// What `lull tune` has to say: a table of each kind of policy, and which wait to choose.
struct TuneReport {
    /// One kind of policy: its name, the option that gives it, its outcomes and the one that is suggested, if the trace says
    /// enough.
    typealias Kind = (name: String, option: String, range: Range<Int>, choice: Choice?)

    let submits: Int
    let keys: Int
    /// From the first line to the last.
    let span: Int64
    let outcomes: [Outcome]
    let tables: [Kind]
    /// Why nothing is suggested; nil if something is.
    let objection: Objection?
    /// Nil if they were not asked for.
    let specialKeys: [SpecialKey]?

    /// Why a trace says nothing about waits.
    enum Objection {
        case fewSubmits
        case oneInstant

        fileprivate var explanation: String {
            switch self {
            case .fewSubmits: "at least \(SpecialKey.fewest) submits are needed for one"
            case .oneInstant: "all submits came at one instant"
            }
        }
    }

    /// What the trace has.
    var counts: String {
        "\(submits) \(submits == 1 ? "submit" : "submits") of \(keys) \(keys == 1 ? "key" : "keys")"
    }

    // MARK: - For reading

    /// How much of a table is shown: on a narrow terminal fewer percentiles, then fewer columns.
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
        // Whoever looks for a wait learns first that the tables give none.
        if let objection {
            append("\(counts) in \(span).", to: &text)
            append("No suggestion: \(objection.explanation).", to: &text)
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
        if objection == nil { append("< suggested", to: &text) }
        let (others, first) = detail.hasDelayFromFirst ? (", after first", " (first)") : ("", "")
        append("after last\(others): the delay to an execution from the last\(first) submit behind it", to: &text)
        if detail.hasAll {
            append("premature: the burst went on within the same wait, so the value did not last", to: &text)
            append("longest: the longest time that submits went on without an execution", to: &text)
        }
        guard objection == nil else { return }
        text.append("\n")
        for table in tables { appendSuggestion(table, to: &text) }
        if let specialKeys { append(specialKeys, to: &text) }
    }

    /// Appends a sentence, in lines that fit.
    private func append(_ sentence: String, to text: inout [UInt8]) {
        for line in Terminal.wrap(sentence, to: Terminal.width) { text.append(string: line + "\n") }
    }

    private func rows(of table: Kind, _ detail: Detail) -> [[String]] {
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
                let mark = "\(outcome.isEfficient ? "*" : " ")\(table.choice?.index == index ? "<" : " ")"
                return columns([
                    (true, DurationText.exact(outcome.policy.wait)), (true, mark), (true, "\(outcome.executions)"),
                    (true, Percent.shown(outcome.saved)), (true, shown(outcome.delayFromLast)),
                    (detail.hasDelayFromFirst, shown(outcome.delayFromFirst)),
                    (detail.hasAll, "\(outcome.premature)"),
                    (detail.hasAll, outcome.starvation.map { DurationText.rounded($0) } ?? "-"),
                ])
            }
    }

    private func appendSuggestion(_ table: Kind, to text: inout [UInt8]) {
        guard let choice = table.choice else { return }
        let outcome = outcomes[choice.index]
        let option = "\(table.option) \(DurationText.exact(outcome.policy.wait))"
        let delay = DurationText.rounded(outcome.delay.nanoseconds)
        let gain = "\(option): saves \(Percent.shown(outcome.saved)), nine of ten within \(delay)"
        switch choice.reason {
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
            } else if choice.reason == .knee {
                append("\(gain); more waiting saves little (the knee)", to: &text)
            } else {
                append("\(gain); saving grows with the delay all along", to: &text)
            }
        }
    }

    private func append(_ special: [SpecialKey], to text: inout [UInt8]) {
        text.append("\n")
        guard !special.isEmpty else { return append("No key needs a wait of its own.", to: &text) }
        append("Keys that would need a wait of their own, the busiest first:", to: &text)
        for key in special {
            let rest =
                ": --wait \(DurationText.exact(key.wait)) saves \(Percent.shown(key.saved)) of \(key.submits) submits, "
                + "the common one \(Percent.shown(key.savedWithCommon))"
            let line = "  \(Terminal.shown(key.name, upTo: max(12, Terminal.width - rest.count - 2)))\(rest)"
            append(line, to: &text)
        }
    }

    // MARK: - As an object

    /// One JSON object; lengths of time in seconds, shares from 0 to 1.
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
            if let choice = table.choice {
                text.append("{\"wait\":")
                DecimalSeconds.append(outcomes[choice.index].policy.wait.nanoseconds, to: &text)
                text.append(string: ",\"because\":\"\(choice.reason)\"}")
            } else {
                text.append("null")
            }
            text.append("}")
        }
        if let specialKeys {
            text.append(",\"keysOfTheirOwn\":[")
            for (index, key) in specialKeys.enumerated() {
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
