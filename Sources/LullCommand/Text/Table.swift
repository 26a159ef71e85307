/// Columns of text: the first to the left, the others to the right.
enum Table {
    /// Appends rows.
    ///
    /// - Parameter marks: A column that stands closer than others to the one before it.
    static func append(_ rows: [[String]], marks: Int? = nil, to text: inout [UInt8]) {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            rows.map { $0.indices.contains(column) ? $0[column].count : 0 }.max() ?? 0
        }
        for row in rows {
            var line = ""
            for (column, cell) in row.enumerated() {
                let blanks = String(repeating: " ", count: widths[column] - cell.count)
                line += column == 0 ? cell + blanks : (column == marks ? " " : "  ") + blanks + cell
            }
            text.append(string: line + "\n")
        }
    }
}
