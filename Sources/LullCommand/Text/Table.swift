/// Columns of text: the first to the left, the others to the right.
enum Table {
    /// What a column keeps when others need room.
    private static let leastWidth = 8

    /// Appends rows, the first of which has the names of the columns.
    ///
    /// Where they do not fit, the widest cells are cut; where that does not help either, each row becomes a list of its own.
    ///
    /// - Parameter marks: A column that stands closer than others to the one before it.
    static func append(
        _ rows: [[String]], marks: Int? = nil, width: Int = Terminal.width, to text: inout [UInt8]
    ) {
        let rows = rows.map { $0.map { Terminal.plain($0) } }
        var widths = widths(of: rows)
        var excess = total(widths, marks) - width
        while excess > 0 {
            guard let widest = widths.max(), widest > leastWidth, let column = widths.lastIndex(of: widest) else {
                return appendLists(rows, width, to: &text)
            }
            // Down to the next narrower one, or as far as is needed.
            let next = widths.filter { $0 < widest }.max() ?? 0
            let step = min(excess, widest - max(next, leastWidth), excess)
            widths[column] -= max(step, 1)
            excess = total(widths, marks) - width
        }
        for row in rows {
            var line = ""
            for (column, cell) in row.enumerated() {
                let cell = Terminal.cut(cell, to: widths[column])
                let blanks = String(repeating: " ", count: widths[column] - Terminal.columns(of: cell))
                line += column == 0 ? cell + blanks : (column == marks ? " " : "  ") + blanks + cell
            }
            text.append(string: line + "\n")
        }
    }

    /// A key as a cell: one without a character would look like none.
    static func cell(ofKey key: [UInt8]) -> String { key.isEmpty ? "\"\"" : Terminal.shown(key) }

    /// Whether rows fit as they are.
    static func fits(_ rows: [[String]], marks: Int? = nil, width: Int = Terminal.width) -> Bool {
        total(widths(of: rows), marks) <= width
    }

    private static func widths(of rows: [[String]]) -> [Int] {
        (0..<(rows.map(\.count).max() ?? 0)).map { column in
            rows.map { $0.indices.contains(column) ? Terminal.columns(of: $0[column]) : 0 }.max() ?? 0
        }
    }

    private static func total(_ widths: [Int], _ marks: Int?) -> Int {
        widths.reduce(0, +) + 2 * max(0, widths.count - 1) - (marks == nil ? 0 : 1)
    }

    /// Each row as lines of a name and a cell.
    private static func appendLists(_ rows: [[String]], _ width: Int, to text: inout [UInt8]) {
        guard let names = rows.first else { return }
        let label = names.map { Terminal.columns(of: $0) }.max() ?? 0
        for (number, row) in rows.dropFirst().enumerated() {
            if number > 0 { text.append("\n") }
            for (column, name) in names.enumerated() where !name.isEmpty && row.indices.contains(column) {
                // What has no name belongs to the one before it.
                let hasMark = names.indices.contains(column + 1) && names[column + 1].isEmpty
                let cell = row[column] + (hasMark && row.indices.contains(column + 1) ? " \(row[column + 1])" : "")
                let blanks = String(repeating: " ", count: label - Terminal.columns(of: name))
                let line = "\(name)\(blanks)  \(cell)"
                let lines = Terminal.columns(of: line) <= width ? [line] : [name, "  \(cell)"]
                for line in lines { text.append(string: Terminal.cut(line, to: width) + "\n") }
            }
        }
    }
}
