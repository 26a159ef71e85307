internal import LullCore
internal import LullInspection
internal import LullTuning

/// The report of `lull tune`: a table for each kind of policy, and the suggested waits.
struct TuneReport {
    /// One kind of policy: its name, its option, its results, and the suggested one if the trace allows a suggestion
    /// and that is worthwhile.
    typealias PolicyTable = (name: String, option: String, range: Range<Int>, suggestion: Suggestion?)

    let submits: Int
    let keys: Int
    /// From the first line to the last.
    let span: Int64
    let results: [TrialResult]
    let tables: [PolicyTable]
    /// Why nothing is suggested; nil if something is.
    let insufficiency: String?
    /// Nil if not asked for.
    let outlierKeys: [OutlierKey]?

    /// Whether the policies have a spacing, which is the same for all.
    var hasSpacing: Bool { results.contains { $0.policy.spacing > .zero } }

    var counts: String { "\(counted(submits, "submit")) of \(counted(keys, "key"))" }

    // MARK: - As an object

    var json: JSONValue {
        var members: [(String, JSONValue)] = [
            ("submits", .number(submits)), ("keys", .number(keys)), ("span", .seconds(span)),
        ]
        members += tables.map { table in
            let suggested = table.suggestion.map { suggestion -> JSONValue in
                let result = results[suggestion.index]
                return [
                    "wait": .seconds(result.policy.wait.nanoseconds), "because": .text("\(suggestion.reason)"),
                    "maxWait": result.missingMaxWait.map { .seconds($0.nanoseconds) } ?? .null,
                ]
            }
            return (
                table.name, ["waits": .array(results[table.range].map(\.json)), "suggested": suggested ?? .null]
            )
        }
        if let outlierKeys { members.append(("keysOfTheirOwn", .array(outlierKeys.map(\.json)))) }
        return .object(members)
    }
}

extension TrialResult {
    /// How many executions come within the 90th percentile: of fewer than ten, all.
    fileprivate var shareInTime: String {
        executions == 1 ? "one execution" : executions < 10 ? "all" : "nine of ten"
    }

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

// MARK: - For reading: the answer first, then what each wait costs and saves.

extension TuneReport {
    func appendText(style: Terminal.Style, to text: inout [UInt8]) {
        guard submits > 0 else {
            return text.append(wrapped: "\(counts): nothing was submitted, so there is nothing to compare.")
        }
        let all = tables.map { Array($0.range) }
        let detail = Detail.levels.first { Table.fits(cells($0, all), marks: 1) } ?? Detail.levels[4]
        appendAnswer(style, to: &text)
        text.append(wrapped: "\(counts) in \(DurationText.rounded(span)). \(detail.meaning)")
        text.append("\n")
        let shown = tables.map { thinned($0) }
        let rows = cells(detail, shown)
        let chosen = Set(rows.indices.filter { rows[$0].dropFirst().first?.contains("<") == true })
        Table.append(rows, marks: 1, style: style, chosen: chosen, to: &text)
        text.append("\n")
        appendLegend(detail, isWhole: shown == all, to: &text)
        if let outlierKeys, insufficiency == nil { append(outlierKeys, to: &text) }
    }

    // MARK: - The answer

    /// The tables with a suggestion, the better one first: one that meets the target, if there is one, and a debounce.
    var answers: [PolicyTable] {
        let answers = tables.filter { $0.suggestion != nil }
        return answers.filter { $0.suggestion?.reason != .nearest }
            + answers.filter { $0.suggestion?.reason == .nearest }
    }

    private func appendAnswer(_ style: Terminal.Style, to text: inout [UInt8]) {
        if let insufficiency {
            text.append(wrapped: "No suggestion: \(insufficiency).")
        } else if !results.contains(where: \.isWorthwhile) {
            let best = Percent.shown(results.map(\.saved).max() ?? 0)
            text.append(wrapped: "Nothing can be saved: of these waits none saves more than \(best) of the submits.")
        } else if answers.first?.suggestion.map({ $0.reason == .nearest }) ?? true {
            // A wait that saves nothing is no suggestion, even if its delay meets the target.
            let isMissedByAll = answers.count == tables.count { !$0.range.isEmpty }
            let saves = isMissedByAll ? "" : " and saves 1 % or more"
            text.append(wrapped: "The target is missed: no wait of the table meets it\(saves).")
        }
        for (number, table) in answers.enumerated() {
            guard let suggestion = table.suggestion else { continue }
            let result = results[suggestion.index]
            let saved = "saves \(Percent.shown(result.saved)), \(result.shareInTime) within \(rounded(result.delay))"
            if number > 0 {
                let missed = suggestion.reason == .nearest && answers[0].suggestion?.reason != .nearest
                text.append(
                    wrapped: "Or \(option(table, result)): \(saved)\(missed ? ", which misses the target" : "").")
                continue
            }
            let longest = result.starvation.map { ", at worst \(DurationText.rounded($0))" } ?? ""
            let answer = "\(option(table, result)): \(saved)\(longest)."
            for line in Terminal.wrap(answer, to: Terminal.width) { text.append(string: style.bold(line) + "\n") }
            text.append(wrapped: "Why: \(reason(suggestion, table)).")
            if let limit = result.missingMaxWait, let starvation = result.starvation {
                let longest = DurationText.rounded(starvation)
                let option = "--max-wait \(DurationText.exact(limit))"
                let trial = "\(option); lull tune \(option) says what that saves"
                text.append(wrapped: "But submits went on for \(longest) without an execution: try \(trial).")
            }
        }
        text.append("\n")
    }

    private func rounded(_ delay: CoreDuration) -> String { DurationText.rounded(delay.nanoseconds) }

