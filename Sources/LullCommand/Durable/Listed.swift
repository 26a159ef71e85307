internal import CLullCommand

/// What commands list: a row of a table, or with `--json` an object on a line.
protocol Listed {
    static var columns: [String] { get }
    /// The columns of text, beside the first one.
    static var texts: Set<String> { get }
    var cells: [String] { get }
    var json: JSONValue { get }
}

extension Listed {
    /// Prints items.
    static func print(_ items: [Self], _ options: CommandOptions) throws(Failure) {
        var output = OutputBuffer(STDOUT_FILENO)
        var layout: Table.Layout?
        append(items, &layout, options, to: &output.bytes)
        _ = try output.drain()
    }

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
                [columns] + rows, left: texts, least: least, width: Terminal.tableWidth, style: options.style)
        table.append(rows, to: &text)
        layout = table
    }
}
