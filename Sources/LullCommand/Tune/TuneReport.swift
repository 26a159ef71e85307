internal import LullCore

/// What `lull tune` has to say: a table of each kind of policy, and which wait to choose.
struct TuneReport {
    /// One kind of policy: its name, the option that gives it, its outcomes and the one that is suggested.
    typealias Table = (name: String, option: String, range: Range<Int>, choice: Choice?)

    let submits: Int
    let keys: Int
    /// From the first line to the last.
    let span: Int64
    let outcomes: [Outcome]
    let tables: [Table]
    let targets: Targets
    /// Nil if they were not asked for.
    let specialKeys: [SpecialKey]?

    // MARK: - For reading

    func appendText(to text: inout [UInt8]) {
        let plural = keys == 1 ? "key" : "keys"
        text.append(string: "\(submits) submits of \(keys) \(plural) in \(DurationText.rounded(span)).")
        text.append(string: " Delays are p50/p90/p99.\n")
        guard submits > 0 else { return }
        for table in tables where !table.range.isEmpty { append(table, to: &text) }
        text.append(
            """

            * efficient: no other wait of the table saves as much with less delay
            premature: the burst went on within the same wait, so the work did not last
            longest: the longest time that submits went on without an execution


            """)
        for table in tables { appendSuggestion(table, to: &text) }
        if let specialKeys { append(specialKeys, to: &text) }
    }

    private func append(_ table: Table, to text: inout [UInt8]) {
        var rows = [
            [table.name, "", "executions", "saved", "after the last", "after the first", "premature", "longest"]
        ]
        for index in table.range {
            let outcome = outcomes[index]
            let mark = "\(outcome.isEfficient ? "*" : " ")\(table.choice?.index == index ? "<" : " ")"
            rows.append([
                DurationText.exact(outcome.policy.wait), mark, "\(outcome.executions)", Percent.shown(outcome.saved),
                Self.shown(outcome.delayFromLast), Self.shown(outcome.delayFromFirst), "\(outcome.premature)",
                DurationText.rounded(outcome.starvation),
            ])
        }
        text.append(UInt8(ascii: "\n"))
        LullCommand.Table.append(rows, marks: 1, to: &text)
    }

    private static func shown(_ delays: [Int64]) -> String {
        delays.map { DurationText.rounded($0) }.joined(separator: "/")
    }

    private func appendSuggestion(_ table: Table, to text: inout [UInt8]) {
        guard let choice = table.choice else { return }
        let outcome = outcomes[choice.index]
        let option = "\(table.option) \(DurationText.exact(outcome.policy.wait))"
        let delay = DurationText.rounded(outcome.delay.nanoseconds)
        let gain = "saves \(Percent.shown(outcome.saved)), nine of ten within \(delay)"
        switch choice.reason {
        case .knee: text.append(string: "\(option): \(gain); more waiting saves little (the knee)\n")
        case .most where outcome.saved == 0: text.append(string: "no \(table.name) of the table saves anything\n")
        case .most: text.append(string: "\(option): \(gain); saving grows with the delay all along\n")
        case .target: text.append(string: "\(option): \(gain), which meets the target\n")
        case .nearest:
            text.append(string: "no \(table.name) of the table meets the target; \(option) comes nearest: \(gain)\n")
        }
    }

    private func append(_ special: [SpecialKey], to text: inout [UInt8]) {
        guard !special.isEmpty else {
            text.append("\nNo key needs a wait of its own.\n")
            return
        }
        text.append("\nKeys that would need a wait of their own, the busiest first:\n")
        for key in special {
            text.append("  ")
            text.append(contentsOf: key.name)
            text.append(
                string: ": --wait \(DurationText.exact(key.wait)) saves \(Percent.shown(key.saved)) of "
                    + "\(key.submits) submits, the common one \(Percent.shown(key.savedWithCommon))\n")
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
            text.append(string: ",\"\(name)\":{")
            for (index, delay) in delays.enumerated() {
                text.append(string: "\(index > 0 ? "," : "")\"p\(Outcome.percentages[index])\":")
                DecimalSeconds.append(delay, to: &text)
            }
            text.append("}")
        }
        text.append(string: ",\"premature\":\(outcome.premature),\"longest\":")
        DecimalSeconds.append(outcome.starvation, to: &text)
        text.append(string: ",\"efficient\":\(outcome.isEfficient)}")
    }
}
