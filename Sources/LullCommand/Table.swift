/// A table: the first column and columns of text are aligned left, numbers and durations right.
enum Table {
    /// The least width of a column that is cut to make room.
    private static let leastWidth = 8

    /// Appends rows, the first of which has the names of the columns.
    ///
    /// If they do not fit, the widest cells are cut; if that is not enough, each row becomes a list.
    ///
    /// - Parameters:
    ///   - left: The names of text columns; the first column is always one.
    ///   - marks: The index of a column that is set closer to the one before it.
    ///   - chosen: The indices of rows that stand out.
    ///   - paint: Makes cells stand out, by the names of their columns.
    static func append(
        _ rows: [[String]], left: Set<String> = [], marks: Int? = nil, width: Int = Terminal.width,
        style: Terminal.Style = .plain, chosen: Set<Int> = [],
        paint: @escaping (_ cell: String, _ column: String) -> String = { cell, _ in cell }, to text: inout [UInt8]
    ) {
        var layout = Layout(rows, left: left, marks: marks, width: width, style: style, paint: paint)
        layout.append(Array(rows.dropFirst()), chosen: chosen, to: &text)
    }

    /// The layout of a table, which later rows can share.
    struct Layout {
        private let names: [String]
        private let left: Set<String>
        private let ends: Set<String>
        private let marks: Int?
        private let width: Int
        private let style: Terminal.Style
        private let paint: (String, String) -> String
        /// Nil if each row is a list.
        private let widths: [Int]?
        private var isBegun = false

        /// - Parameters:
        ///   - rows: The names of the columns, and the rows that determine their widths.
        ///   - left: The names of text columns; the first column is always one.
        ///   - ends: The names of columns whose cells lose their start where they are cut, not their end.
        ///   - least: The least widths, to allow for cells that come later.
        init(
            _ rows: [[String]], left: Set<String> = [], ends: Set<String> = [], least: [Int] = [], marks: Int? = nil,
            width: Int = Terminal.width, style: Terminal.Style,
            paint: @escaping (_ cell: String, _ column: String) -> String = { cell, _ in cell }
        ) {
            let rows = rows.map { $0.map { Terminal.plain($0) } }
            names = rows.first ?? []
            self.left = left
            self.ends = ends
            self.marks = marks
            self.width = width
            self.style = style
            self.paint = paint
            var widths = Table.widths(of: rows)
            for (column, least) in zip(widths.indices, least) { widths[column] = max(widths[column], least) }
            self.widths = Self.cut(widths, marks, width)
        }

        private func cut(_ cell: String, _ name: String, to width: Int) -> String {
            ends.contains(name) ? Terminal.end(of: cell, upTo: width) : Terminal.cut(cell, to: width)
        }

        private static func cut(_ natural: [Int], _ marks: Int?, _ width: Int) -> [Int]? {
            var widths = natural
            var excess = total(widths, marks) - width
            while excess > 0 {
                guard let widest = widths.max(), widest > leastWidth, let column = widths.lastIndex(of: widest) else {
                    return nil
                }
                // Cut it to the width of the next narrower column, or as far as needed.
                let next = widths.filter { $0 < widest }.max() ?? 0
                let step = min(excess, widest - max(next, leastWidth), excess)
                widths[column] -= max(step, 1)
                excess = total(widths, marks) - width
            }
            return widths
        }

        /// Appends rows, and the names before the first of them.
        ///
        /// - Parameter chosen: The indices of rows that stand out, counted from the names of the columns.
        mutating func append(_ rows: [[String]], chosen: Set<Int> = [], to text: inout [UInt8]) {
            let rows = rows.map { $0.map { Terminal.plain($0) } }
            guard let widths else {
                if isBegun, !rows.isEmpty { text.append("\n") }
                appendLists([names] + rows, width, paint, to: &text)
                isBegun = isBegun || !rows.isEmpty
                return
            }
            for (number, row) in (isBegun ? rows : [names] + rows).enumerated() {
                var line = ""
                for (column, whole) in row.enumerated() {
                    let cell = width == .max ? whole : cut(whole, names[column], to: widths[column])
                    let isText = column == 0 || left.contains(names[column])
                    if column > 0 { line += column == marks ? " " : "  " }
                    // Text in the last column needs no padding.
                    let isLast = column > 0 && column == row.count - 1
                    let padded = isText && isLast ? cell : cell.padded(to: widths[column], isRight: !isText)
                    line += number == 0 && !isBegun ? padded : padded.replacing(cell, with: paint(cell, names[column]))
                }
                if number == 0, !isBegun { line = style.bold(line) }
                text.append(string: (chosen.contains(number) ? style.chosen(line) : line) + "\n")
            }
            isBegun = true
        }
    }

    /// How much of a name a cell shows where a person reads it. Other programs get all of it.
    private static var nameLimit: Int { Terminal.tableWidth == .max ? 1 << 16 : 40 }

    /// Returns a name from elsewhere as a cell.
    static func cell(ofName name: String) -> String { Terminal.shown(name, upTo: nameLimit) }

    /// Returns a key as a cell; an empty key is `""`, to be visible.
    static func cell(ofKey key: [UInt8]) -> String { key.isEmpty ? "\"\"" : Terminal.shown(key, upTo: nameLimit) }

    /// Returns an error as a cell. A person gets the end of its last line, which in a command's output usually says
    /// most.
    ///
    /// - Parameter isCut: Whether a person reads it.
    static func cell(ofError error: String, isCut: Bool = Terminal.tableWidth < .max) -> String {
        let lines = error.split(whereSeparator: \.isNewline).map { Terminal.plain($0) }
        return isCut ? Terminal.end(of: lines.last ?? "", upTo: 60) : lines.joined(separator: " / ")
    }

    /// Returns whether rows fit without cuts.
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

    /// Appends each row as lines of a name and a cell.
    private static func appendLists(
        _ rows: [[String]], _ width: Int, _ paint: (String, String) -> String, to text: inout [UInt8]
    ) {
        guard var names = rows.first else { return }
        let label = names.map { Terminal.columns(of: $0) }.max() ?? 0
        var isFirst = true
        for row in rows.dropFirst() {
            // A row of one cell in a table of several columns is a new name of the first column.
            if row.count == 1, names.count > 1 {
                names[0] = row[0]
                continue
            }
            if !isFirst { text.append("\n") }
            isFirst = false
            for (column, name) in names.enumerated() where !name.isEmpty && row.indices.contains(column) {
                // A column without a name is shown with the one before it.
                let hasMark = names.indices.contains(column + 1) && names[column + 1].isEmpty
                let cell = row[column] + (hasMark && row.indices.contains(column + 1) ? " \(row[column + 1])" : "")
                let line = "\(name.padded(to: label))  \(cell)"
                let lines = Terminal.columns(of: line) <= width ? [line] : [name, "  \(cell)"]
                for line in lines {
                    let line = Terminal.cut(line, to: width)
                    let value = line.suffix(cell.count)
                    text.append(string: line.dropLast(value.count) + paint(String(value), name) + "\n")
                }
            }
        }
    }
}
