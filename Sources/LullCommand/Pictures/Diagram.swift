internal import LullCore

/// A marble diagram in text: the submits above, the executions of policies below.
enum Diagram {
    private static let columns: Int64 = 72

    /// Appends a diagram of a stretch.
    static func append(
        _ stretch: Stretch, of key: [UInt8], _ policies: [(name: String, policy: Policy)], to text: inout [UInt8]
    ) {
        let width = stretch.from.duration(to: stretch.to).nanoseconds
        let step = max(1, width / columns)
        func column(_ instant: CoreInstant) -> Int {
            Int(min(columns - 1, max(0, stretch.from.duration(to: instant).nanoseconds / step)))
        }
        var submits = [Int](repeating: 0, count: Int(columns))
        for instant in stretch.submits { submits[column(instant)] += 1 }
        let labels = max("submits".count, policies.map(\.name.count).max() ?? 0)
        func appendRow(_ name: String, _ marks: String) {
            text.append(string: name + String(repeating: " ", count: labels - name.count + 2))
            text.append(string: marks + "\n")
        }

        var head: [UInt8] = []
        head.append(contentsOf: Array("key ".utf8) + key)
        head.append(string: " from ")
        DecimalSeconds.append(stretch.from.nanoseconds / 1_000_000 * 1_000_000, to: &head)
        head.append(string: "s on; a column is \(DurationText.rounded(step))\n")
        text.append(contentsOf: head)
        appendRow("submits", submits.map { $0 == 0 ? "." : $0 == 1 ? "o" : $0 < 10 ? "\($0)" : "+" }.joined())
        for (name, policy) in policies {
            var marks = [Character](repeating: ".", count: Int(columns))
            let executions = stretch.executions(by: policy)
            for execution in executions where execution.first < execution.at {
                for place in column(execution.first)...column(execution.at) { marks[place] = "-" }
            }
            for execution in executions where execution.at < stretch.to { marks[column(execution.at)] = "x" }
            appendRow(name, String(marks))
        }
        text.append("(o a submit, 2 two in one column; - a value waits, x it is executed)\n")
    }
}
