internal import LullCore

/// A marble diagram in text: the submits above, the executions under each policy below; and when handlers ran, if that
/// takes time.
enum MarbleDiagram {
    private static let mostColumns = 72
    private static let fewestColumns = 8

    static func append(
        _ excerpt: TraceExcerpt, of key: [UInt8], _ policies: [(name: String, policy: Policy)],
        width screen: Int = Terminal.width, to text: inout [UInt8]
    ) {
        let labels = max("handler".count, policies.map(\.name.count).max() ?? 0)
        let columns = Int64(max(fewestColumns, min(mostColumns, screen - labels - 2)))
        let width = excerpt.from.duration(to: excerpt.to).nanoseconds
        let step = max(1, width / columns)
        func column(_ instant: CoreInstant) -> Int {
            Int(min(columns - 1, max(0, excerpt.from.duration(to: instant).nanoseconds / step)))
        }
        var submits = [Int](repeating: 0, count: Int(columns))
        for instant in excerpt.submits { submits[column(instant)] += 1 }
        var seen: Set<Character> = []
        func appendRow(_ name: String, _ marks: String) {
            seen.formUnion(marks)
            text.append(string: name.padded(to: labels + 2) + marks + "\n")
        }

        let rest = " from \(excerpt.startText)s on; a column is \(DurationText.rounded(step))"
        let head = "key \(Terminal.shown(key, upTo: max(12, screen - rest.count - 4)))\(rest)"
        text.append(wrapped: head, to: screen)
        appendRow("submits", submits.map { $0 == 0 ? "." : $0 == 1 ? "o" : $0 < 10 ? "\($0)" : "+" }.joined())
        for (name, policy) in policies {
            var marks = [Character](repeating: ".", count: Int(columns))
            let executions = excerpt.executions(by: policy)
            for execution in executions where execution.first < execution.at {
                for index in column(execution.first)...column(execution.at) { marks[index] = "-" }
            }
            for execution in executions where execution.at < excerpt.to { marks[column(execution.at)] = "x" }
            appendRow(name, String(marks))
        }
        for (number, runs) in excerpt.rowsOfRuns.enumerated() {
            var marks = [Character](repeating: ".", count: Int(columns))
            for run in runs {
                let start = column(run.from)
                let end = max(start, column(run.to) - 1)
                for index in start...end { marks[index] = "=" }
                marks[start] = "["
                if run.isCut { marks[end] = "/" } else if end > start { marks[end] = "]" }
            }
            appendRow(number == 0 ? "handler" : "", String(marks))
        }
        text.append(wrapped: legend(of: seen), to: screen)
    }

    private static func legend(of marks: Set<Character>) -> String {
        var counts = marks.filter(\.isNumber).sorted().map { "\($0): \($0) submits" }
        if marks.contains("o") { counts.insert("o: 1 submit", at: 0) }
        var meanings = counts.isEmpty ? [] : [counts.joined(separator: ", ")]
        for (mark, meaning) in [
            ("+", "ten submits or more"), ("-", "a value waits"),
            ("x", marks.contains("[") ? "a value is due" : "an execution"),
            ("[", "it runs"), ("/", "it is interrupted or cancelled"), (".", "nothing"),
        ] where marks.contains(Character(mark)) {
            meanings.append("\(mark == "[" ? "[=]" : mark): \(meaning)")
        }
        return "(\(meanings.joined(separator: "; ")))"
    }
}
