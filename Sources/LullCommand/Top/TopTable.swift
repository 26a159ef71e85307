internal import LullCore

/// The table of `lull top`, with rates since the snapshot that it showed before.
struct TopTable {
    private static let columns = ["where", "keys", "pend", "due", "run", "in/s", "out/s", "save", "fail", "policy"]
    /// The columns that a place leaves to the others on a narrow terminal, which cuts its beginning: the line number
    /// says most.
    private static let widthOfOthers = 65

    /// What has changed since the snapshot before: nil for a debouncer that is new.
    private struct Rates {
        let submits: Double
        let runs: Double
    }

    private var previous: (time: Int64, rows: [Int64: ProgramSnapshot.Row])?

    /// Appends what a snapshot says, the busiest debouncers first.
    ///
    /// - Parameter lines: The most lines; nil for all.
    mutating func append(
        _ snapshot: ProgramSnapshot, width: Int, lines: Int?, style: Terminal.Style, to text: inout [UInt8]
    ) {
        let seconds = previous.map { (Double(snapshot.time) - Double($0.time)) / 1e9 } ?? 0
        func rates(_ row: ProgramSnapshot.Row) -> Rates? {
            guard seconds > 0, let before = previous?.rows[row.id] else { return nil }
            return Rates(
                submits: (Double(row.submitted) - Double(before.submitted)) / seconds,
                runs: (Double(row.started) - Double(before.started)) / seconds)
        }
        let busiest = snapshot.rows.map { ($0, rates($0)) }.sorted { left, right in
            let (one, other) = (left.1?.submits ?? 0, right.1?.submits ?? 0)
            if one != other { return one > other }
            return left.0.submitted != right.0.submitted
                ? left.0.submitted > right.0.submitted : left.0.place < right.0.place
        }
        let total = snapshot.rows.count + Int(snapshot.left)
        text.append(
            wrapped: "\(Terminal.shown(snapshot.name)), process \(snapshot.process): \(counted(total, "debouncer"))",
            to: width)
        // The lines above and below the rows, and the one where the cursor is.
        let most = lines.map { max(1, $0 - 4) } ?? .max
        let rows = busiest.prefix(most).map { Self.cells($0, $1, width) }
        if !rows.isEmpty {
            Table.append([Self.columns] + rows, left: ["policy"], width: width, style: style, to: &text)
        }
        if total > rows.count { text.append(string: "and \(total - rows.count) more\n") }
        if let lines { Self.cut(&text, to: max(1, lines - 1)) }
        previous = (
            snapshot.time, Dictionary(snapshot.rows.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        )
    }

    /// Leaves out the last lines: on a narrow terminal, where a row is a list, they would move the first ones out of
    /// sight.
    private static func cut(_ text: inout [UInt8], to lines: Int) {
        let ends = text.indices.filter { text[$0] == UInt8(ascii: "\n") }
        if ends.count > lines { text.removeSubrange((ends[lines - 1] + 1)...) }
    }

    private static func cells(_ row: ProgramSnapshot.Row, _ rates: Rates?, _ width: Int) -> [String] {
        // The module is in the objects: two files of one name are rare, and a terminal is narrow.
        let place = row.place.split(separator: "/").last.map(String.init) ?? row.place
        let saved = row.started > 0 ? 1 - Double(row.started) / Double(row.submitted) : nil
        return [
            Terminal.end(of: Terminal.plain(place), upTo: max(14, width - widthOfOthers)), "\(row.keys)",
            "\(row.pending)", row.dueIn.map(Self.time) ?? "-", "\(row.running)",
            rates.map { rate($0.submits) } ?? "-", rates.map { rate($0.runs) } ?? "-",
            saved.map { "\(Int(max(0, $0) * 100))%" } ?? "-", "\(row.outcomes.failed)", row.policy,
        ]
    }

    /// Returns a time without fractions of a millisecond, which nobody can read while it changes.
    private static func time(_ nanoseconds: Int64) -> String {
        let milliseconds = nanoseconds / 1_000_000
        return milliseconds == 0 ? "0ms" : DurationText.rounded(milliseconds * 1_000_000)
    }

    /// Returns a rate with a digit after the point where that says something.
    private static func rate(_ rate: Double) -> String {
        let tenths = Int((min(max(rate, 0), 1e15) * 10).rounded())
        return tenths >= 100 || tenths == 0 ? "\((tenths + 5) / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}