    /// The options that give the policy of a result.
    private func option(_ table: PolicyTable, _ result: TrialResult) -> String {
        let spacing = result.policy.spacing
        return "\(table.option) \(DurationText.exact(result.policy.wait))"
            + (spacing > .zero ? " --spacing \(DurationText.exact(spacing))" : "")
    }

    /// Why a wait is suggested, in one line.
    private func reason(_ suggestion: Suggestion, _ table: PolicyTable) -> String {
        switch suggestion.reason {
        case .target: "it meets the target"
        case .nearest: "it comes nearest to the target"
        case _ where table.range.count == 1: "it is the only wait of the table"
        case _ where results.isFlat(table.range): "the other waits of the table save the same"
        case .knee: "up to here, more waiting saves much; beyond, little (the knee)"
        case .most: "saving grows with the delay all along, and it saves most"
        }
    }

    // MARK: - The table

    /// How much of the table is shown: a narrow terminal gets fewer percentiles, then fewer columns.
    private struct Detail {
        let percentages: [Int]
        var hasDelayFromFirst = true
        var hasAll = true

        var meaning: String {
            percentages == [90]
                ? "Nine of ten delays are at most as long as shown (p90)."
                : "Delays are the percentiles \(percentages.map { "p\($0)" }.joined(separator: "/"))."
        }

        static let levels = [
            Detail(percentages: [50, 90, 99]), Detail(percentages: [50, 90]), Detail(percentages: [90]),
            Detail(percentages: [90], hasDelayFromFirst: false),
            Detail(percentages: [90], hasDelayFromFirst: false, hasAll: false),
        ]
    }

    /// Returns the results of a table that are shown: all of them, or as many as leave the answer in sight on a
    /// terminal.
    private func thinned(_ table: PolicyTable) -> [Int] {
        let kinds = tables.count { !$0.range.isEmpty }
        // The answer, the names of the columns, the legend and the prompt take the other lines.
        let others = answers.first?.suggestion.flatMap { results[$0.index].missingMaxWait } == nil ? 13 : 15
        let most = Terminal.lines.map { max(4, ($0 - others) / max(1, kinds)) } ?? .max
        guard table.range.count > most else { return Array(table.range) }
        let step = (table.range.count + most - 1) / most
        let chosen = table.suggestion?.index ?? table.range.lowerBound
        // The suggestion is among them.
        return table.range.filter { ($0 - chosen) % step == 0 }
    }

    /// Returns the names of the columns, and the cells of some results of each kind, the second kind below its name.
    private func cells(_ detail: Detail, _ shown: [[Int]]) -> [[String]] {
        let kinds = zip(tables, shown).filter { !$1.isEmpty }
        let columns = [
            "", "executions", "saved", "after last", detail.hasDelayFromFirst ? "after first" : nil,
            detail.hasAll ? "premature" : nil, detail.hasAll ? "longest" : nil,
        ].compactMap { $0 }
        return kinds.enumerated().flatMap { number, kind in
            [[kind.0.name] + (number == 0 ? columns : [])] + kind.1.map { cells(detail, $0, of: kind.0) }
        }
    }

    private func cells(_ detail: Detail, _ index: Int, of table: PolicyTable) -> [String] {
        let result = results[index]
        let isChosen = table.suggestion?.index == index
        func text(_ delays: [Int64]?) -> String {
            guard let delays else { return "-" }
            let texts = zip(TrialResult.percentages, delays).filter { detail.percentages.contains($0.0) }
                .map { DurationText.rounded($0.1) }
            // One number where all are the same.
            return Set(texts).count == 1 ? texts[0] : texts.joined(separator: "/")
        }
        return [
            DurationText.exact(result.policy.wait), "\(result.isEfficient ? "*" : " ")\(isChosen ? "<" : " ")",
            "\(result.executions)", Percent.shown(result.saved), text(result.delayFromLast),
            detail.hasDelayFromFirst ? text(result.delayFromFirst) : nil,
            detail.hasAll ? "\(result.premature)" : nil,
            detail.hasAll ? result.starvation.map { DurationText.rounded($0) } ?? "-" : nil,
        ].compactMap { $0 }
    }

    /// - Parameter isWhole: False if waits are left out to keep the answer in sight.
    private func appendLegend(_ detail: Detail, isWhole: Bool, to text: inout [UInt8]) {
        let chosen = answers.isEmpty ? "" : "; < suggested"
        text.append(wrapped: "* efficient: none of its kind saves as much with less delay\(chosen)")
        let (others, first) = detail.hasDelayFromFirst ? (", after first", " (first)") : ("", "")
        text.append(wrapped: "after last\(others): from the last\(first) submit behind an execution to it")
        guard isWhole else {
            return text.append(wrapped: "Only some of the waits, as the terminal is short; all: lull tune … | cat")
        }
        guard detail.hasAll else { return }
        let spacing = hasSpacing ? " or the spacing" : ""
        text.append(wrapped: "premature: the burst went on within the same wait\(spacing), so the value did not last")
        text.append(wrapped: "longest: the longest time that submits went on without an execution")
    }

    private func append(_ outliers: [OutlierKey], to text: inout [UInt8]) {
        text.append("\n")
        guard !outliers.isEmpty else { return text.append(wrapped: "No key needs a wait of its own.") }
        text.append(wrapped: "Keys that would need a wait of their own, the busiest first:")
        for key in outliers {
            let rest =
                ": --wait \(DurationText.exact(key.wait)) saves \(Percent.shown(key.saved)) of \(key.submits) submits, "
                + "the common one \(Percent.shown(key.savedWithCommon))"
            let line = "  \(Terminal.shown(key.name, upTo: max(12, Terminal.width - rest.count - 2)))\(rest)"
            text.append(wrapped: line)
        }
    }
}
