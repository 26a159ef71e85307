internal import LullDurable
internal import LullInspection

/// What commands list: a row of a table, or with `--json` an object on a line.
protocol ListItem {
    static var columns: [String] { get }
    /// The columns of text, beside the first one.
    static var texts: Set<String> { get }
    var cells: [String] { get }
    var json: JSONValue { get }
    /// Makes a cell stand out.
    static func paint(_ cell: String, _ column: String, _ style: Terminal.Style) -> String
}

extension ListItem {
    static func paint(_ cell: String, _ column: String, _ style: Terminal.Style) -> String { cell }

    /// Appends items, with the layout of those before them.
    ///
    /// - Parameter least: The least widths of the columns.
    static func append(
        _ items: [Self], _ layout: inout Table.Layout?, least: [Int] = [], _ options: CommandOptions,
        to text: inout [UInt8]
    ) {
        if options.printsObjects { return items.forEach { $0.json.appendLine(to: &text) } }
        let rows = items.map(\.cells)
        var table =
            layout
            ?? Table.Layout(
                [columns] + rows, left: texts, ends: ["error"], least: least, width: Terminal.tableWidth,
                style: options.style, paint: { paint($0, $1, options.style) })
        table.append(rows, to: &text)
        layout = table
    }

    static func print(_ items: [Self], _ options: CommandOptions) throws(Failure) {
        var layout: Table.Layout?
        try OutputBuffer.print { append(items, &layout, options, to: &$0) }
    }
}

extension DurableWorker: ListItem {
    static var columns: [String] { ["host", "process", "running", "seen"] }
    static var texts: Set<String> { [] }

    var cells: [String] {
        [Table.cell(ofName: identity.host), "\(identity.process)", "\(running)", DurationText.rounded(seen)]
    }

    var json: JSONValue {
        [
            "worker": .number(identity.id), "host": .text(identity.host), "process": .number(identity.process),
            "running": .number(running), "seen": .seconds(seen),
        ]
    }
}

extension DurableDeadRun<[UInt8]>: ListItem {
    static var columns: [String] { ["run", "key", "submits", "attempts", "age", "error"] }
    static var texts: Set<String> { ["key", "error"] }

    var cells: [String] {
        [
            "\(id)", Table.cell(ofKey: key), "\(count)", "\(attempts)", DurationText.rounded(age),
            error.map { Table.cell(ofError: $0) } ?? "-",
        ]
    }

    /// Includes the values.
    var json: JSONValue { json(withValues: true) }

    func json(withValues: Bool) -> JSONValue {
        let values: [(String, JSONValue)] = withValues ? [("values", .array(values.map { .bytes($0) }))] : []
        return .object(
            [("run", .number(number)), ("key", .bytes(key))] + values + [
                ("submits", .number(count)), ("attempts", .number(attempts)), ("age", .seconds(age)),
                ("error", .text(error)),
            ])
    }
}
